package extract

import (
	"strings"
	"testing"

	"hindsight/store"
)

// The second question is about what failed, with its reason, and shows the
// turns it is about; a leak isn't asked about again.
func TestOnceAsksAboutWhatFailed(t *testing.T) {
	m := talk("user: I own a red bike.", "assistant: Nice.", "user: I own 3 blue boats.", "user: My password is hunter22.")
	res, err := Read(answer(t,
		fact(map[string]any{"text": "The user owns a red bike.", "quote": "I own a red bike"}),
		fact(map[string]any{"text": "The user owns 4 blue boats.", "quote": "I own 3 blue boats", "events": []string{"e3"}}),
		fact(map[string]any{"text": "The user's password is hunter22.", "quote": "My password is hunter22", "events": []string{"e4"}}),
		fact(map[string]any{"text": "The user owns 9 planes.", "quote": "I own 9 planes", "events": []string{"e3"}, "importance": 0.2}),
	), m)
	if err != nil || len(res.Doubts) != 1 || res.Doubts[0].Reason != NewNumber {
		t.Fatalf("%v %+v", err, res.Doubts)
	}
	fixed, data, ok := Once(m, res.Doubts)
	if first, _ := Prompt(m); !ok || fixed != first {
		t.Error("the fixed part isn't the first question's")
	}
	for part, want := range map[string]bool{"blue boats": true, "red bike": false, "hunter22": false, again[NewNumber]: true, "planes": false} {
		if strings.Contains(data, part) != want {
			t.Errorf("%q shown: %v\n%s", part, !want, data)
		}
	}
	if _, _, ok := Once(m, nil); ok {
		t.Error("asks about nothing")
	}
}

// Only what was in doubt can be mended; it takes the place of the text that had
// its quote beside it, and is never there twice.
func TestMended(t *testing.T) {
	m := talk("user: I own 3 blue boats from Batavus and a red bike.")
	thin := fact(map[string]any{"text": "The user owns blue boats.", "quote": "I own 3 blue boats from Batavus"})
	better := fact(map[string]any{"text": "The user owns 3 blue boats from Batavus.", "quote": "I own 3 blue boats from Batavus"})
	more := fact(map[string]any{"text": "The user owns a red bike.", "quote": "and a red bike"})
	read := func(items ...map[string]any) Result {
		res, err := Read(answer(t, items...), m)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := read(thin)
	if len(first.Doubts) != 1 || first.Doubts[0].Reason != Lost || len(first.Candidates) != 1 || !first.Candidates[0].Thin {
		t.Fatalf("%+v", first)
	}
	for name, c := range map[string]struct {
		second []map[string]any
		want   string
	}{
		"better":              {[]map[string]any{better}, "The user owns 3 blue boats from Batavus."},
		"thin again":          {[]map[string]any{thin}, `The user owns blue boats ("I own 3 blue boats from Batavus").`},
		"something else":      {[]map[string]any{more}, `The user owns blue boats ("I own 3 blue boats from Batavus").`},
		"nothing":             {nil, `The user owns blue boats ("I own 3 blue boats from Batavus").`},
		"better, and another": {[]map[string]any{better, more}, "The user owns 3 blue boats from Batavus."},
	} {
		got := Mended(first, read(c.second...))
		if len(got.Candidates) != 1 || got.Candidates[0].Text != strings.Replace(c.want, ` ("I own 3 blue boats from Batavus").`, `. ("I own 3 blue boats from Batavus")`, 1) || got.Doubts != nil {
			t.Errorf("%s: %+v", name, got.Candidates)
		}
		first = read(thin)
	}
	if first.Candidates[0].Type != store.UserFact {
		t.Error("the first answer was changed")
	}
}
