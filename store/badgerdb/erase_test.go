package badgerdb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// fill gives one owner a session with an exchange and all that hangs on it, and
// a memory.
func fill(t *testing.T, s *Store, o store.Owner, session string, at time.Time) store.Memory {
	t.Helper()
	x := said(o, session, session+"-x", "hi", at)
	x.Places = []store.Place{{Key: store.Hash{1}, Turn: 1}, {Key: store.Hash{2}, Turn: 1}}
	x.Anchors = []store.Anchor{{Key: store.Hash{3}, Time: at}}
	s.Finish(x)
	s.Begin(said(o, session, session+"-begun", strings.Repeat("long ", 100_000), at))
	s.SaveLedger([]store.LedgerEntry{{Owner: o, Session: session, Key: store.Hash{1}, Text: "b", Created: at}})
	s.SaveWhy(store.Why{Exchange: session + "-x", Session: session, Owner: o, Time: at})
	flush(t, s)
	if _, _, err := s.Enqueue(t.Context(), o, session, store.TriggerIdle); err != nil {
		t.Fatal(err)
	}
	m := written("fact of " + session)
	m.Tenant, m.Scope = o.Tenant, o.SkillScope()
	m = put(t, s, m)
	return must[store.Memory](t)(s.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
}

func TestEraseUserWithReceipt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newClock()
	s := open(t, Config{Dir: dir, Now: c.now})
	coder := store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	m1 := fill(t, s.Store, ann, "s1", c.now())
	m2 := fill(t, s.Store, coder, "s2", c.now())
	kept := fill(t, s.Store, bob, "s3", c.now())
	f := put(t, s.Store, written("forgotten"))
	must[store.Receipt](t)(s.EraseMemory(t.Context(), f.ID))
	j := claim(t, s.Store, "a")
	c.add(time.Minute)

	got := must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", ann.Scope()))
	want := store.Receipt{
		Tenant: "acme", Scope: ann.Scope(), Erased: []store.Scope{coder.SkillScope(), ann.Scope()},
		Memories: 2, Revisions: 2, Tombstones: 1, Sessions: 2, Exchanges: 4, Anchors: 2, Ledger: 2, Why: 2, Jobs: 2,
		ErasedAt: c.now(), State: store.ErasureSweeping, OutOfReach: store.BeyondErasure(s.h.keys != nil, false),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("receipt (-want +got):\n%s", d)
	}
	check := func() {
		t.Helper()
		for _, id := range []string{m1.ID, m2.ID} {
			if _, err := s.Memory(t.Context(), id); !errors.Is(err, store.ErrNotFound) || !s.Gone(id) {
				t.Errorf("memory %s: %v, gone %v", id, err, s.Gone(id))
			}
		}
		if _, err := s.Exchange(t.Context(), "s1-x"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("exchange: %v", err)
		}
		if _, err := s.Memory(t.Context(), kept.ID); err != nil {
			t.Errorf("bob's memory: %v", err)
		}
		if list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), bob, "s3", 0, 0)); len(list) == 0 {
			t.Error("bob's exchange is gone")
		}
		tenants := must[[]store.Tenant](t)(s.Tenants(t.Context()))
		if len(tenants) != 1 || len(tenants[0].Scopes) != 1 || tenants[0].Scopes[0].Scope != bob.Scope() {
			t.Errorf("tenants: %+v", tenants)
		}
	}
	check()
	// Only bob's rows are left, in every family.
	for _, family := range []byte{famSession, famExchange, famLedger, famWhy, famAnchor, famJob, famMemory, famMemories, famSessions, famScope, famBegun, famText} {
		if n := count(t, s.Store, family); n != 1 {
			t.Errorf("family %q has %d rows, want bob's alone", family, n)
		}
	}
	if n := count(t, s.Store, famByID); n != 5 {
		t.Errorf("the by-id index has %d rows, want bob's 5", n)
	}

	// What was under way is from before, and isn't learned.
	if _, err := s.Apply(t.Context(), j, store.Outcome{}); j.Owner.User == "ann" && !errors.Is(err, store.ErrStale) {
		t.Errorf("Apply of an erased session: %v", err)
	}
	late := said(ann, "s1", "s1-begun", "hi", c.now().Add(-time.Minute))
	tell(t, s.Store, late)
	check()
	s.stop()
	s = open(t, Config{Dir: dir, Now: c.now})
	tell(t, s.Store, late)
	check()

	// What comes after it is.
	c.add(time.Minute)
	tell(t, s.Store, said(ann, "s9", "new", "hi", c.now()))
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "s9")); x.LastSeq != 1 {
		t.Errorf("a new session: %+v", x)
	}
}

func TestEraseOneAgentsPart(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	coder := store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	m1 := fill(t, s.Store, ann, "s1", c.now())
	fill(t, s.Store, coder, "s2", c.now())
	c.add(time.Minute)
	got := must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", coder.SkillScope()))
	want := store.Receipt{
		Tenant: "acme", Scope: coder.SkillScope(), Erased: []store.Scope{coder.SkillScope()},
		Memories: 1, Revisions: 1, Sessions: 1, Exchanges: 2, Anchors: 1, Ledger: 1, Why: 1, Jobs: 1,
		ErasedAt: c.now(), State: store.ErasureSweeping, OutOfReach: store.BeyondErasure(s.h.keys != nil, false),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("receipt (-want +got):\n%s", d)
	}
	if _, err := s.Memory(t.Context(), m1.ID); err != nil {
		t.Errorf("ann's own memory: %v", err)
	}
	if list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s1", 0, 0)); len(list) != 1 {
		t.Errorf("ann's own session has %d exchanges", len(list))
	}
	if n := len(must[[]store.Place](t)(s.Places(t.Context(), ann, "s1"))); n != 2 {
		t.Errorf("ann's own session has %d places", n)
	}
	if _, err := s.EraseScope(t.Context(), "nobody", ann.Scope()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown tenant: %v", err)
	}
}

func TestLinkTenantsMovesEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newClock()
	s := open(t, Config{Dir: dir, Now: c.now})
	old := store.Owner{Tenant: "old-key", User: "ann", Agent: "coder"}
	now := store.Owner{Tenant: "new-key", User: "ann", Agent: "coder"}
	m := fill(t, s.Store, old, "s1", c.now())
	big := said(old, "s1", "big", strings.Repeat("long ", 100_000), c.now())
	s.Finish(big)
	f := written("forgotten")
	f.Tenant = "old-key"
	must[store.Receipt](t)(s.EraseMemory(t.Context(), put(t, s.Store, f).ID))
	job := claim(t, s.Store, "a")
	fill(t, s.Store, now, "s2", c.now())
	before := map[byte]int{}
	families := []byte{
		famSession, famExchange, famPart, famBegun, famPlaces, famAnchor, famLedger, famWhy, famJob,
		famMemory, famRevision, famText, famVector, famForgotten, famByID, famSessions, famMemories, famReflected,
	}
	for _, family := range families {
		before[family] = count(t, s.Store, family)
	}
	if err := s.LinkTenants(t.Context(), "old-key", "new-key"); err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if n := count(t, s.Store, family); n != before[family] {
			t.Errorf("family %q has %d rows, had %d", family, n, before[family])
		}
	}
	check := func() {
		t.Helper()
		for _, o := range []store.Owner{now, old} { // both names work
			if x := must[store.Session](t)(s.Session(t.Context(), o, "s1")); x.Owner != now {
				t.Errorf("the session is %v's", x.Owner)
			}
			if n := len(must[[]store.Exchange](t)(s.Exchanges(t.Context(), o, "s1", 0, 0))); n < 2 {
				t.Errorf("%d exchanges, want 2", n)
			}
			if n := len(must[[]store.LedgerEntry](t)(s.LoadLedger(t.Context(), o, "s1"))); n != 1 {
				t.Errorf("%d ledger entries, want 1", n)
			}
			if got := must[[][]store.Anchor](t)(s.Anchors(t.Context(), o, []store.Hash{{3}})); len(got[0]) != 2 {
				t.Errorf("%d anchors, want 2", len(got[0]))
			}
			list, _, err := s.Memories(t.Context(), store.MemoryFilter{Tenant: o.Tenant})
			if err != nil || len(list) != 2 || list[0].Tenant != "new-key" {
				t.Errorf("memories %+v, %v", list, err)
			}
		}
		if x := must[store.Exchange](t)(s.Exchange(t.Context(), "big")); x.Owner != now || len(x.Events[0].Text) != 500_000 {
			t.Errorf("the large exchange is %v's, %d bytes", x.Owner, len(x.Events[0].Text))
		}
		if w := must[store.Why](t)(s.Why(t.Context(), "s1-x")); w.Owner != now {
			t.Errorf("the why record is %v's", w.Owner)
		}
		if got := must[store.Memory](t)(s.Memory(t.Context(), m.ID)); got.Tenant != "new-key" {
			t.Errorf("the memory is %s's", got.Tenant)
		}
		if list := must[[]store.Tenant](t)(s.Tenants(t.Context())); len(list) != 1 || list[0].ID != "new-key" || len(list[0].Scopes) != 2 {
			t.Errorf("tenants %+v", list)
		}
		if to := must[string](t)(s.TenantAlias(t.Context(), "old-key")); to != "new-key" {
			t.Errorf("alias %q", to)
		}
	}
	check()
	// The tombstone came along, the running job too.
	again := written("Forgotten!")
	again.ID, again.Tenant = "again", "old-key"
	again.Evidence = []store.Evidence{{Time: c.now().Add(-time.Hour)}}
	j := must[store.Job](t)(s.Apply(t.Context(), job, store.Outcome{Memories: []store.Memory{again}}))
	if len(j.Dropped) != 1 || j.Owner != now {
		t.Errorf("applied after the link: %+v", j)
	}
	// A late exchange under the old name goes to the new one.
	tell(t, s.Store, said(old, "s1", "late", "hi", c.now()))
	s.stop()
	s = open(t, Config{Dir: dir, Now: c.now})
	check()
	for _, pair := range [][2]string{{"old-key", "new-key"}, {"new-key", "old-key"}, {"old-key", "third"}, {"a", "b"}, {"", "b"}} {
		if err := s.LinkTenants(t.Context(), pair[0], pair[1]); err == nil {
			t.Errorf("linking %v was taken", pair)
		}
	}
	if err := s.LinkTenants(t.Context(), "new-key", "third-key"); err != nil {
		t.Fatal(err)
	}
	if to := must[string](t)(s.TenantAlias(t.Context(), "old-key")); to != "third-key" {
		t.Errorf("the chain ends at %q", to)
	}
}

// An erasure stands after its tenant was linked, though nothing else of the scope is
// left to be moved: what is from before it isn't learned under the other name.
func TestLinkedTenantsStayErased(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	old, is := store.Owner{Tenant: "old-key", User: "ann"}, store.Owner{Tenant: "new-key", User: "ann"}
	tell(t, s.Store, said(old, "s1", "x1", "hi", c.now()))
	tell(t, s.Store, said(store.Owner{Tenant: "new-key", User: "bob"}, "s2", "x2", "hi", c.now()))
	before := c.now()
	c.add(time.Minute)
	rec := must[store.Receipt](t)(s.EraseScope(t.Context(), "old-key", ann.Scope()))
	if err := s.LinkTenants(t.Context(), "old-key", "new-key"); err != nil {
		t.Fatal(err)
	}
	tell(t, s.Store, said(is, "late", "x3", "hi", before))
	if x, err := s.Session(t.Context(), is, "late"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what is from before the erasure was taken in: %+v %v", x, err)
	}
	for _, name := range []string{"old-key", "new-key"} {
		if got := must[store.Receipt](t)(s.Erasure(t.Context(), name, ann.Scope(), "")); got.Tenant != "new-key" || got.Sessions != 1 || !got.ErasedAt.Equal(rec.ErasedAt) {
			t.Errorf("by the name %s: receipt %+v", name, got)
		}
	}
}

func TestAnInterruptedLinkIsFinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	o := store.Owner{Tenant: "old-key", User: "ann"}
	m := fill(t, s.Store, o, "s1", time.Now())
	// As a crash leaves it: the link is written, nothing is moved.
	if err := s.change(func(t *tx) error { return s.alias(t, "old-key", "new-key") }); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = open(t, Config{Dir: dir})
	list, _, err := s.Memories(t.Context(), store.MemoryFilter{Tenant: "new-key"})
	if err != nil || len(list) != 1 || list[0].ID != m.ID {
		t.Errorf("memories %+v, %v", list, err)
	}
	if x := must[store.Session](t)(s.Session(t.Context(), o, "s1")); x.LastSeq != 2 { // the begun one was ended too
		t.Errorf("session %+v", x)
	}
}

func TestSessionListing(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	for i, o := range []store.Owner{ann, bob, ann} {
		x := said(o, string(rune('a'+i)), string(rune('x'+i)), "hi", c.now())
		x.SessionInfo = store.SessionInfo{ExternalID: "ext" + string(rune('a'+i)), End: i == 0}
		s.Finish(x)
		c.add(time.Minute)
	}
	flush(t, s.Store)
	for name, tc := range map[string]struct {
		f    store.SessionFilter
		want string
	}{
		"all":      {store.SessionFilter{}, "cba"},
		"user":     {store.SessionFilter{Tenant: "acme", User: "ann"}, "ca"},
		"scope":    {store.SessionFilter{Tenant: "acme", Scope: bob.Scope()}, "b"},
		"external": {store.SessionFilter{Tenant: "acme", External: "extc"}, "c"},
		"closed":   {store.SessionFilter{State: store.Closed}, "a"},
		"other":    {store.SessionFilter{Tenant: "other"}, ""},
	} {
		for limit := 1; limit < 4; limit++ {
			got := ""
			f := tc.f
			f.Limit = limit
			for {
				list, next, err := s.Sessions(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range list {
					got += x.ID
				}
				if f.Cursor = next; next == "" {
					break
				}
			}
			if got != tc.want {
				t.Errorf("%s, %d a page: %q, want %q", name, limit, got, tc.want)
			}
		}
	}
}

func TestTenantsCount(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	coder := store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	s.Finish(said(ann, "a", "xa", "hi", time.Now()))
	tell(t, s.Store, said(coder, "b", "xb", "hi", time.Now()))
	m := put(t, s.Store, written("tea"))
	put(t, s.Store, written("cake"))
	must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
	want := []store.Tenant{{ID: "acme", Scopes: []store.ScopeCount{
		{Scope: ann.Scope(), Memories: map[store.State]int{store.Active: 1, store.Archived: 1}, Sessions: 1},
		{Scope: coder.SkillScope(), Memories: map[store.State]int{}, Sessions: 1},
	}}}
	if d := cmp.Diff(want, must[[]store.Tenant](t)(s.Tenants(t.Context()))); d != "" {
		t.Errorf("tenants (-want +got):\n%s", d)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	if v, ok, err := s.Fact(t.Context(), "first"); v != "" || ok || err != nil {
		t.Errorf("an unset fact: %q, %v, %v", v, ok, err)
	}
	if err := s.SetFact(t.Context(), "first", "abc"); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if v, ok, err := open(t, Config{Dir: dir}).Fact(t.Context(), "first"); v != "abc" || !ok || err != nil {
		t.Errorf("a fact after a restart: %q, %v, %v", v, ok, err)
	}
}
