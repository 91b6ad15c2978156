package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hindsight/store"
)

// tenantsCmd is `hindsight tenants`.
type tenantsCmd struct {
	List    tenantsList    `cmd:"" help:"List tenants and their scopes."`
	Link    tenantsLink    `cmd:"" help:"Let a tenant go on in another, after its credential was rotated."`
	Erase   tenantsErase   `cmd:"" help:"Erase everything of a scope: memories, sessions and what was injected."`
	Erasure tenantsErasure `cmd:"" help:"The receipt of the last erasure of a scope, or of that of one memory, and whether its bytes have left the files."`
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

type tenantsErase struct {
	reach
	Scope string `required:"" placeholder:"SCOPE" help:"The scope, for example user:alice; its agents' parts go with it."`
	Yes   bool   `help:"Do it. Nothing brings it back."`
}

// Run erases it and prints the receipt.
func (c *tenantsErase) Run(ctx context.Context, a *app) error {
	if !c.Yes {
		return &failure{wrong: "nothing was erased", next: "Say --yes to erase everything of " + c.Scope + " for good.", code: exitUsage}
	}
	return receipt(ctx, a, c.reach, c.Scope, http.MethodDelete, "", nil)
}

type tenantsErasure struct {
	reach
	Scope  string `required:"" placeholder:"SCOPE" help:"The scope that was erased."`
	Memory string `placeholder:"ID" help:"A memory of the scope that was erased by itself."`
}

// Run prints the receipt.
func (c *tenantsErasure) Run(ctx context.Context, a *app) error {
	q := url.Values{}
	if c.Memory != "" {
		q.Set("memory", c.Memory)
	}
	return receipt(ctx, a, c.reach, c.Scope, http.MethodGet, "/erasure", q)
}

// receipt makes a call on a scope that answers with the receipt of its erasure.
func receipt(ctx context.Context, a *app, to reach, scope, method, path string, q url.Values) (err error) {
	cl, err := a.client(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.close()) }()
	tenant := to.Tenant
	if tenant == "" {
		if tenant, err = onlyTenant(ctx, cl); err != nil {
			return err
		}
	}
	var r store.Receipt
	if _, err := cl.do(ctx, method, erasedPath(tenant, scope)+path, q, nil, &r); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printReceipt(&r)
}

// printReceipt prints the receipt of an erasure, if there is one.
func (a *app) printReceipt(r *store.Receipt) error {
	if r == nil {
		return nil
	}
	n := strconv.Itoa
	some := func(i int) string { // left out where there is none
		if i == 0 {
			return ""
		}
		return n(i)
	}
	fields := [][2]string{
		{"tenant", r.Tenant}, {"scope", string(r.Scope)}, {"memory", r.Memory}, {"memories", n(r.Memories)}, {"revisions", n(r.Revisions)}, {"vectors", n(r.Vectors)},
		{"quotes", some(r.Evidence)},
		{"made of them", n(r.Promoted + r.Remade)}, {"sessions", n(r.Sessions)}, {"exchanges", n(r.Exchanges)}, {"injected blocks", n(r.Ledger)},
		{"recall records", n(r.Why)}, {"reflections", n(r.Jobs)}, {"anchors", n(r.Anchors)}, {"places", n(r.Places)}, {"tombstones", n(r.Tombstones)},
		{"erased at", r.ErasedAt.Format(time.RFC3339)}, {"state", string(r.State)}, {"shared store", string(r.Shared)}, {"to be told to it", some(r.Outbox)},
	}
	for _, o := range r.OutOfReach {
		fields = append(fields, [2]string{"out of reach", o.Note})
	}
	return a.printFields(fields...)
}

// erasedPath is where a scope is erased.
func erasedPath(tenant, scope string) string {
	return tenantsPath + "/" + url.PathEscape(tenant) + "/scopes/" + url.PathEscape(scope)
}

// onlyTenant is the tenant that needn't be named.
func onlyTenant(ctx context.Context, cl *client) (string, error) {
	var all struct {
		Tenants []store.Tenant `json:"tenants"`
	}
	if _, err := cl.do(ctx, http.MethodGet, tenantsPath, nil, nil, &all); err != nil {
		return "", err
	}
	if len(all.Tenants) != 1 {
		return "", &failure{wrong: fmt.Sprintf("--tenant is missing, and there are %d", len(all.Tenants)), next: "hindsight tenants list shows them.", code: exitUsage}
	}
	return all.Tenants[0].ID, nil
}
