package badgerdb

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// cloud is a shared store as far as a directory sees it: it holds what sidecars
// deliver, memories merged and of a record the last form that came, and gives all
// of it.
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

// newFleet is n sidecars on one clock, and what they share.
func newFleet(t testing.TB, n int) (*clock, []running, *cloud) {
	t.Helper()
	c := newClock()
	return c, sidecars(t, n, c), newCloud(t)
}

// sidecars opens directories with one identity key.
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
