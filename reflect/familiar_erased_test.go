package hreflect

import (
	"context"
	"testing"

	"hindsight/store"
)

// oneMemory is a store in which every scope holds a memory.
type oneMemory struct{ Records }

func (oneMemory) ScopeMemories(_ context.Context, _ string, sc store.Scope) ([]store.Memory, uint64, error) {
	return []store.Memory{{ID: "m", Scope: sc, Text: "a secret of " + string(sc)}}, 1, nil
}

func (oneMemory) ScopeChanges(string, store.Scope, uint64) ([]store.Memory, uint64, bool) {
	return nil, 1, true
}

// An erased scope isn't held for those who write next; others are.
func TestAnErasedScopeIsntFamiliar(t *testing.T) {
	r := &Runner{familiar: familiar{store: oneMemory{}}}
	for _, sc := range []store.Scope{"user:ann", "user:bob"} {
		if all, err := r.familiar.all(t.Context(), "acme", sc); err != nil || len(all) != 1 {
			t.Fatalf("%v %v", all, err)
		}
	}
	r.Forget("other", "user:bob")
	r.Forget("acme", "user:ann")
	if len(r.familiar.scopes) != 1 || r.familiar.scopes[0].scope != "user:bob" {
		t.Errorf("%d scopes are held", len(r.familiar.scopes))
	}
}
