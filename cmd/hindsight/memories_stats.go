package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hindsight/proxy/admin"
)

type memoriesStats struct{ reach }

// Run shows the figures of a tenant.
func (c *memoriesStats) Run(ctx context.Context, a *app) error {
	var s admin.Stats
	return a.call(ctx, c.reach, http.MethodGet, "/api/v1/stats", c.query(), nil, &s, func() error { return a.printStats(s) })
}

func (a *app) printStats(s admin.Stats) error {
	k := s.Kept
	var ages []string
	last := 0
	for _, g := range k.Ages {
		name := fmt.Sprintf("up to %d d", g.Days)
		if g.Days == 0 {
			name = fmt.Sprintf("over %d d", last)
		}
		last = g.Days
		if g.Memories > 0 {
			ages = append(ages, fmt.Sprintf("%d %s", g.Memories, name))
		}
	}
	pairs := [][2]string{
		{"tenant", s.Tenant}, {"memories", counts(k.States)}, {"types", tally(k.Types)}, {"layers", tally(k.Layers)}, {"ages", strings.Join(ages, ", ")},
		{"promoted", strconv.Itoa(k.Promoted)}, {"statements merged", strconv.Itoa(k.Merged)},
		{"judged", fmt.Sprintf("%d used, %d ignored, %d contradicted", k.Judged.Used, k.Judged.Ignored, k.Judged.Contradicted)},
		{"conflict rate", percent(s.Conflict)}, {"utilisation", percent(s.Utilisation)},
	}
	if r := s.Run; r != nil {
		pairs = append(pairs, [][2]string{
			{"since the start", when(s.Since) + ", all tenants"},
			{"recalls", fmt.Sprintf("%d, %d of them injected", r.Recalls, r.Injections)}, {"hit rate", percent(r.Hit)},
			{"tokens injected", fmt.Sprintf("%d, carried %d", r.InjectedTokens, r.CarriedTokens)},
			{"tokens saved", fmt.Sprintf("%d, by %d memories that were said already", r.TokensSaved, r.Spared)},
			{"prompt tokens", fmt.Sprintf("%d, %d of them cached by the upstream", r.Prompt, r.Cached)}, {"prefix kept", percent(r.PrefixKept)},
		}...)
	}
	return a.printFields(pairs...)
}

// tally is how many there are of each: 3 preference, 1 solution.
func tally[T ~string](by map[T]int) string {
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%d %s", by[s], s))
	}
	return strings.Join(parts, ", ")
}

// percent is a share for people; nothing to divide by is "-".
func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(*share*100, 'f', 1, 64) + " %"
}
