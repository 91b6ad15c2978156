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
	"hindsight/proxy/admin/trial"
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
	for _, sc := range s.Paused {
		pairs = append(pairs, [2]string{"paused", string(sc) + ": it gains too many sessions; send Hindsight-Memory: off with load tests"})
	}
	if c := s.Comparison; c != nil {
		pairs = append(pairs, [2]string{"compared", fmt.Sprintf("%d sessions with memory, %d held out; a session's mean:", c.With, c.Without)})
		for _, f := range c.Figures {
			pairs = append(pairs, [2]string{strings.ReplaceAll(f.Name, "_", " "), compared(f)})
		}
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

// compared is a figure of both groups, with what can be said of the difference.
func compared(f trial.Figure) string {
	text := fmt.Sprintf("%.4g with, %.4g without, difference %+.3g", f.With, f.Without, f.Difference)
	switch {
	case f.Low == nil:
		return text + " (too few sessions to tell)"
	case f.Certain():
		return text + fmt.Sprintf(" (95 %%: %+.3g to %+.3g)", *f.Low, *f.High)
	}
	return text + fmt.Sprintf(" (95 %%: %+.3g to %+.3g, so it may be chance)", *f.Low, *f.High)
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
