package badgerdb

import (
	"cmp"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

func TestErasedMemoriesStayErased(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 2)
	a, b := all[0], all[1]
	m := written("lives at 12 Oak Lane")
	m.Evidence = []store.Evidence{{Session: "s1", Turn: 1, Quote: "I live at 12 Oak Lane", Time: c.now()}}
	m = put(t, a.Store, m)
	tell(t, a.Store, said(ann, "s1", "x1", "I live at 12 Oak Lane", c.now()))
	cloud.settle(all...)
	reflectSession(t, b.Store, "s1")
	cloud.settle(all...)
	b.SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "s2", Key: store.Hash{1}, Text: "lives at 12 Oak Lane", Refs: []store.Ref{{ID: m.ID, Revision: 1}}, Created: c.now(), LastUsed: c.now()}})
	flush(t, b.Store)
	cloud.settle(all...)
	// b goes on with it, and hasn't heard yet.
	c.add(time.Second)
	stale := must[store.Memory](t)(b.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	must[store.Receipt](t)(a.EraseMemory(t.Context(), m.ID))
	cloud.deliver(a.Store)
	for k, r := range cloud.records {
		if strings.Contains(string(r.Data), "Oak Lane") {
			t.Errorf("shared after the erasure: %s: %s", k, r.Data)
		}
	}
	cloud.settle(all...)
	for i, s := range all {
		if _, err := s.Memory(t.Context(), m.ID); !errors.Is(err, store.ErrNotFound) || !s.Gone(m.ID) {
			t.Errorf("sidecar %d: %v, gone %v", i, err, s.Gone(m.ID))
		}
		if n := count(t, s.Store, famRevision); n != 0 {
			t.Errorf("sidecar %d: %d older forms", i, n)
		}
	}
	for i, s := range all {
		for _, x := range must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s1", 0, 0)) {
			if len(x.Events) > 0 {
				t.Errorf("sidecar %d: an exchange holds the sentence: %+v", i, x)
			}
		}
		for _, e := range must[[]store.LedgerEntry](t)(s.LoadLedger(t.Context(), ann, "s2")) {
			if e.Text != "" {
				t.Errorf("sidecar %d: a block shows it: %+v", i, e)
			}
		}
	}
	for k, r := range cloud.records {
		if strings.Contains(string(r.Data), "Oak Lane") {
			t.Errorf("shared: %s: %s", k, r.Data)
		}
	}
	if len(cloud.memories) != 0 {
		t.Errorf("shared: %+v", cloud.memories)
	}
	// An old form of it comes from somewhere.
	for _, s := range all {
		if err := s.AbsorbMemories(t.Context(), []store.SharedMemory{{Memory: stale}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Memory(t.Context(), m.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("it is back: %v", err)
		}
	}
	if n := len(must[[]store.Shipment](t)(a.Outbox(t.Context(), 10))); n != 1 {
		t.Errorf("%d shipments, want its going once more", n)
	}
	cloud.settle(all...)
	// Said by the person again, it is a new memory with the same id.
	c.add(time.Second)
	again := written("lives at 12 Oak Lane")
	again.ID, again.CreatedAt = m.ID, m.CreatedAt
	again, _, err := b.PutMemory(t.Context(), again)
	if err != nil || again.ID != m.ID || len(again.Evidence) != 0 {
		t.Fatalf("written again: %+v, %v", again, err)
	}
	cloud.settle(all...)
	if got := activeTexts(t, a.Store, ann.Scope()); got != "lives at 12 Oak Lane" {
		t.Errorf("at a: %q", got)
	}
}

func TestAForeignErasureErasesWhatCameBefore(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 2)
	a, b := all[0], all[1]
	coder := store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	old := fill(t, a.Store, ann, "s1", c.now())
	part := fill(t, b.Store, coder, "s2", c.now())
	kept := fill(t, b.Store, bob, "s3", c.now())
	tell(t, b.Store, said(ann, "s4", "before", "before the erasure", c.now()))
	cloud.settle(all...)
	c.add(time.Minute)
	put(t, a.Store, written("not delivered yet"))
	c.add(time.Second)
	must[store.Receipt](t)(a.EraseScope(t.Context(), "acme", ann.Scope()))
	if n, _ := a.OutboxDepth(); n != 2 {
		t.Errorf("%d rows wait", n)
	}
	list := must[[]store.Shipment](t)(a.Outbox(t.Context(), 100))
	for _, sh := range list {
		if sh.Record == nil || sh.Record.Kind != store.RecordErasure {
			t.Errorf("waits after the erasure: %s", kindsOf([]store.Shipment{sh}))
		}
	}
	if len(list) != 2 {
		t.Errorf("%d erasures wait, want the user's and their agent's", len(list))
	}
	// Meanwhile, at b: what ann says after it.
	c.add(time.Second)
	tell(t, b.Store, said(ann, "s4", "after", "after the erasure", c.now()))
	fresh := put(t, b.Store, written("new fact"))
	// It hears of it before anybody has what is new there.
	cloud.deliver(a.Store)
	cloud.give(b.Store, cmp.Compare[string])
	if _, err := b.Memory(t.Context(), fresh.ID); err != nil {
		t.Errorf("what came later: %v", err)
	}
	if list := must[[]store.Exchange](t)(b.Exchanges(t.Context(), ann, "s4", 0, 0)); len(list) != 1 || list[0].ID != "after" {
		t.Errorf("what came later: %s", ids(list))
	}
	cloud.deliver(b.Store)
	maps.DeleteFunc(cloud.memories, func(id string, _ store.SharedMemory) bool { return id == fresh.ID }) // emptied whole
	late := list[0]
	late.Record.Time = late.Record.Time.Add(time.Millisecond)
	if err := b.AbsorbRecords(t.Context(), []store.SharedRecord{*late.Record}); err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(must[[]store.Shipment](t)(b.Outbox(t.Context(), 10))); !strings.Contains(got, "memory new fact") || !strings.Contains(got, "exchange") {
		t.Errorf("after an erasure elsewhere b ships %q", got)
	}
	cloud.settle(all...)
	for i, s := range all {
		for _, id := range []string{old.ID, part.ID} {
			if _, err := s.Memory(t.Context(), id); !errors.Is(err, store.ErrNotFound) || !s.Gone(id) {
				t.Errorf("sidecar %d: memory %s: %v, gone %v", i, id, err, s.Gone(id))
			}
		}
		for _, id := range []string{fresh.ID, kept.ID} {
			if _, err := s.Memory(t.Context(), id); err != nil {
				t.Errorf("sidecar %d: memory %s: %v", i, id, err)
			}
		}
		list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s4", 0, 0))
		if len(list) != 1 || list[0].ID != "after" {
			t.Errorf("sidecar %d: exchanges %s", i, ids(list))
		}
		if _, err := s.Session(t.Context(), ann, "s1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("sidecar %d: session s1: %v", i, err)
		}
		if n := count(t, s.Store, famRevision); n != 1 && s.Store == b.Store {
			t.Errorf("sidecar %d: %d older forms, want bob's", i, n)
		}
		// Nothing from before it comes back.
		if err := s.AbsorbMemories(t.Context(), []store.SharedMemory{{Memory: old}, {Memory: part}}); err != nil {
			t.Fatal(err)
		}
		x := said(ann, "s1", "s1-x", "hi", old.CreatedAt)
		rec := store.SharedRecord{Kind: store.RecordExchange, ID: x.ID, Tenant: "acme", Scope: ann.Scope(), Session: "s1", Time: x.Finished, Data: appendExchange([]byte{recordForm}, x, nil)}
		if err := s.AbsorbRecords(t.Context(), []store.SharedRecord{rec}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Memory(t.Context(), old.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("sidecar %d: back: %v", i, err)
		}
		if _, err := s.Session(t.Context(), ann, "s1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("sidecar %d: session s1 is back: %v", i, err)
		}
	}
}

// What another sidecar erased stays erased where its tenant is linked to another here,
// whether it was heard of before the link or after: what is from before the erasure
// isn't there under the other name, and isn't learned again. The receipt says what
// was here.
func TestAForeignErasureOutlivesALink(t *testing.T) {
	t.Parallel()
	for _, heard := range []string{"before", "after"} {
		t.Run(heard, func(t *testing.T) {
			t.Parallel()
			c, all, cloud := newFleet(t, 2)
			a, b := all[0], all[1]
			old, is := store.Owner{Tenant: "old-key", User: "ann"}, store.Owner{Tenant: "new-key", User: "ann"}
			m := fill(t, a.Store, old, "s1", c.now())
			alone := written("on its own")
			alone.Tenant, alone.Scope = "old-key", bob.Scope()
			alone = put(t, a.Store, alone)
			tell(t, b.Store, said(store.Owner{Tenant: "new-key", User: "bob"}, "s2", "x2", "hi", c.now()))
			cloud.settle(all...)
			before := c.now()
			c.add(time.Minute)
			must[store.Receipt](t)(a.EraseMemory(t.Context(), alone.ID))
			c.add(time.Minute)
			rec := must[store.Receipt](t)(a.EraseScope(t.Context(), "old-key", ann.Scope()))
			link := func() {
				t.Helper()
				if err := b.LinkTenants(t.Context(), "old-key", "new-key"); err != nil {
					t.Fatal(err)
				}
			}
			if heard == "after" {
				link()
			}
			cloud.settle(a)
			cloud.settle(b)
			if heard == "before" {
				link()
			}
			cloud.settle(b)
			for _, id := range []string{m.ID, alone.ID} {
				if x, err := b.Memory(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s is in sight as %s's: %v", x.Text, x.Tenant, err)
				}
				if x, ok := cloud.memories[id]; ok {
					t.Errorf("%s is shared as %s's", x.Memory.Text, x.Memory.Tenant)
				}
			}
			tell(t, b.Store, said(is, "late", "x3", "hi", before))
			if x, err := b.Session(t.Context(), is, "late"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("what is from before the erasure was taken in: %+v %v", x, err)
			}
			got := must[store.Receipt](t)(b.Erasure(t.Context(), "new-key", ann.Scope(), ""))
			if got.Tenant != "new-key" || got.Memories == 0 || got.Sessions != 1 || !got.ErasedAt.Equal(rec.ErasedAt) {
				t.Errorf("receipt %+v", got)
			}
		})
	}
}

func TestAnErasedSentenceLeavesEveryCopyOfOtherMemories(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 2)
	a, b := all[0], all[1]
	secret := store.Evidence{Session: "s1", Turn: 1, Quote: "my cat is Tom", Time: c.now(), Context: "hello; my cat is Tom"}
	m, other := written("has a cat"), written("likes animals")
	m.Evidence = []store.Evidence{secret}
	other.Evidence = []store.Evidence{secret, {Session: "s2", Turn: 1, Quote: "I like animals", Time: c.now()}}
	m, other = put(t, a.Store, m), put(t, a.Store, other)
	cloud.settle(all...)
	// b keeps an older form of it, and goes on with the memory unheard.
	for range 2 {
		c.add(time.Second)
		must[store.Memory](t)(b.EditMemory(t.Context(), other.ID, func(m *store.Memory) error { m.Importance += 0.1; return nil }))
	}
	must[store.Receipt](t)(a.EraseMemory(t.Context(), m.ID))
	cloud.settle(all...)
	for i, s := range all {
		is := must[store.Memory](t)(s.Memory(t.Context(), other.ID))
		for _, m := range append(must[[]store.Memory](t)(s.Revisions(t.Context(), other.ID)), is) {
			for _, e := range m.Evidence {
				if strings.Contains(e.Quote+e.Context, "Tom") {
					t.Errorf("sidecar %d: revision %d holds %+v", i, m.Revision, e)
				}
			}
		}
		if is.Importance < 0.85 || len(is.Evidence) != 1 {
			t.Errorf("sidecar %d: %+v", i, is)
		}
	}
}
