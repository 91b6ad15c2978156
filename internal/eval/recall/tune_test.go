package recall

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"hindsight/inject"
	"hindsight/store"
)

// graded is an engine whose every question finds one memory, its own, and shows
// it where the question's number reaches the gate's setting.
type graded struct{ gate float64 }

func (g graded) Plan(_ context.Context, c inject.Conversation) inject.Plan {
	words := strings.Fields(c.Words)
	if n, err := strconv.ParseFloat(words[1], 64); err != nil || n < g.gate {
		return inject.Plan{Status: inject.None}
	}
	return inject.Plan{Status: inject.Injected, New: []store.Ref{{ID: words[0]}}}
}

func (graded) Search(_ context.Context, r inject.SearchRequest) (inject.SearchResult, error) {
	return inject.SearchResult{Results: []inject.Scored{{Memory: store.Memory{ID: strings.Fields(r.Query)[0]}}}}, nil
}

func asked(text string, relevant ...string) Question { return Question{Text: text, Relevant: relevant} }

// TestTuneProposesTheStrictestThatKeepsEnough: own questions at 0.1 to 1.0 in
// each of two corpora, and four foreign ones.
func TestTuneProposesTheStrictestThatKeepsEnough(t *testing.T) {
	set := &Set{Name: "made"}
	for _, name := range []string{"a", "b"} {
		c := Corpus{Name: name, Units: []Unit{{ID: "u"}}}
		for i := 1; i <= 10; i++ {
			c.Questions = append(c.Questions, asked("m-"+name+" "+strconv.FormatFloat(float64(i)/10, 'f', 1, 64), "u"))
		}
		c.Questions = append(c.Questions, asked("m-"+name+" 0.35"), asked("m-"+name+" 0.15"))
		set.Corpora = append(set.Corpora, c)
	}
	im := &Imported{set: set, memory: map[key]string{{"a", "u"}: "m-a", {"b", "u"}: "m-b"}}
	tuned, err := Tune(t.Context(), im, []float64{0.1, 0.2, 0.3, 0.4}, 0.8, func(g float64) (Engine, error) { return graded{g}, nil })
	if err != nil {
		t.Fatal(err)
	}
	want := Point{Gate: 0.3, Precision: 0.8889, Recall: 0.8, FindableKept: 0.8, Unanswerable: 0.5}
	if tuned.Proposal == nil || *tuned.Proposal != want || tuned.HeldOut == nil || *tuned.HeldOut != want {
		t.Errorf("proposal %+v, held out %+v, want %+v", tuned.Proposal, tuned.HeldOut, want)
	}
	if p := tuned.Points[0]; p.FindableKept != 1 || p.Unanswerable != 1 {
		t.Errorf("the open end: %+v", p)
	}
	var chart bytes.Buffer
	if err := tuned.Chart(&chart); err != nil || strings.Count(chart.String(), "<- proposed") != 1 {
		t.Errorf("chart: %v\n%s", err, chart.String())
	}
	none, err := Tune(t.Context(), im, []float64{2}, 0.8, func(g float64) (Engine, error) { return graded{g}, nil })
	if err != nil || none.Proposal != nil || none.HeldOut != nil {
		t.Errorf("a gate that is shut was proposed: %+v, %v", none, err)
	}
}

// TestHalves: corpora are never cut, a single one is.
func TestHalves(t *testing.T) {
	one := &Imported{set: &Set{Corpora: []Corpus{{Questions: []Question{{}, {}, {}}}}}}
	n := 0
	for _, h := range one.halves() {
		n += h
	}
	if n != 1 {
		t.Errorf("%d of three questions in the second half", n)
	}
}
