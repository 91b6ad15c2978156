package inject

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// Where nothing is kept the plan comes at once, the same as after a recall; where
// something is, it doesn't.
func TestAtOnce(t *testing.T) {
	d := &disk{}
	e := d.engine(t, Config{})
	c := talk("s", "what is my dog called?")
	c.Exchange = "x1"
	if _, ok := e.AtOnce(c, false); ok {
		t.Error("a plan before anything is read")
	}
	want := e.Plan(t.Context(), c)
	got, ok := e.AtOnce(c, false)
	if !ok || got.Status != None || got.result != want.result {
		t.Errorf("nothing is kept: %t %+v, want %+v", ok, got, want)
	}
	want.why.Considered, got.why.Considered = nil, nil // none in both
	if diff := cmp.Diff(*want.why, *got.why); diff != "" {
		t.Errorf("the record differs: %s", diff)
	}

	d.put(store.Memory{ID: "m1", Type: store.UserFact, Text: "My dog is called Rex."})
	if _, ok := e.AtOnce(c, false); ok {
		t.Error("a plan at once though a memory has come")
	}
	p := e.Plan(t.Context(), c)
	if p.Status != Injected {
		t.Fatalf("a memory has come: %+v", p)
	}
	e.Commit(p)

	d.put(store.Memory{ID: "m1", Type: store.UserFact, Text: "My dog is called Rex.", State: store.Archived})
	next := talk("s", "what is my dog called?", "Rex.", "thank you, what else?")
	e.Plan(t.Context(), next) // reads the scope anew
	if got, ok = e.AtOnce(next, false); !ok || got.Status != Replayed || len(got.Blocks) != 1 {
		t.Errorf("the memory is archived: %t %+v", ok, got)
	}
	d.put(store.Memory{ID: "m2", Type: store.UserFact, Text: "My cat is called Tom."})
	if got, ok = e.AtOnce(next, true); !ok || got.Status != Replayed || got.Reason != "deadline" || len(got.Blocks) != 1 {
		t.Errorf("too late for a recall: %t %+v", ok, got)
	}
	e = d.engine(t, Config{}) // as after a restart
	e.Plan(t.Context(), talk("other", "hello"))
	if _, ok := e.AtOnce(next, false); ok {
		t.Error("a plan before the session's blocks are read")
	}
}
