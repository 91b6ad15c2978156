package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// overviewPage is what the first page shows.
type overviewPage struct {
	Ready  bool
	Memory string // on, degraded or off
	Reason string
	counted
	Newest []store.Memory
	Wide   bool
	Charts []*chart
}

// Active counts the live memories.
func (o *overviewPage) Active() int { return o.Stats.Kept.States[store.Active] }

// Held counts the memories that wait for a person's word.
func (o *overviewPage) Held() int { return o.Stats.Kept.States[store.Quarantined] }

// Run is what the process has done, nil where it doesn't count.
func (o *overviewPage) Run() *admin.Run { return o.Stats.Run }

// Cached is the share of the prompt tokens that the upstream had in its cache.
func (o *overviewPage) Cached() *float64 {
	if o.Stats.Run == nil || o.Stats.Run.Prompt == 0 {
		return nil
	}
	share := float64(o.Stats.Run.Cached) / float64(o.Stats.Run.Prompt)
	return &share
}

// Points is the chart's data for the script.
func (w *view) Points(ch *chart) string { return ch.Points(w.v.c.cfg.Zone) }

func (c *Console) overview(v *visit) error {
	o := &overviewPage{Wide: v.r.URL.Query().Get("span") == "day"}
	o.Charts = v.charts(o.Wide)
	var ready struct {
		Ready          bool
		Memory, Reason string
	}
	var draining *refusal
	if err := c.call(v.r.Context(), http.MethodGet, "/readyz", nil, nil, &ready); err != nil && !errors.As(err, &draining) {
		return err
	}
	o.Ready, o.Memory, o.Reason = ready.Ready, ready.Memory, ready.Reason
	if o.Memory != "off" {
		var err error
		if o.counted, err = c.counts.of(v.r.Context(), v.who.tenant); err != nil {
			return err
		}
	}
	if o.Stats != nil {
		q := v.tenant()
		q.Set("limit", "5")
		var page memoryPage
		if err := v.get("/memories", q, &page); err != nil {
			return err
		}
		o.Newest = page.Memories
	}
	v.page("overview", "nav.overview", http.StatusOK, o)
	return nil
}

// countTenant asks for what takes a walk through everything: the tenants, the
// figures of one, how far the vectors are. Without figures, several tenants are
// there and one has to be chosen.
func (c *Console) countTenant(ctx context.Context, tenant string) (counted, error) {
	var made counted
	get := func(path string, q url.Values, into any) error {
		return c.call(ctx, http.MethodGet, api+path, q, nil, into)
	}
	var list struct{ Tenants []store.Tenant }
	if err := get("/tenants", nil, &list); err != nil {
		return made, err
	}
	made.Tenants = list.Tenants
	q := url.Values{}
	put(q, "tenant", tenant)
	var stats admin.Stats
	var no *refusal
	switch err := get("/stats", q, &stats); {
	case errors.As(err, &no) && no.status == http.StatusBadRequest:
	case err != nil:
		return made, err
	default:
		made.Stats = &stats
	}
	var progress store.EmbeddingProgress
	if get("/embedding", nil, &progress) == nil { // refused where no embedder is configured
		made.Embedded = &progress
	}
	return made, nil
}
