package fleet

import (
	"context"
	"encoding/json"
	"slices"

	"hindsight/store"
)

// leftID is the id of the record that a session was left to others.
func leftID(session string) string { return "left-" + session }

// handOver gives the leases back and says which sessions this sidecar leaves
// unreflected, so that another takes them over when they are idle. Their
// exchanges are in the outbox, which is delivered after.
func (f *Fleet) handOver(ctx context.Context) {
	f.leases.mu.Lock()
	back := map[string][]scopeKey{}
	for k := range f.leases.held {
		back[k.tenant] = append(back[k.tenant], k)
	}
	clear(f.leases.held)
	f.leases.mu.Unlock()
	if on, _ := f.remote.State(); !on {
		return // they run out, and this directory keeps its sessions
	}
	f.drain(ctx)
	if err := ctx.Err(); err != nil {
		return
	}
	f.signAll(ctx, back, f.cfg.Now())
	open, err := f.local.Unreflected(ctx)
	if err != nil {
		f.log.Debug("open sessions aren't handed over", "error", err)
		return
	}
	by := map[string][]store.SharedRecord{}
	for _, s := range open {
		data, err := json.Marshal(note{Left: true})
		if err != nil {
			continue
		}
		by[s.Owner.Tenant] = append(by[s.Owner.Tenant], store.SharedRecord{
			Kind: store.RecordSession, ID: leftID(s.ID), Tenant: s.Owner.Tenant, Scope: s.Owner.SkillScope(), Session: s.ID,
			Time: f.cfg.Now().UTC(), Data: data,
		})
	}
	n := 0
	for tenant, rs := range by {
		for some := range slices.Chunk(rs, batch) {
			if _, err := f.remote.PutRecords(ctx, tenant, some); err != nil {
				f.log.Warn("open sessions aren't handed over", "error", err)
				return
			}
			n += len(some)
		}
	}
	if n > 0 {
		f.log.Info("open sessions are left to other sidecars", "sessions", n)
	}
}

// adopt takes in a session that another sidecar has left.
func (f *Fleet) adopt(ctx context.Context, tenant string, r store.SharedRecord) {
	if !f.news(tenant, r.ID, r.Time.String()) {
		return
	}
	_, err := f.takeIn(ctx, tenant, store.RecordQuery{
		Scopes: []store.Scope{r.Scope}, Sessions: []string{r.Session},
		Kinds: []store.RecordKind{store.RecordExchange, store.RecordLedger},
	})
	if err != nil {
		f.forget(tenant, []string{r.ID})
		f.log.Debug("a session that another sidecar left can't be taken over", "error", err)
	}
}
