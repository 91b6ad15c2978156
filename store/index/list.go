package index

import (
	"context"
	"slices"

	"hindsight/store"
)

// List returns every memory that the query allows, whatever its words; Terms
// and Limit don't count. The memories belong to the index, come in no particular
// order and must not be changed.
func (x *Index) List(ctx context.Context, q Query) ([]*store.Memory, error) {
	r := search{q: q}
	names := slices.Clone(q.Scopes)
	slices.Sort(names)
	var out []*store.Memory
	for _, sc := range slices.Compact(names) {
		s, err := x.open(ctx, slotKey{q.Tenant, sc})
		if err != nil {
			return nil, err
		}
		s.mu.RLock()
		for i := range s.docs {
			if r.allowed(&s.docs[i]) {
				out = append(out, s.docs[i].mem)
			}
		}
		s.mu.RUnlock()
	}
	return out, nil
}
