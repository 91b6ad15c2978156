package badgerdb

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestWithoutShareNothingIsWritten(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	fill(t, s.Store, ann, "s1", time.Now())
	m := put(t, s.Store, written("tea"))
	must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
	must[store.Memory](t)(s.RestoreMemory(t.Context(), m.ID, 0))
	must[store.Receipt](t)(s.EraseMemory(t.Context(), m.ID))
	for _, family := range []byte{famOutbox, famCopy} {
		if n := count(t, s.Store, family); n != 0 {
			t.Errorf("family %q has %d rows", family, n)
		}
	}
	if n, at := s.OutboxDepth(); n != 0 || !at.IsZero() {
		t.Errorf("depth %d since %v", n, at)
	}
}

func TestChangesOfOneThingAreOneShipment(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := sidecars(t, 1, c)[0]
	a := put(t, s.Store, written("tea"))
	since := c.now()
	c.add(time.Minute)
	put(t, s.Store, written("cake"))
	edit := func(id, text string) {
		t.Helper()
		must[store.Memory](t)(s.EditMemory(t.Context(), id, func(m *store.Memory) error { m.Text = text; return nil }))
	}
	edit(a.ID, "green tea")
	edit(a.ID, "black tea")
	list := must[[]store.Shipment](t)(s.Outbox(t.Context(), 10))
	if got := kindsOf(list); got != "memory cake, memory black tea" {
		t.Fatalf("waiting: %s", got)
	}
	if n, at := s.OutboxDepth(); n != 2 || !at.Equal(since) {
		t.Errorf("depth %d since %v, want 2 since %v", n, at, since)
	}
	// One changes while it is being delivered: it stays.
	edit(a.ID, "white tea")
	if err := s.Shipped(t.Context(), []uint64{list[0].Seq, list[1].Seq}); err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(must[[]store.Shipment](t)(s.Outbox(t.Context(), 10))); got != "memory white tea" {
		t.Errorf("waiting then: %s", got)
	}
	if n, _ := s.OutboxDepth(); n != 1 {
		t.Errorf("depth %d, want 1", n)
	}
}

func TestTheOutboxSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, Share: true})
	put(t, s.Store, written("tea"))
	tell(t, s.Store, said(ann, "s", "x1", "hi", time.Now()))
	list := must[[]store.Shipment](t)(s.Outbox(t.Context(), 1))
	if err := s.Shipped(t.Context(), []uint64{list[0].Seq}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = open(t, Config{Dir: dir, Share: true})
	select {
	case <-s.OutboxWake():
	case <-time.After(10 * time.Second):
		t.Error("nobody was woken for what waits")
	}
	if got := kindsOf(must[[]store.Shipment](t)(s.Outbox(t.Context(), 10))); got != "exchange" {
		t.Errorf("waiting: %s", got)
	}
	if n, _ := s.OutboxDepth(); n != 1 {
		t.Errorf("depth %d, want 1", n)
	}
	// The number of a row that an earlier opening gave out settles nothing now.
	newCloud(t).deliver(s.Store)
	s.stop()
	s = open(t, Config{Dir: dir, Share: true})
	put(t, s.Store, written("cake"))
	again := must[[]store.Shipment](t)(s.Outbox(t.Context(), 1))
	if len(again) != 1 || again[0].Seq <= list[0].Seq {
		t.Errorf("row %d after row %d was settled", again[0].Seq, list[0].Seq)
	}
}

func TestADirectoryThatIsSharedLaterShipsWhatItHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	m := fill(t, s.Store, ann, "s1", time.Now())
	must[store.Memory](t)(s.ForgetMemory(t.Context(), put(t, s.Store, written("tea")).ID))
	s.stop()
	open2 := func(share bool) running { return open(t, Config{Dir: dir, Share: share}) }
	s = open2(true)
	cloud := newCloud(t)
	cloud.deliver(s.Store)
	kinds := map[store.RecordKind]int{}
	for _, r := range cloud.records {
		kinds[r.Kind]++
	}
	want := map[store.RecordKind]int{store.RecordExchange: 2, store.RecordLedger: 1, store.RecordTombstone: 1}
	if d := gocmp.Diff(want, kinds); d != "" || len(cloud.memories) != 2 || cloud.memories[m.ID].Memory.Text != m.Text {
		t.Errorf("shared: %d memories, records (-want +got):\n%s", len(cloud.memories), d)
	}
	s.stop()
	s = open2(true)
	if n, _ := s.OutboxDepth(); n != 0 {
		t.Errorf("%d rows at the next opening, want none", n)
	}
	s.stop()
	// What changes while it is used alone goes out when it is shared again.
	s = open2(false)
	put(t, s.Store, written("cake"))
	s.stop()
	s = open2(true)
	if n := cloud.deliver(s.Store); n == 0 || len(cloud.memories) != 3 {
		t.Errorf("%d shipments, %d memories shared", n, len(cloud.memories))
	}
}

func TestReshipAndLinkedTenants(t *testing.T) {
	t.Parallel()
	s := sidecars(t, 1, nil)[0]
	cloud := newCloud(t)
	o := store.Owner{Tenant: "old-key", User: "ann"}
	m := fill(t, s.Store, o, "s1", time.Now())
	cloud.deliver(s.Store)
	if err := s.Reship(t.Context(), "old-key", []string{m.ID, "unknown"}); err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(must[[]store.Shipment](t)(s.Outbox(t.Context(), 10))); got != "memory "+m.Text {
		t.Errorf("shipped again: %s", got)
	}
	if err := s.LinkTenants(t.Context(), "old-key", "new-key"); err != nil {
		t.Fatal(err)
	}
	list := must[[]store.Shipment](t)(s.Outbox(t.Context(), 100))
	taken, brought := 0, 0
	for _, sh := range list {
		if sh.Gone == m.ID && sh.Tenant == "old-key" && sh.Record == nil {
			taken++
		}
		if sh.Memory != nil && sh.Tenant == "new-key" {
			brought++
		}
	}
	if taken != 1 || brought != 1 {
		t.Errorf("after the link: %s", kindsOf(list))
	}
}

func TestWhatIsFurtherHereIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := sidecars(t, 1, c)[0]
	cloud := newCloud(t)
	old := put(t, s.Store, written("tea"))
	x := said(ann, "s", "x", "hi", c.now())
	before := sharedExchange(x, false)
	tell(t, s.Store, x)
	c.add(time.Second)
	must[store.Memory](t)(s.EditMemory(t.Context(), old.ID, func(m *store.Memory) error { m.Text = "coffee"; return nil }))
	reflectSession(t, s.Store, "s")
	cloud.deliver(s.Store)
	if err := s.AbsorbMemories(t.Context(), []store.SharedMemory{{Memory: old}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AbsorbRecords(t.Context(), []store.SharedRecord{before}); err != nil {
		t.Fatal(err)
	}
	list := must[[]store.Shipment](t)(s.Outbox(t.Context(), 10))
	if got := kindsOf(list); got != "memory coffee, exchange" || !list[1].Record.Reflected {
		t.Errorf("older forms came, and %q is delivered", got)
	}
}

func TestWhatAnInterruptedErasureLeftIsNotDelivered(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := sidecars(t, 1, c)[0]
	put(t, s.Store, written("tea"))
	c.add(time.Second)
	at := s.h.at("acme", ann.Scope())
	if err := s.change(func(t *tx) error { return t.put(join(famErased, at[:]), c.now(), 0, 0) }); err != nil {
		t.Fatal(err)
	}
	s.mirror(func(st *state) { st.erased[at] = c.now() })
	if got := kindsOf(must[[]store.Shipment](t)(s.Outbox(t.Context(), 10))); got != "" {
		t.Errorf("delivered: %s", got)
	}
}
