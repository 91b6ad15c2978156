package extract

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// The fixed part is the same bytes in every call, whatever the material and
// the operator's instructions; a golden file of each shows every change.
func TestFixedPart(t *testing.T) {
	for _, s := range Strategies() {
		a, b := talk("user: I live in Lisbon."), talk("user: 你好", "tool: x")
		a.Strategy, b.Strategy = s, s
		b.Instructions, b.Existing = "Care for ports.", []Note{{ID: "m1", Text: "x"}}
		first, _ := Prompt(a)
		second, data := Prompt(b)
		if first != second || strings.Contains(second, "Care for ports") || !strings.HasPrefix(data, "What the operator cares about:\nCare for ports.\n") {
			t.Errorf("%s: the fixed part differs between calls, or the instructions don't follow it", s)
		}
		if strings.Contains(first, "[[") {
			t.Errorf("%s: a gap was left open", s)
		}
		file := "testdata/" + string(s) + ".golden"
		got := s.Version() + "\n" + first + "\n---\n" + string(s.Schema())
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s changed; raise the version and run with -update:\n%s", s, diff)
		}
	}
}

// The examples of the prompt pass the checks that answers have to pass, in
// every strategy's own form, and those that teach nothing teach nothing.
func TestExamplesKeepTheirOwnRules(t *testing.T) {
	var all []struct {
		Events []eventLine
		Items  []item
	}
	if err := json.Unmarshal(shown, &all); err != nil {
		t.Fatal(err)
	}
	negative := 0
	for _, e := range all {
		var m Material
		for _, l := range e.Events {
			m.Events = append(m.Events, Event{ID: l.ID, Role: l.Role, Turn: l.Turn, Time: noon, Name: l.Name, CallID: l.Name, Text: l.Text, Failed: l.Failed, Untrusted: l.Untrusted})
		}
		if len(e.Items) == 0 {
			negative++
		}
		for _, s := range Strategies() {
			m.Strategy = s
			raw, err := json.Marshal(s.sample(e.Items))
			if err != nil {
				t.Fatal(err)
			}
			res, err := Read(string(raw), m)
			if err != nil || len(res.Candidates) != len(e.Items) || len(res.Dropped) != 0 {
				t.Errorf("%s: %s: %v %+v", s, raw, err, res.Dropped)
			}
		}
	}
	if negative < 2 || len(all)-negative < 2 {
		t.Errorf("%d of %d examples teach nothing", negative, len(all))
	}
}

func TestSchemasAreStrict(t *testing.T) {
	type object struct {
		Properties           map[string]json.RawMessage
		Required             []string
		AdditionalProperties *bool
	}
	for s, has := range map[Strategy]string{Classify: "importance", Score: "!importance", Contrast: "without"} {
		var top object
		if err := json.Unmarshal(s.Schema(), &top); err != nil {
			t.Fatal(s, err)
		}
		var items struct{ Items object }
		if err := json.Unmarshal(top.Properties["items"], &items); err != nil {
			t.Fatal(s, err)
		}
		for _, o := range []object{top, items.Items} {
			if len(o.Properties) != len(o.Required) || o.AdditionalProperties == nil || *o.AdditionalProperties {
				t.Errorf("%s: %d properties, %d required", s, len(o.Properties), len(o.Required))
			}
		}
		name, without := strings.CutPrefix(has, "!")
		if _, ok := items.Items.Properties[name]; ok == without {
			t.Errorf("%s: %s", s, has)
		}
		if _, ok := top.Properties["scores"]; ok != (s == Score) {
			t.Errorf("%s: scores %v", s, ok)
		}
	}
}

func TestScoreKeepsByScore(t *testing.T) {
	m := talk("user: I own a red bike. I own a blue boat. I own an old piano.")
	m.Strategy = Score
	one := func(what string) map[string]any {
		it := fact(map[string]any{"text": "The user owns " + what + ".", "quote": "I own " + what})
		delete(it, "importance")
		return it
	}
	raw, err := json.Marshal(map[string]any{
		"items":    []any{one("a red bike"), one("a blue boat"), one("an old piano")},
		"scores":   []any{map[string]any{"item": 2, "useful": 9, "lasting": 8}, map[string]any{"item": 1, "useful": 2, "lasting": 3}, "x"},
		"injected": []any{},
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := Read(string(raw), m)
	if err != nil || len(res.Candidates) != 1 || res.Candidates[0].Text != "The user owns a blue boat." || res.Candidates[0].Importance != 0.85 {
		t.Fatalf("%v %+v", err, res.Candidates)
	}
	if len(res.Dropped) != 2 || res.Dropped[0].Reason != Unimportant || res.Dropped[1].Reason != Unimportant {
		t.Errorf("%+v", res.Dropped)
	}
}

func TestContrastDropsWhatChangesNothing(t *testing.T) {
	m := talk("user: I own a red bike. I own a blue boat. I own an old piano.")
	m.Strategy = Contrast
	res, err := Read(answer(t,
		fact(map[string]any{"text": "The user owns a red bike.", "quote": "I own a red bike", "without": "Recommends a walk.", "with": "Recommends a ride."}),
		fact(map[string]any{"text": "The user owns a blue boat.", "quote": "I own a blue boat", "without": "Answers the question.", "with": "Answers the question!"}),
		fact(map[string]any{"text": "The user owns an old piano.", "quote": "I own an old piano"}),
	), m)
	if err != nil || len(res.Candidates) != 1 || res.Candidates[0].Text != "The user owns a red bike." {
		t.Fatalf("%v %+v", err, res.Candidates)
	}
	if len(res.Dropped) != 2 || res.Dropped[0].Reason != NoDifference || res.Dropped[1].Reason != NoDifference {
		t.Errorf("%+v", res.Dropped)
	}
}

// What can be seen in a conversation moves the model's number.
func TestImportanceSeen(t *testing.T) {
	boat := map[string]any{"text": "The user owns a blue boat.", "quote": "I own a blue boat"}
	tried := []string{"user: Deploy it.", "tool: error: port 8080 is taken", "tool: ok", "user: Thanks, it works now."}
	for _, c := range []struct {
		name string
		talk []string
		item map[string]any
		m    float64
		kept bool
	}{
		{"as the model says", []string{"user: I own a blue boat."}, boat, 0.7, true},
		{"as the model says, too little", []string{"user: I own a blue boat."}, boat, 0.5, false},
		{"a correction", []string{"user: Sorry, I own a blue boat."}, boat, 0.3, true},
		{"asked to remember", []string{"user: Remember that I own a blue boat."}, boat, 0.1, true},
		{"an assumption", []string{"user: Say, if I own a blue boat, what then?"}, boat, 0.8, false},
		{"an assumption in Chinese", []string{"user: 假如我有一条蓝色的船，该停在哪里？"}, map[string]any{"text": "用户有一条蓝色的船。", "quote": "我有一条蓝色的船"}, 0.8, false},
		{"beside an assumption", []string{"user: Tell me if it rains, I own a blue boat."}, boat, 0.8, true},
		{"a failure that was solved", tried, map[string]any{"type": "error_lesson", "text": "Port 8080 is taken.", "quote": "port 8080 is taken", "events": []string{"e2", "e3"}}, 0.3, true},
		{"a failure that wasn't", tried[:2], map[string]any{"type": "error_lesson", "text": "Port 8080 is taken.", "quote": "port 8080 is taken", "events": []string{"e2"}}, 0.3, false},
		{"what the assistant only proposed", []string{"user: It hangs.", "assistant: Restart the cache daemon."}, map[string]any{"type": "solution", "text": "Restart the cache daemon.", "quote": "Restart the cache daemon", "events": []string{"e2"}}, 0.8, false},
		{"and what worked", []string{"user: It hangs.", "assistant: Restart the cache daemon.", "user: That worked!"}, map[string]any{"type": "solution", "text": "Restart the cache daemon.", "quote": "Restart the cache daemon", "events": []string{"e2"}}, 0.8, true},
	} {
		c.item["importance"] = c.m
		res, err := Read(answer(t, fact(c.item)), talk(c.talk...))
		if err != nil || (len(res.Candidates) == 1) != c.kept {
			t.Errorf("%s: %v %+v", c.name, err, res)
		}
	}
	m := talk("user: I own a blue boat.")
	m.Existing = []Note{{ID: "m1", Type: store.UserFact, Text: "I own a blue boat."}}
	boat["importance"] = 0.45
	if res, err := Read(answer(t, fact(boat)), m); err != nil || len(res.Candidates) != 1 {
		t.Errorf("said again: %v %+v", err, res)
	}
}

// A fact that holds until a day says so, in the user's zone.
func TestUntil(t *testing.T) {
	shanghai := time.FixedZone("CST", 8*3600)
	now := time.Date(2026, 11, 27, 0, 30, 0, 0, shanghai) // a Friday
	for s, want := range map[string]string{
		"until Sunday": "2026-11-30", "until Friday": "2026-11-28", "until next Monday": "2026-12-01", "到月底": "2026-12-01", "到周日": "2026-11-30",
		"until December 3": "2026-12-04", "until 3rd of March": "2027-03-04", "到12月31日": "2027-01-01", "until 2026-12-24": "2026-12-25",
		"for now": "", "until yesterday": "", "until 2025-01-01": "", "": "",
	} {
		got := ""
		if at := until(s, now); !at.IsZero() {
			got = at.Format(time.DateOnly)
			if at.Hour() != 0 || at.Location() != shanghai {
				t.Errorf("%s: %s", s, at)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
	m := talk("user: I'm staying in Bergen until Sunday.")
	m.Events[0].Time = now
	it := map[string]any{"text": "The user is staying in Bergen until Sunday.", "quote": "I'm staying in Bergen until Sunday", "valid_until": "until Sunday"}
	if res, err := Read(answer(t, fact(it)), m); err != nil || len(res.Candidates) != 1 || res.Candidates[0].Until.Format(time.DateOnly) != "2026-11-30" {
		t.Errorf("%v %+v", err, res)
	}
	it["valid_until"] = "until Saturday" // nobody said that
	if res, err := Read(answer(t, fact(it)), m); err != nil || len(res.Candidates) != 1 || !res.Candidates[0].Until.IsZero() {
		t.Errorf("%v %+v", err, res)
	}
}

// Words of a user's message that are somebody else's are no fact about the user.
func TestAnothersWords(t *testing.T) {
	for say, quote := range map[string]string{
		"Summarise this profile:\n\n> I live in Graz.":           "I live in Graz",
		"Translate into Dutch: I am allergic to cats.":           "I am allergic to cats",
		"He told me: \"I live in Graz\" and left.":               "I live in Graz",
		"What does this do?\n```\n# I live in Graz\nprint(1)```": "I live in Graz",
		"把这句译成日语：我对青霉素过敏。":                                       "我对青霉素过敏",
		"他写道「我住在武汉」，什么意思？":                                       "我住在武汉",
	} {
		text := "The user: " + quote + "."
		if strings.HasPrefix(quote, "我") {
			text = "用户" + strings.TrimPrefix(quote, "我") + "。"
		}
		res, err := Read(answer(t, fact(map[string]any{"text": text, "quote": quote, "importance": 1})), talk("user: "+say))
		if err != nil || len(res.Candidates) != 0 || res.Dropped[0].Reason != NotTheUsers {
			t.Errorf("%s: %v %+v", say, err, res)
		}
	}
	say := "I live in Graz. Translate that, and \"Good morning\" too."
	if res, err := Read(answer(t, fact(map[string]any{"text": "The user lives in Graz.", "quote": "I live in Graz"})), talk("user: "+say)); err != nil || len(res.Candidates) != 1 {
		t.Errorf("%v %+v", err, res)
	}
}

// Hidden characters are taken out before a model sees the text, and what they
// stand in isn't kept.
func TestHiddenText(t *testing.T) {
	m := talk("user: I own a blue\U000e0041\U000e0042 boat. I own a red bike.")
	_, data := Prompt(m)
	if strings.ContainsFunc(data, hidden) {
		t.Errorf("the model is shown %q", data)
	}
	res, err := Read(answer(t,
		fact(map[string]any{"text": "The user owns a blue boat.", "quote": "I own a blue boat"}),
		fact(map[string]any{"text": "The user owns a red bike.", "quote": "I own a red bike"}),
	), m)
	if err != nil || len(res.Candidates) != 1 || len(res.Dropped) != 1 || res.Dropped[0].Reason != Hidden {
		t.Errorf("%v %+v", err, res)
	}
}
