package extract

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestMutations changes one thing in each of the good answers: a digit, a
// name, a day, a negation, the quote or the turn, or turns round what is
// compared. The good answers are kept as they are, and nothing of the changed
// ones is.
func TestMutations(t *testing.T) {
	var rows []struct {
		Say, Type, Text, Quote string
		Wrong                  map[string]string
	}
	b, err := os.ReadFile("testdata/mutations.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 62 {
		t.Fatalf("%v, %d rows", err, len(rows))
	}
	for _, r := range rows {
		m := talk("user: "+r.Say, "assistant: Noted, thank you. 好的，明白了。")
		read := func(change map[string]any) Result {
			it := fact(map[string]any{"type": r.Type, "text": r.Text, "quote": r.Quote})
			for k, v := range change {
				it[k] = v
			}
			res, err := Read(answer(t, it), m)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		if res := read(nil); len(res.Candidates) != 1 || res.Candidates[0].Text != dated(r.Text, "", m.Events[0].Time) && !strings.Contains(res.Candidates[0].Text, r.Quote) {
			t.Errorf("%s\n is good, and: %+v %+v", r.Text, res.Candidates, res.Dropped)
		}
		wrong := map[string]map[string]any{
			"turn":         {"events": []string{"e2"}},
			"missing turn": {"events": []string{"e7"}},
			"quote":        {"quote": changed(r.Quote)},
		}
		for kind, text := range r.Wrong {
			wrong[kind] = map[string]any{"text": text}
		}
		for kind, change := range wrong {
			res := read(change)
			// What the user denied may be kept in the user's own words instead.
			own := len(res.Candidates) == 1 && strings.Contains(r.Say, res.Candidates[0].Text)
			if len(res.Candidates) > 0 && !(kind == "negation" && own) {
				t.Errorf("%s: %v\n is kept as %q", kind, change, res.Candidates[0].Text)
			}
			if len(res.Dropped) == 0 {
				t.Errorf("%s: %v\n nothing says why", kind, change)
			}
		}
	}
}

// changed is a quote with its middle character changed.
func changed(quote string) string {
	r := []rune(quote)
	if at := len(r) / 2; r[at] == 'z' || r[at] == ' ' || r[at] == '\'' {
		r[at+1] = 'q'
	} else {
		r[at] = 'z'
	}
	return string(r)
}
