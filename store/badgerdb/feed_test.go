package badgerdb

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hindsight/store"
)

// TestFeedIsBoundedAndMissesNothing lets users come and go: whoever follows a scope
// is told of each change, or to read it anew.
func TestFeedIsBoundedAndMissesNothing(t *testing.T) {
	t.Parallel()
	f := newFeed()
	rng := rand.New(rand.NewPCG(1, 2))
	followed := map[scopeName]uint64{}
	missed := map[scopeName]map[string]bool{} // changes that nobody was told of yet
	for i := range 40_000 {
		n := scopeName{"acme", store.UserScope(fmt.Sprint("u", rng.IntN(4*feedParts*feedScopesMax)))}
		if i%4 == 0 {
			n.scope = store.UserScope(fmt.Sprint("stays", rng.IntN(50)))
		}
		if _, ok := followed[n]; !ok {
			followed[n], missed[n] = f.version(n), map[string]bool{}
		}
		switch {
		case rng.IntN(20) == 0:
			f.cut(n)
			if ids, _, ok := f.after(n, followed[n]); ok {
				t.Fatalf("%v: cut, and only %v are told", n, ids)
			}
			followed[n] = f.version(n)
			clear(missed[n])
		default:
			id := fmt.Sprint("m", i)
			f.add(n, id)
			missed[n][id] = true
		}
		if rng.IntN(3) != 0 {
			continue
		}
		ids, now, ok := f.after(n, followed[n])
		for _, id := range ids {
			delete(missed[n], id)
		}
		if ok && len(missed[n]) > 0 {
			t.Fatalf("%v: %d changes were never told", n, len(missed[n]))
		}
		clear(missed[n])
		followed[n] = now
	}
	listed := 0
	for i := range f.parts {
		listed += len(f.parts[i].scopes)
	}
	if listed > feedParts*feedScopesMax {
		t.Errorf("%d scopes are listed, above the bound of %d", listed, feedParts*feedScopesMax)
	}
	if listed < 1000 {
		t.Errorf("only %d scopes are listed: nothing was tested", listed)
	}
}
