package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hindsight/store"
)

// tenantsCmd is `hindsight tenants`.
type tenantsCmd struct {
	List tenantsList `cmd:"" help:"List tenants and their scopes."`
	Link tenantsLink `cmd:"" help:"Let a tenant go on in another, after its credential was rotated."`
}

const tenantsPath = "/api/v1/tenants"

type tenantsList struct{ reach }

// Run lists them.
func (c *tenantsList) Run(ctx context.Context, a *app) error {
	var all struct {
		Tenants []store.Tenant `json:"tenants"`
	}
	return a.call(ctx, c.reach, http.MethodGet, tenantsPath, nil, nil, &all, func() error {
		var rows [][]string
		for _, t := range all.Tenants {
			if len(t.Scopes) == 0 {
				rows = append(rows, []string{t.ID, "", "", ""})
			}
			for _, s := range t.Scopes {
				rows = append(rows, []string{t.ID, string(s.Scope), counts(s.Memories), strconv.Itoa(s.Sessions)})
			}
		}
		if len(rows) == 0 {
			return a.say("No tenants. The first request with memory through the proxy makes one.")
		}
		return a.printTable([]string{"tenant", "scope", "memories", "sessions"}, -1, rows)
	})
}

// counts is how many memories are in which state: 3 active, 1 archived.
func counts(by map[store.State]int) string {
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(by)) {
		if by[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

type tenantsLink struct {
	reach
	From string `arg:"" help:"The tenant that ends."`
	To   string `arg:"" help:"The tenant that it goes on in."`
}

// Run joins them.
func (c *tenantsLink) Run(ctx context.Context, a *app) error {
	body := map[string]string{"from": c.From, "to": c.To}
	return a.call(ctx, c.reach, http.MethodPost, tenantsPath+"/link", nil, body, nil, func() error {
		return a.say("%s now goes on in %s.", c.From, c.To)
	})
}
