package replay

import (
	"testing"
	"time"

	"hindsight/inject"
	"hindsight/store"
)

var asked = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return asked.Add(time.Duration(minutes) * time.Minute) }

func TestQuestions(t *testing.T) {
	events := []store.Event{
		{Kind: store.UserInput, Time: at(0), Turn: 1, Text: "first", ThirdParty: "a document"},
		{Kind: store.UserInput, Time: at(0), Turn: 2, Text: "with it"},
		{Kind: store.ToolCall, Time: at(1), Turn: 2, Text: "{}"},
		{Kind: store.ToolResult, Time: at(2), Turn: 2, Text: "a result"},
		{Kind: store.FinalOutput, Time: at(3), Turn: 2, Text: "answer"},
		{Kind: store.UserInput, Time: at(4), Turn: 3, Text: "second"},
	}
	got := Questions(events, []Exchange{{ID: "x1", Turn: 2, Started: at(0)}, {ID: "x2", Turn: 2, Started: at(2)}, {ID: "x3", Turn: 3, Started: at(4)}})
	if len(got) != 2 || got[0].ID != "x1" || got[0].Words != "with it" || len(got[0].Before) != 1 || len(got[0].Texts) != 3 {
		t.Fatalf("the first of %+v", got)
	}
	if q := got[1]; q.ID != "x3" || q.Words != "second" || len(q.Before) != 3 || len(q.Texts) != 7 {
		t.Errorf("the second: %+v", q)
	}
}

// A memory that was made later, or from the session itself, can't have been told.
func TestWhatCouldHaveBeenTold(t *testing.T) {
	ann := store.Owner{Tenant: "t", User: "ann"}
	memory := func(id, session string, made time.Time) store.Memory {
		return store.Memory{
			ID: id, Tenant: "t", Scope: ann.Scope(), State: store.Active, Type: store.UserFact, Importance: 0.7, CreatedAt: made,
			Text: "The boathouse key " + id + " hangs behind the barometer", Evidence: []store.Evidence{{Session: session, Turn: 1, Quote: "it hangs there, " + id}},
		}
	}
	e, err := New(t.Context(), inject.Config{Deadline: time.Minute}, []store.Memory{
		memory("known", "earlier", at(-60)), memory("own", "s", at(-60)), memory("later", "other", at(1)),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got, err := e.Session(t.Context(), Session{ID: "s", Owner: ann, Questions: []Question{
		{Exchange: Exchange{ID: "x1", Turn: 1, Started: at(0)}, Words: "Where is my boathouse key?"},
		{Exchange: Exchange{ID: "x2", Turn: 2, Started: at(2)}, Words: "And where is my boathouse key?"},
	}}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(a Answer) (out []string) {
		for _, m := range a.Now {
			out = append(out, m.ID)
		}
		return out
	}
	if one := ids(got[0]); len(one) != 1 || one[0] != "known" || got[0].Now[0].Score == 0 || got[0].Tokens == 0 {
		t.Errorf("the first answer: %+v", got[0])
	}
	if two := ids(got[1]); len(two) != 1 || two[0] != "later" {
		t.Errorf("the second answer, after a block that stands there already: %v", two)
	}
}
