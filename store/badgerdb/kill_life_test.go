package badgerdb

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"hindsight/store"
)

// lifeDir, set in the environment, makes the test binary one that consolidates
// and sweeps until it is killed.
const lifeDir = "HINDSIGHT_TEST_LIFE_DIR"

// liveOn consolidates groups of events, undoes every third, erases a source of
// every fourth, and archives other memories by the dozen.
func liveOn(dir string) {
	ctx := context.Background()
	s := victimStore(Config{Dir: dir})
	for i := 0; ; i++ {
		group := fmt.Sprintf("%d.%d", os.Getpid(), i)
		var sources []store.Memory
		for n := range 5 {
			m := written(fmt.Sprintf("Event %d of %s.", n, group))
			m.Type, m.Layer, m.Subject = store.EventType, store.Episodic, group
			m, _, err := s.PutMemory(ctx, m)
			check(err)
			sources = append(sources, m)
		}
		product := written("All of " + group + ".")
		product.ID, product.Subject = "m"+group, group
		_, err := s.Consolidate(ctx, store.Job{}, product, sources)
		check(err)
		for range 10 { // and back and again, so that most kills meet one
			_, _, err = s.UndoConsolidation(ctx, product.ID)
			check(err)
			_, err = s.RestoreMemory(ctx, product.ID, 0)
			check(err)
		}
		if i%3 == 0 {
			_, _, err = s.UndoConsolidation(ctx, product.ID)
			check(err)
		}
		if i%4 == 1 {
			_, err = s.EraseMemory(ctx, sources[2].ID)
			check(err)
		}
		var fates []store.Fate
		for n := range 12 {
			m := written(fmt.Sprintf("Old %d of %s.", n, group))
			m.Subject = "old"
			m, _, err = s.PutMemory(ctx, m)
			check(err)
			fates = append(fates, store.Fate{ID: m.ID, Do: store.FateArchive, Revision: m.Revision, State: m.State})
		}
		_, err = s.Fade(ctx, "acme", fates)
		check(err)
		fmt.Println(i)
	}
}

// Killed at any moment, a consolidation, its undoing and an erasure are before or
// after for a group as a whole, and a sweep is for every memory.
func TestKilledInTheMiddleOfALife(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	t.Parallel()
	dir := t.TempDir()
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	seen := map[string]int{}
	for round := range rounds {
		v := newVictim(t, lifeDir, dir)
		// Three groups at least are done, so that there is one of each kind.
		for range 3 {
			v.Scan()
		}
		kill := time.AfterFunc(time.Duration(7*round)*time.Millisecond, v.kill)
		for v.Scan() { //nolint:revive // until it is killed
		}
		kill.Stop()
		v.end(t)
		s := open(t, Config{Dir: dir})
		wholeGroups(t, s.Store, seen)
		s.stop()
	}
	t.Logf("found %v", seen)
	if seen["together"] == 0 || seen["undone"] == 0 {
		t.Errorf("the kills met too little: %v", seen)
	}
}

// wholeGroups checks every group and every other memory.
func wholeGroups(t *testing.T, s *Store, seen map[string]int) {
	t.Helper()
	ms, _, err := s.ScopeMemories(t.Context(), "acme", store.UserScope("ann"))
	if err != nil {
		t.Fatal(err)
	}
	type group struct{ active, hidden, whole, undone int }
	groups := map[string]*group{}
	clear(seen)
	for _, m := range ms {
		if older := len(must[[]store.Memory](t)(s.Revisions(t.Context(), m.ID))); older != m.Revision-1 {
			t.Errorf("%s: revision %d with %d older forms", m.ID, m.Revision, older)
		}
		if m.Subject == "old" {
			if m.State != store.Active && (m.State != store.Archived || m.ArchivedAt.IsZero()) {
				t.Errorf("%+v", m)
			}
			seen[string(m.State)]++
			continue
		}
		g := groups[m.Subject]
		if g == nil {
			g = &group{}
			groups[m.Subject] = g
		}
		switch {
		case m.Layer == store.Episodic && m.State == store.Active:
			g.active++
		case m.Layer == store.Episodic && m.State == store.Consolidated && m.SupersededBy == "m"+m.Subject:
			g.hidden++
		case m.Layer != store.Episodic && m.State == store.Active && len(m.SourceIDs) == 5:
			g.whole++
		case m.Layer != store.Episodic && m.State == store.Archived:
			g.undone++
		default:
			t.Errorf("%+v", m)
		}
	}
	for name, g := range groups {
		switch *g {
		case group{hidden: 5, whole: 1}:
			seen["together"]++
		case group{active: 5, undone: 1}:
			seen["undone"]++
		case group{active: 4}:
			seen["without the erased"]++
		case group{active: 1}, group{active: 2}, group{active: 3}, group{active: 5}:
			seen["being written"]++
		default:
			t.Errorf("group %s: %+v", name, *g)
		}
	}
}
