package reflecteval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hindsight/store"
)

func memory(t store.Type, text string) store.Memory {
	return store.Memory{Type: t, Text: text, State: store.Active}
}

func TestJudge(t *testing.T) {
	one := 1
	porto := Expected{Types: []store.Type{store.UserFact}, Must: [][]string{{"Porto", "波尔图"}, {"lives"}}, MustNot: []string{"Leeds"}}
	for name, c := range map[string]struct {
		c    Case
		o    Outcome
		want Counts
	}{
		"found, width and case folded": {Case{Expected: []Expected{porto}}, Outcome{Memories: []store.Memory{memory(store.UserFact, "The user LIVES in ｐｏｒｔｏ.")}}, Counts{Cases: 1, Found: 1}},
		"a group without a phrase":     {Case{Expected: []Expected{porto}}, Outcome{Memories: []store.Memory{memory(store.UserFact, "Porto is nice.")}}, Counts{Cases: 1, Missed: 1}},
		"of another type":              {Case{Expected: []Expected{porto}}, Outcome{Memories: []store.Memory{memory(store.EventType, "The user lives in Porto.")}}, Counts{Cases: 1, Missed: 1}},
		"with what it must not say":    {Case{Expected: []Expected{porto}}, Outcome{Memories: []store.Memory{memory(store.UserFact, "The user lives in Porto, not in Leeds.")}}, Counts{Cases: 1, Missed: 1}},
		"said again":                   {Case{Expected: []Expected{porto}}, Outcome{Prior: []store.Memory{memory(store.UserFact, "The user lives in Porto.")}}, Counts{Cases: 1, Found: 1}},
		"no longer active": {Case{Expected: []Expected{porto}}, Outcome{Memories: []store.Memory{{Type: store.UserFact, Text: "The user lives in Porto.", State: store.Superseded}}},
			Counts{Cases: 1, Missed: 1}},
		"too many":     {Case{MaxMemories: &one}, Outcome{Memories: []store.Memory{memory(store.UserFact, "a"), memory(store.EventType, "b"), memory(store.EventType, "c")}}, Counts{Cases: 1, Beyond: 2}},
		"nothing kept": {Case{ExpectNothing: true}, Outcome{}, Counts{Cases: 1, NothingCases: 1}},
		"something kept": {Case{ExpectNothing: true}, Outcome{Memories: []store.Memory{memory(store.UserFact, "a"), memory(store.UserFact, "b")}},
			Counts{Cases: 1, NothingCases: 1, NothingBroken: 1}},
		"a secret in the evidence": {Case{MustNotStore: []string{"hunter2", "k-1"}}, Outcome{Memories: []store.Memory{{
			Type: store.UserFact, Text: "The user has a password.", State: store.Quarantined, Evidence: []store.Evidence{{Quote: "it is Hunter2"}},
		}}}, Counts{Cases: 1, Stored: 1}},
		"replaced, not replaced, wrongly replaced": {Case{Supersedes: []int{0, 1}}, Outcome{Prior: []store.Memory{
			{State: store.Superseded}, {State: store.Active}, {State: store.Superseded}, {State: store.Active},
		}}, Counts{Cases: 1, Superseded: 1, SupersedeMissed: 1, SupersedeWrong: 1}},
	} {
		if diff := cmp.Diff(c.want, Judge(c.c, c.o).Counts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// product reflects by a function.
type product func(c Case) (Outcome, error)

func (p product) Reflect(_ context.Context, c Case) (Outcome, error) { return p(c) }

func TestMeasureCountsByLanguageAndType(t *testing.T) {
	want := func(typ store.Type) []Expected {
		return []Expected{{Types: []store.Type{typ}, Must: [][]string{{"x"}}}}
	}
	cases := []Case{
		{ID: "1", Lang: "en", Expected: want(store.UserFact)}, {ID: "2", Lang: "zh", Expected: want(store.Preference)},
		{ID: "3", Lang: "en", Expected: want(store.Solution)},
	}
	rep, err := Measure(t.Context(), "m", cases, 2, product(func(c Case) (Outcome, error) {
		if c.ID == "3" {
			return Outcome{}, errors.New("no such model")
		}
		return Outcome{Memories: []store.Memory{memory(store.UserFact, "x")}}, nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	langs := map[string]*Language{
		"en": {Counts{Cases: 2, Found: 1, Missed: 1, Failed: 1}, map[store.Type]Counts{store.UserFact: {Found: 1}, store.Solution: {Missed: 1}}},
		"zh": {Counts{Cases: 1, Missed: 1}, map[store.Type]Counts{store.Preference: {Missed: 1}}},
	}
	if diff := cmp.Diff(langs, rep.Languages); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Counts{Cases: 3, Found: 1, Missed: 2, Failed: 1}, rep.Total, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	var out strings.Builder
	if err := rep.Table(&out); err != nil || !strings.Contains(out.String(), "3: no answer: no such model; missed x") {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"cases":[]}`:           "none in",
		`[]`:                     "cannot unmarshal",
		`{"cases":[{"id":"a"}]}`: "case 0 (a): needs an id",
		`{"cases":[{"id":"a","messages":[{"role":"me"}]}]}`:                                                "messages[0].role",
		`{"cases":[{"id":"a","messages":[{"role":"user"}],"supersedes":[0]}]}`:                             "supersedes 0",
		`{"cases":[{"id":"a","messages":[{"role":"user"}],"expected":[{}]}]}`:                              "expected[0]",
		`{"cases":[{"id":"a","messages":[{"role":"user"}],"prior_memories":[{"type":"noise"}]}]}`:          "prior_memories[0]",
		`{"cases":[{"id":"a","messages":[{"role":"user"}]},{"id":"a","messages":[{"role":"assistant"}]}]}`: "twice",
	} {
		file := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
