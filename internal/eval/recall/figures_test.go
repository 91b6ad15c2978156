package recall

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/inject"
	"hindsight/store"
)

// TestFiguresCount goes by hand through four questions: one found at rank 1 and
// kept, one of two pieces found at rank 6 and not shown, one found at rank 2
// where something else is shown, and one without an answer that is shown
// something.
func TestFiguresCount(t *testing.T) {
	a, b, c, none := &Question{Category: "a"}, &Question{Category: "b"}, &Question{Category: "b"}, &Question{Category: "n"}
	open := []answer{
		{q: a, ranks: []int{1}, shown: true}, {q: b, ranks: []int{6, 0}, shown: true}, {q: c, ranks: []int{2}, shown: true}, {q: none, shown: true},
	}
	gated := []answer{
		{q: a, ranks: []int{1}, shown: true}, {q: b, ranks: []int{0, 0}}, {q: c, ranks: []int{0}, shown: true}, {q: none, shown: true, words: true},
	}
	plain := figures(open, nil)
	if d := cmp.Diff(map[string]float64{"1": 0.3333, "5": 0.6667, "10": 0.8333, "50": 0.8333}, plain.RAt); d != "" {
		t.Errorf("recall (-want +got):\n%s", d)
	}
	if plain.MRR != 0.5556 || plain.Gate || plain.Injected != nil || plain.Questions != 4 {
		t.Errorf("without the gate: %+v", plain)
	}
	r := figures(gated, open)
	if d := cmp.Diff(&Injected{Answerable: 0.6667, Right: 0.3333, FindableKept: 0.5, Unanswerable: 1}, r.Injected); d != "" {
		t.Errorf("injected (-want +got):\n%s", d)
	}
	if got := r.Category["b"].Injected; got.Answerable != 0.5 || got.FindableKept != 0 || r.Category["n"].Injected.Unanswerable != 1 {
		t.Errorf("by category: %+v", r.Category)
	}
	if r.Degraded != 1 || !r.Gate {
		t.Errorf("with the gate: %+v", r)
	}
}

// broken is an engine whose store is away.
type broken struct{}

func (broken) Plan(context.Context, inject.Conversation) inject.Plan {
	return inject.Plan{Status: inject.Skipped, Reason: "store"}
}

func (broken) Search(context.Context, inject.SearchRequest) (inject.SearchResult, error) {
	return inject.SearchResult{}, nil
}

// TestRecallThatDidNotRunIsNoFigure: silence because of a failure must not
// count as silence of the gate.
func TestRecallThatDidNotRunIsNoFigure(t *testing.T) {
	set := &Set{Corpora: []Corpus{{Name: "c", Units: []Unit{{ID: "1", Text: "tea"}}, Questions: []Question{{Text: "what?", Relevant: []string{"1"}}}}}}
	im, err := Import(t.Context(), keeps{}, set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), im, broken{}, "bounded", "none"); err == nil {
		t.Error("a recall that didn't run was measured")
	}
	if _, err := Import(t.Context(), keeps{errors.New("full")}, set); err == nil {
		t.Error("a failed write was imported")
	}
}

type keeps struct{ err error }

func (k keeps) PutMemories(_ context.Context, ms []store.Memory) ([]store.Memory, error) {
	return ms, k.err
}

// TestUnitsBecomeMemories: a unit of a session is its evidence between its
// neighbours of the same session.
func TestUnitsBecomeMemories(t *testing.T) {
	c := Corpus{Name: "c", Units: []Unit{
		{ID: "1", Session: "s", Speaker: "Ann", Text: "tea"}, {ID: "2", Session: "other", Text: "between"},
		{ID: "3", Session: "s", Speaker: "Bob", Text: "coffee"}, {ID: "4", Text: "alone"},
	}}
	got := memories(c)
	if e := got[2].Evidence[0]; got[2].Text != "Bob: coffee" || e.Turn != 1 || e.Session != "s" || e.Quote != "Bob: coffee" || e.Context != "Ann: tea\nBob: coffee" {
		t.Errorf("the third: %+v", got[2])
	}
	if len(got[3].Evidence) != 0 || got[3].Scope != "user:c" {
		t.Errorf("one without a session: %+v", got[3])
	}
}
