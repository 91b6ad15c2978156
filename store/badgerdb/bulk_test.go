package badgerdb

import (
	"fmt"
	"strings"
	"testing"

	"hindsight/store"
)

// TestPutMemoriesIsPutMemoryManyTimes: over more than one transaction, with one
// text twice and one that stands already.
func TestPutMemoriesIsPutMemoryManyTimes(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	known := put(t, s.Store, written("memory 7"))
	var in []store.Memory
	for i := range 300 {
		m := written(fmt.Sprintf("memory %d", i))
		m.Evidence = []store.Evidence{{Session: "s", Turn: i, Quote: m.Text, Context: strings.Repeat("around it ", 500)}}
		in = append(in, m)
	}
	in = append(in, written("Memory  3"))
	out, err := s.PutMemories(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out[7].ID != known.ID || len(out[7].Evidence) != 0 {
		t.Errorf("memory 7 was written over: %+v", out[7])
	}
	if out[300].ID != out[3].ID {
		t.Errorf("one text has two ids: %s, %s", out[300].ID, out[3].ID)
	}
	all, version, err := s.ScopeMemories(t.Context(), "acme", in[0].Scope)
	if err != nil || len(all) != 300 {
		t.Fatalf("the scope holds %d memories, %v; want 300", len(all), err)
	}
	if now := s.ScopeVersion("acme", in[0].Scope); now != version || now == 0 {
		t.Errorf("scope version %d, then %d", version, now)
	}
	if _, err := s.PutMemories(t.Context(), []store.Memory{written("new"), {}}); err == nil || !strings.Contains(err.Error(), "memory 2") {
		t.Errorf("PutMemories with an empty one: %v", err)
	}
	if m, _, err := s.ScopeMemories(t.Context(), "acme", in[0].Scope); err != nil || len(m) != 300 {
		t.Errorf("a refused call wrote: %d memories, %v", len(m), err)
	}
}
