package badgerdb

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// cloud is a shared store as far as a directory sees it: it holds what sidecars
// deliver, merged, and gives all of it.
type cloud struct {
	t        testing.TB
	memories map[string]store.SharedMemory
	records  map[string]store.SharedRecord
}

func newCloud(t testing.TB) *cloud {
	return &cloud{t, map[string]store.SharedMemory{}, map[string]store.SharedRecord{}}
}

// deliver takes all that waits at a sidecar and says how many shipments that were.
func (c *cloud) deliver(s *Store) int {
	c.t.Helper()
	total := 0
	for {
		list := must[[]store.Shipment](c.t)(s.Outbox(c.t.Context(), 50))
		if len(list) == 0 {
			return total
		}
		var seqs []uint64
		for _, sh := range list {
			c.take(sh)
			seqs = append(seqs, sh.Seq)
		}
		if err := s.Shipped(c.t.Context(), seqs); err != nil {
			c.t.Fatal(err)
		}
		total += len(list)
	}
}

func (c *cloud) take(sh store.Shipment) {
	if sh.Tenant == "" || sh.Scope == "" {
		c.t.Errorf("a shipment of nobody: %+v", sh)
	}
	if sh.Memory != nil {
		m := *sh.Memory
		if was, ok := c.memories[m.Memory.ID]; ok {
			if m.Memory = store.Merged(was.Memory, m.Memory); len(m.Vector) == 0 && m.Memory.Text == was.Memory.Text {
				m.Vector = was.Vector
			}
		}
		c.memories[m.Memory.ID] = m
	}
	if sh.Gone != "" {
		delete(c.memories, sh.Gone)
	}
	if sh.Record == nil {
		return
	}
	r := *sh.Record
	if r.Kind == store.RecordErasure {
		maps.DeleteFunc(c.memories, func(_ string, m store.SharedMemory) bool {
			return m.Memory.Scope == r.Scope && !m.Memory.CreatedAt.After(r.Time)
		})
		maps.DeleteFunc(c.records, func(_ string, x store.SharedRecord) bool { return x.Scope == r.Scope && !x.Time.After(r.Time) })
	}
	key := string(r.Kind) + " " + r.Tenant + " " + r.ID
	if was, ok := c.records[key]; ok {
		r = store.MergedRecord(was, r)
	}
	c.records[key] = r
}

// give hands all to a sidecar, in some order.
func (c *cloud) give(s *Store, order func(a, b string) int) {
	c.t.Helper()
	var rs []store.SharedRecord
	for _, k := range slices.SortedFunc(maps.Keys(c.records), order) {
		rs = append(rs, c.records[k])
	}
	var ms []store.SharedMemory
	for _, k := range slices.SortedFunc(maps.Keys(c.memories), order) {
		ms = append(ms, c.memories[k])
	}
	if err := s.AbsorbMemories(c.t.Context(), ms); err != nil {
		c.t.Fatal(err)
	}
	if err := s.AbsorbRecords(c.t.Context(), rs); err != nil {
		c.t.Fatal(err)
	}
}

// settle lets sidecars deliver and take until nothing moves.
func (c *cloud) settle(all ...running) {
	c.t.Helper()
	for range 10 {
		moved := 0
		for _, s := range all {
			flush(c.t, s.Store)
			moved += c.deliver(s.Store)
		}
		for _, s := range all {
			c.give(s.Store, cmp.Compare[string])
		}
		left := 0
		for _, s := range all {
			n, _ := s.OutboxDepth()
			left += n
		}
		if moved == 0 && left == 0 {
			return
		}
	}
	c.t.Fatal("the sidecars keep telling each other something")
}

// shared opens directories with one identity key.
func sidecars(t testing.TB, n int, c *clock) []running {
	t.Helper()
	key := filepath.Join(t.TempDir(), "id.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []running
	for range n {
		cfg := Config{Share: true, IdentityKeyFile: key}
		if c != nil {
			cfg.Now = c.now
		}
		out = append(out, open(t, cfg))
	}
	return out
}

// activeTexts are the texts of a scope's active memories.
func activeTexts(t testing.TB, s *Store, sc store.Scope) string {
	t.Helper()
	ms, _, err := s.ScopeMemories(t.Context(), "acme", sc)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range ms {
		if m.State == store.Active {
			out = append(out, m.Text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "|")
}

func kindsOf(list []store.Shipment) string {
	var out []string
	for _, sh := range list {
		switch {
		case sh.Memory != nil:
			out = append(out, "memory "+sh.Memory.Memory.Text)
		case sh.Gone != "":
			out = append(out, "gone")
		default:
			out = append(out, string(sh.Record.Kind))
		}
	}
	return strings.Join(out, ", ")
}

func TestWithoutShareNothingIsWritten(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	fill(t, s.Store, ann, "s1", time.Now())
	m := put(t, s.Store, written("tea"))
	must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID, false))
	must[store.Memory](t)(s.RestoreMemory(t.Context(), m.ID, 0))
	must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID, true))
	for _, family := range []byte{famOutbox, famCopy, famForgotten} {
		if n := count(t, s.Store, family); n != 0 && family != famForgotten {
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
	s.Finish(said(ann, "s", "x1", "hi", time.Now()))
	flush(t, s.Store)
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
	must[store.Memory](t)(s.ForgetMemory(t.Context(), put(t, s.Store, written("tea")).ID, false))
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

func TestWhatOneSidecarLearnsAnotherHas(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 3, c)
	a, b, third := all[0], all[1], all[2]
	cloud := newCloud(t)
	tea := put(t, a.Store, written("likes tea"))
	put(t, b.Store, written("lives in Bonn"))
	cloud.settle(all...)
	for i, s := range all {
		if got := activeTexts(t, s.Store, ann.Scope()); got != "likes tea|lives in Bonn" {
			t.Errorf("sidecar %d: %s", i, got)
		}
	}
	// Both change it at once, one forgets it meanwhile.
	c.add(time.Second)
	must[store.Memory](t)(a.EditMemory(t.Context(), tea.ID, func(m *store.Memory) error { m.Text = "likes green tea"; return nil }))
	c.add(time.Second)
	for range 3 {
		must[store.Memory](t)(b.EditMemory(t.Context(), tea.ID, func(m *store.Memory) error { m.Importance += 0.1; return nil }))
	}
	must[store.Memory](t)(third.ForgetMemory(t.Context(), tea.ID, false))
	cloud.settle(all...)
	for i, s := range all {
		if got := activeTexts(t, s.Store, ann.Scope()); got != "lives in Bonn" {
			t.Errorf("sidecar %d: %s", i, got)
		}
		if !s.Gone(tea.ID) {
			t.Errorf("sidecar %d replays what was forgotten", i)
		}
	}
	// Brought back on one, it is back everywhere.
	c.add(time.Second)
	must[store.Memory](t)(b.RestoreMemory(t.Context(), tea.ID, 0))
	cloud.settle(all...)
	for i, s := range all {
		if got := activeTexts(t, s.Store, ann.Scope()); got != "likes tea|lives in Bonn" {
			t.Errorf("sidecar %d: %s", i, got)
		}
		if s.Gone(tea.ID) {
			t.Errorf("sidecar %d doesn't replay what was restored", i)
		}
	}
}

func TestTheIndexAndVectorsFollowWhatIsTakenIn(t *testing.T) {
	t.Parallel()
	all := sidecars(t, 2, nil)
	a, b := all[0], all[1]
	model := store.EmbeddingModel{Name: "m", Dim: 2, Fingerprint: []float32{1, 0}}
	for _, s := range all {
		if err := s.UseVectors(t.Context(), model, false); err != nil {
			t.Fatal(err)
		}
	}
	cloud := newCloud(t)
	m := put(t, a.Store, written("tea"))
	cloud.settle(all...)
	before := b.ScopeVersion("acme", ann.Scope())
	seen := b.VectorVersion("acme", ann.Scope())
	if err := a.PutVectors(t.Context(), []store.Memory{m}, [][]float32{{0.6, 0.8}}); err != nil {
		t.Fatal(err)
	}
	if list := must[[]store.Shipment](t)(a.Outbox(t.Context(), 10)); len(list) != 1 || list[0].Memory == nil || len(list[0].Memory.Vector) != 2 {
		t.Errorf("waiting with the vector: %+v", list)
	}
	m = must[store.Memory](t)(a.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	cloud.settle(all...)
	list, _, ok := b.ScopeChanges("acme", ann.Scope(), before)
	if !ok || len(list) != 1 || list[0].Importance != 1 {
		t.Errorf("the index hears %v, %+v", ok, list)
	}
	got := 0
	if _, ok := b.VectorChanges("acme", ann.Scope(), seen, func(id string, v []float32) {
		if id == m.ID && len(v) == 2 {
			got++
		}
	}); !ok || got != 1 {
		t.Errorf("%d vectors changed, %v", got, ok)
	}
	// Another text has no vector yet, and not the old one.
	must[store.Memory](t)(a.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text = "coffee"; return nil }))
	cloud.settle(all...)
	vectors := func() int {
		have, _, err := b.CountVectors(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return have
	}
	if n := vectors(); n != 0 {
		t.Errorf("%d vectors of other words", n)
	}
	// Nor does an older form bring it back.
	if err := b.AbsorbMemories(t.Context(), []store.SharedMemory{{Memory: m, Vector: []float32{0.6, 0.8}}}); err != nil {
		t.Fatal(err)
	}
	if n := vectors(); n != 0 {
		t.Errorf("an older form brings %d vectors", n)
	}
}

func TestErasedMemoriesStayErased(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 2, c)
	a, b := all[0], all[1]
	cloud := newCloud(t)
	m := written("lives at 12 Oak Lane")
	m.Evidence = []store.Evidence{{Session: "s1", Turn: 1, Quote: "I live at 12 Oak Lane", Time: c.now()}}
	m = put(t, a.Store, m)
	a.Finish(said(ann, "s1", "x1", "I live at 12 Oak Lane", c.now()))
	flush(t, a.Store)
	cloud.settle(all...)
	reflectSession(t, b.Store, "s1")
	cloud.settle(all...)
	b.SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "s2", Key: store.Hash{1}, Text: "lives at 12 Oak Lane", Refs: []store.Ref{{ID: m.ID, Revision: 1}}, Created: c.now(), LastUsed: c.now()}})
	flush(t, b.Store)
	cloud.settle(all...)
	// b goes on with it, and hasn't heard yet.
	c.add(time.Second)
	stale := must[store.Memory](t)(b.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	must[store.Memory](t)(a.ForgetMemory(t.Context(), m.ID, true))
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

// reflectSession moves a session's cursor to its end, as a reflection does.
func reflectSession(t testing.TB, s *Store, session string) {
	t.Helper()
	if _, ok, err := s.Enqueue(t.Context(), ann, session, store.TriggerExplicit); err != nil || !ok {
		t.Fatalf("enqueue: %v, %v", ok, err)
	}
	j, ok, err := s.Claim(t.Context(), "holder", time.Minute)
	if err != nil || !ok || j.Session != session {
		t.Fatalf("claim: %+v, %v, %v", j, ok, err)
	}
	must[store.Job](t)(s.Apply(t.Context(), j, store.Outcome{}))
}

func TestASessionGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 3, c)
	cloud := newCloud(t)
	x := func(i int) *store.Exchange {
		c.add(time.Second)
		x := said(ann, "s", fmt.Sprint("x", i), fmt.Sprint("word ", i), c.now())
		x.Turn = i
		x.Places = []store.Place{{Key: store.Hash{byte(i)}, Turn: i}}
		x.Anchors = []store.Anchor{{Key: store.Hash{100, byte(i)}, Session: "s", Length: 2 * i, Time: c.now()}}
		return x
	}
	for i := 1; i <= 6; i++ {
		s := all[i%3]
		s.Finish(x(i))
		flush(t, s.Store)
		if i == 4 {
			all[1].SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "s", Key: store.Hash{9}, Text: "block", Created: c.now(), LastUsed: c.now()}})
			cloud.settle(all...)
		}
	}
	cloud.settle(all...)
	for i, s := range all {
		list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))
		var ids []string
		for _, x := range list {
			ids = append(ids, x.ID)
		}
		if got := strings.Join(ids, " "); got != "x1 x2 x3 x4 x5 x6" {
			t.Errorf("sidecar %d has %s", i, got)
		}
		if n := len(must[[]store.Place](t)(s.Places(t.Context(), ann, "s"))); n != 6 {
			t.Errorf("sidecar %d has %d places", i, n)
		}
		for k := byte(1); k <= 6; k++ {
			if got := must[[][]store.Anchor](t)(s.Anchors(t.Context(), ann, []store.Hash{{100, k}})); len(got[0]) != 1 || got[0][0].Session != "s" || got[0][0].Length != 2*int(k) {
				t.Errorf("sidecar %d: anchor %d is %+v", i, k, got)
			}
		}
		if n := len(must[[]store.LedgerEntry](t)(s.LoadLedger(t.Context(), ann, "s"))); n != 1 {
			t.Errorf("sidecar %d has %d blocks", i, n)
		}
		sess := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
		if sess.LastSeq != 6 || sess.Turns != 6 || !sess.LastSeen.Equal(list[5].Finished) || sess.NewTokens != 6*list[0].Tokens {
			t.Errorf("sidecar %d: %+v", i, sess)
		}
	}
	// Taken in again, nothing moves.
	before := must[store.Session](t)(all[0].Session(t.Context(), ann, "s"))
	cloud.give(all[0].Store, func(a, b string) int { return cmp.Compare(b, a) })
	if d := gocmp.Diff(before, must[store.Session](t)(all[0].Session(t.Context(), ann, "s"))); d != "" {
		t.Errorf("taken in twice:\n%s", d)
	}
}

func TestASessionThatWasReflectedElsewhereIsNotReflectedAgain(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 2, c)
	a, b := all[0], all[1]
	cloud := newCloud(t)
	for i := range 4 {
		c.add(time.Second)
		all[i%2].Finish(said(ann, "s", fmt.Sprint("x", i), fmt.Sprint("word ", i), c.now()))
		flush(t, all[i%2].Store)
	}
	cloud.settle(all...)
	// Another turn at b, which a doesn't know, and a job there that waits.
	c.add(time.Second)
	b.Finish(said(ann, "s", "late", "late word", c.now()))
	flush(t, b.Store)
	if _, ok, err := b.Enqueue(t.Context(), ann, "s", store.TriggerIdle); err != nil || !ok {
		t.Fatal(ok, err)
	}
	j, ok, err := b.Claim(t.Context(), "b", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	reflectSession(t, a.Store, "s")
	cloud.settle(all...)
	for k, r := range cloud.records {
		if r.Kind != store.RecordExchange {
			continue
		}
		x := must[store.Exchange](t)(readExchange(r.Data[1:], nil))
		if late := x.ID == "late"; r.Reflected == late || (len(x.Events) > 0) != late {
			t.Errorf("%s is shared with %d events, reflected %v", k, len(x.Events), r.Reflected)
		}
	}
	sess := must[store.Session](t)(b.Session(t.Context(), ann, "s"))
	list := must[[]store.Exchange](t)(b.Exchanges(t.Context(), ann, "s", sess.Cursor, 0))
	if len(list) != 1 || list[0].ID != "late" || sess.NewTokens != list[0].Tokens {
		t.Errorf("material at b: %s of %+v", ids(list), sess)
	}
	if _, err := b.Apply(t.Context(), j, store.Outcome{}); !errors.Is(err, store.ErrStale) {
		t.Errorf("b applies what a has reflected: %v", err)
	}
	if j = must[store.Job](t)(b.Job(t.Context(), j.ID)); j.State != store.Done {
		t.Errorf("the job at b is %s", j.State)
	}
	reflectSession(t, b.Store, "s")
	cloud.settle(all...)
	for i, s := range all {
		sess := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
		if sess.Cursor != sess.LastSeq || sess.NewTokens != 0 {
			t.Errorf("sidecar %d: %+v", i, sess)
		}
		if due := must[[]store.Session](t)(s.Due(t.Context(), c.now().Add(time.Hour), 1)); len(due) != 0 {
			t.Errorf("sidecar %d: due %+v", i, due)
		}
	}
}

func TestAReflectedExchangeBehindANewOneIsNoMaterial(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 2, c)
	a, b := all[0], all[1]
	cloud := newCloud(t)
	b.Finish(said(ann, "s", "own", "own word", c.now()))
	flush(t, b.Store)
	c.add(time.Second)
	a.Finish(said(ann, "s", "theirs", "their word", c.now()))
	flush(t, a.Store)
	// a knows nothing of b's, and b takes a's in before and after its reflection.
	cloud.deliver(a.Store)
	cloud.give(b.Store, cmp.Compare[string])
	reflectSession(t, a.Store, "s")
	cloud.deliver(a.Store)
	cloud.give(b.Store, cmp.Compare[string])
	list := must[[]store.Exchange](t)(b.Exchanges(t.Context(), ann, "s", 0, 0))
	if len(list) != 2 || len(list[0].Events) != 1 || len(list[1].Events) != 0 {
		t.Errorf("material at b: %+v", list)
	}
	sess := must[store.Session](t)(b.Session(t.Context(), ann, "s"))
	if sess.Cursor != 0 || sess.NewTokens != list[0].Tokens {
		t.Errorf("%+v", sess)
	}
	reflectSession(t, b.Store, "s")
	if sess = must[store.Session](t)(b.Session(t.Context(), ann, "s")); sess.Cursor != 2 || sess.NewTokens != 0 {
		t.Errorf("%+v", sess)
	}
}

func TestAForeignErasureErasesWhatCameBefore(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 2, c)
	a, b := all[0], all[1]
	cloud := newCloud(t)
	coder := store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	old := fill(t, a.Store, ann, "s1", c.now())
	part := fill(t, b.Store, coder, "s2", c.now())
	kept := fill(t, b.Store, bob, "s3", c.now())
	b.Finish(said(ann, "s4", "before", "before the erasure", c.now()))
	flush(t, b.Store)
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
	b.Finish(said(ann, "s4", "after", "after the erasure", c.now()))
	flush(t, b.Store)
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

func TestForgottenAndLiftedInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, backwards := range []bool{false, true} {
		c := newClock()
		all := sidecars(t, 2, c)
		a, b := all[0], all[1]
		cloud := newCloud(t)
		m := put(t, a.Store, written("tea"))
		cloud.settle(all...)
		c.add(time.Second)
		must[store.Memory](t)(a.ForgetMemory(t.Context(), m.ID, false))
		var early []store.SharedRecord
		for _, sh := range must[[]store.Shipment](t)(a.Outbox(t.Context(), 10)) {
			if sh.Record != nil {
				early = append(early, *sh.Record)
			}
		}
		c.add(time.Second)
		must[store.Memory](t)(a.RestoreMemory(t.Context(), m.ID, 0))
		order := cmp.Compare[string]
		if backwards {
			order = func(a, b string) int { return cmp.Compare(b, a) }
		}
		cloud.deliver(a.Store)
		cloud.give(b.Store, order)
		// The tombstone comes late.
		if err := b.AbsorbRecords(t.Context(), early); err != nil {
			t.Fatal(err)
		}
		again := written("Tea!")
		again.ID = "other"
		again.Evidence = []store.Evidence{{Session: "s", Time: c.now().Add(-1500 * time.Millisecond), Quote: "tea"}}
		out := must[store.Job](t)(b.Note(t.Context(), ann, store.Outcome{Memories: []store.Memory{again}}))
		if len(out.Dropped) != 0 || activeTexts(t, b.Store, ann.Scope()) == "" {
			t.Errorf("backwards %v: b takes it for forgotten: %+v, live %q", backwards, out.Dropped, activeTexts(t, b.Store, ann.Scope()))
		}
		cloud.settle(all...)
	}
}

func TestDropCopy(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 2, c)
	a := all[0]
	cloud := newCloud(t)
	m := put(t, a.Store, written("tea"))
	must[store.Memory](t)(a.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text = "green tea"; return nil }))
	forgotten := put(t, a.Store, written("cake"))
	must[store.Memory](t)(a.ForgetMemory(t.Context(), forgotten.ID, false))
	c.add(time.Hour)
	if _, err := a.DropCopy(t.Context(), "acme", ann.Scope()); !errors.Is(err, ErrInUse) {
		t.Errorf("dropped before it was shipped: %v", err)
	}
	cloud.settle(all...)
	a.UseCopy("acme", ann.Scope())
	used := c.now()
	if _, err := a.DropCopy(t.Context(), "acme", ann.Scope()); !errors.Is(err, ErrInUse) {
		t.Errorf("dropped while it was used: %v", err)
	}
	c.add(time.Hour)
	a.Finish(said(ann, "s", "x", "hi", c.now()))
	flush(t, a.Store)
	cloud.settle(all...)
	if _, err := a.DropCopy(t.Context(), "acme", ann.Scope()); !errors.Is(err, ErrInUse) {
		t.Errorf("dropped under an open session: %v", err)
	}
	reflectSession(t, a.Store, "s")
	cloud.settle(all...)
	version := a.ScopeVersion("acme", ann.Scope())
	copies := must[[]store.Copy](t)(a.Copies(t.Context()))
	if len(copies) != 1 || !copies[0].Used.Equal(used) || copies[0].Bytes == 0 || copies[0].Scope != ann.Scope() {
		t.Errorf("copies %+v", copies)
	}
	freed, err := a.DropCopy(t.Context(), "acme", ann.Scope())
	if err != nil || freed != copies[0].Bytes {
		t.Fatalf("freed %d, %v, want %d", freed, err, copies[0].Bytes)
	}
	if _, _, ok := a.ScopeChanges("acme", ann.Scope(), version); ok {
		t.Error("an index doesn't hear of it")
	}
	if got := activeTexts(t, a.Store, ann.Scope()); got != "" {
		t.Errorf("left: %s", got)
	}
	if !a.Gone(forgotten.ID) {
		t.Error("it has forgotten what was forgotten")
	}
	if n, _ := a.OutboxDepth(); n != 0 {
		t.Errorf("dropping a copy ships %d rows", n)
	}
	// Taken in again it is as it was, and the shared store is told nothing.
	cloud.give(a.Store, cmp.Compare[string])
	if got := activeTexts(t, a.Store, ann.Scope()); got != "green tea" {
		t.Errorf("taken in again: %s", got)
	}
	if n, _ := a.OutboxDepth(); n != 0 {
		t.Errorf("taking it in ships %d rows", n)
	}
	if old := must[[]store.Memory](t)(a.Revisions(t.Context(), m.ID)); len(old) != 1 || old[0].Text != "tea" {
		t.Errorf("older forms %+v", old)
	}
	cfg := a.cfg
	a.stop()
	a = open(t, cfg)
	if copies = must[[]store.Copy](t)(a.Copies(t.Context())); len(copies) != 1 || !copies[0].Used.Equal(used) {
		t.Errorf("copies after a restart: %+v", copies)
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

func TestAnErasedSentenceLeavesEveryCopyOfOtherMemories(t *testing.T) {
	t.Parallel()
	c := newClock()
	all := sidecars(t, 2, c)
	a, b := all[0], all[1]
	cloud := newCloud(t)
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
	must[store.Memory](t)(a.ForgetMemory(t.Context(), m.ID, true))
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

func TestWhatIsFurtherHereIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := sidecars(t, 1, c)[0]
	cloud := newCloud(t)
	old := put(t, s.Store, written("tea"))
	x := said(ann, "s", "x", "hi", c.now())
	before := sharedExchange(x, false)
	s.Finish(x)
	flush(t, s.Store)
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
