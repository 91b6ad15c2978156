package badgerdb

import (
	"context"
	"time"

	"hindsight/store"
)

// Figures counts a tenant's memories. It reads all of them.
func (s *Store) Figures(ctx context.Context, tenant string) (store.Figures, error) {
	f := store.Figures{States: map[store.State]int{}, Types: map[store.Type]int{}, Layers: map[store.Layer]int{}}
	for _, days := range store.AgeGroups() {
		f.Ages = append(f.Ages, store.AgeCount{Days: days})
	}
	now := s.now()
	err := s.view(func(v view) error {
		at := v.h.tenant(s.tenant(tenant))
		for r := range v.rows(join(famMemory, at[:]), nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			var m store.Memory
			if err := r.into(&m); err != nil {
				return err
			}
			countMemory(&f, &m, now)
		}
		return nil
	})
	return f, wrap("count memories", err)
}

// Trials sums up a tenant's sessions that take part in a comparison. It reads all
// sessions.
func (s *Store) Trials(ctx context.Context, tenant string) (store.Trials, error) {
	var out store.Trials
	f := store.SessionFilter{Tenant: tenant, Limit: 1000}
	for more := true; more; more = f.Cursor != "" {
		page, next, err := s.Sessions(ctx, f)
		if err != nil {
			return out, wrap("compare sessions", err)
		}
		for i := range page {
			x := &page[i]
			switch {
			case x.Parent != "":
			case x.Trial == store.TrialWith:
				out.With.Add(x)
			case x.Trial == store.TrialWithout:
				out.Without.Add(x)
			}
		}
		f.Cursor = next
	}
	return out, nil
}

func countMemory(f *store.Figures, m *store.Memory, now time.Time) {
	f.Memories++
	f.States[m.State]++
	f.Merged += max(0, len(m.Evidence)-1)
	f.Judged.Used += m.Uses
	f.Judged.Ignored += m.Ignored
	f.Judged.Contradicted += m.Contradicted
	if m.State != store.Active {
		return
	}
	f.Types[m.Type]++
	f.Layers[m.Layer]++
	if _, own := m.Scope.UserOf(); !own && len(m.SourceIDs) > 0 {
		f.Promoted++
	}
	for i := range f.Ages {
		if d := f.Ages[i].Days; d == 0 || now.Sub(m.CreatedAt) < time.Duration(d)*24*time.Hour {
			f.Ages[i].Memories++
			return
		}
	}
}
