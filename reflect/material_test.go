package hreflect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/reflect/extract"
	"hindsight/store"
)

var start = time.Date(2026, 11, 26, 16, 30, 0, 0, time.UTC) // half past midnight on the 27th in Shanghai

func runner(t *testing.T, cfg Config) *Runner {
	t.Helper()
	cfg.ModelName = RulesModel
	r, err := New(cfg, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func input(turn int, text string) store.Event {
	return store.Event{Kind: store.UserInput, Time: start, Turn: turn, Text: text}
}

func output(turn int, text string) store.Event {
	return store.Event{Kind: store.FinalOutput, Time: start, Turn: turn, Text: text}
}

// seen is what a material shows, a line an event.
func seen(events []extract.Event) []string {
	var out []string
	for _, e := range events {
		l := e.ID + " " + string(e.Role)
		if e.Untrusted {
			l += "?"
		}
		out = append(out, l+": "+e.Text)
	}
	return out
}

func TestWhatIsMaterial(t *testing.T) {
	r := runner(t, Config{Strip: func(s string) string { return strings.ReplaceAll(s, "<notes>My badge is 1.</notes>", "") }})
	all := []store.Exchange{
		{Seq: 1, Status: store.Complete, Zone: "Asia/Shanghai", Turn: 1, Events: []store.Event{
			{Kind: store.UserInput, Time: start, Turn: 1, Text: "<notes>My badge is 1.</notes>What's in the report?", ThirdParty: "My name is Mallory."},
			{Kind: store.ModelReasoning, Time: start, Turn: 1, Text: "they call themselves Bob"},
			{Kind: store.ToolCall, Time: start, Turn: 1, Name: "read", CallID: "c1", Text: `{"f":"report"}`},
		}},
		{Seq: 2, Status: store.Complete, Turn: 1, Events: []store.Event{
			{Kind: store.ToolResult, Time: start, Turn: 1, CallID: "c1", Text: strings.Repeat("x", 5000)},
			output(1, "It is long."),
		}},
		{Seq: 3, Status: store.Truncated, Turn: 2, Events: []store.Event{input(2, "Go on."), output(2, "The fix was to")}},
		{Seq: 4, Status: store.Aborted, Turn: 2, Events: []store.Event{input(2, "Go on."), output(2, "The fix was")}},
		{Seq: 5, Status: store.Errored, Turn: 3, Events: []store.Event{input(3, "never answered")}},
		{Seq: 6, Status: store.Complete, Turn: 4, Events: []store.Event{input(4, "beyond the range")}},
	}
	events := r.events(store.Session{ID: "s"}, all, 5)
	got := seen(events)
	if len(got) != 6 || len(got[3]) > 1000 || !strings.Contains(got[3], "[…]") {
		t.Fatalf("%q", got)
	}
	got[3] = got[3][:8]
	want := []string{"e1 user: What's in the report?", "e2 tool?: My name is Mallory.", `e3 tool_call: {"f":"report"}`, "e4 tool?", "e5 assistant: It is long.", "e6 user: Go on."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := events[0].Time.Format(time.RFC3339); got != "2026-11-27T00:30:00+08:00" {
		t.Errorf("the user's own time: %s", got)
	}
	if events[3].Name != "read" {
		t.Errorf("the result of %q", events[3].Name)
	}
}

func TestASubAgentIsNoPerson(t *testing.T) {
	r := runner(t, Config{})
	all := []store.Exchange{{Seq: 1, Status: store.Complete, Turn: 1, Events: []store.Event{input(1, "My name is Worker. I prefer XML."), output(1, "Done.")}}}
	events := r.events(store.Session{ID: "s", Parent: "p"}, all, 1)
	if diff := cmp.Diff([]string{"e1 tool?: My name is Worker. I prefer XML.", "e2 tool?: Done."}, seen(events)); diff != "" {
		t.Error(diff)
	}
	if res := extract.Rules(extract.Material{Events: events}); len(res.Candidates) != 0 {
		t.Errorf("found %q", res.Candidates[0].Text)
	}
}

func TestSideCallsByTheEcho(t *testing.T) {
	r := runner(t, Config{})
	h := func(b byte) (h store.Hash) { h[0] = b; return h }
	x := func(seq uint64, system, answer byte, text string, echoed ...store.Hash) store.Exchange {
		return store.Exchange{Seq: seq, Status: store.Complete, System: h(system), Answer: h(answer), Echoed: echoed, Events: []store.Event{input(int(seq), text)}}
	}
	for name, c := range map[string]struct {
		all  []store.Exchange
		want []string
	}{
		"a title call before and after": {
			[]store.Exchange{x(1, 9, 19, "title?"), x(2, 1, 11, "one"), x(3, 9, 29, "tags?"), x(4, 1, 12, "two", h(11)), x(5, 1, 13, "three", h(12))},
			[]string{"one", "two", "three"},
		},
		"the last answer can't have come back yet": {
			[]store.Exchange{x(1, 1, 11, "one"), x(2, 2, 12, "two", h(11))},
			[]string{"one", "two"},
		},
		"an answer that came back counts whatever its system text": {
			[]store.Exchange{x(1, 1, 11, "one"), x(2, 2, 12, "two", h(11)), x(3, 1, 13, "three", h(12)), x(4, 1, 14, "four", h(13))},
			[]string{"one", "two", "three", "four"},
		},
		"an edited message stays: the system text is the main one": {
			[]store.Exchange{x(1, 1, 11, "one"), x(2, 1, 12, "one again"), x(3, 1, 13, "two", h(12))},
			[]string{"one", "one again", "two"},
		},
	} {
		var got []string
		for _, e := range r.events(store.Session{}, c.all, 99) {
			got = append(got, e.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPartsEndAtTurns(t *testing.T) {
	v := &review{}
	for turn := 1; turn <= 6; turn++ {
		for _, role := range []extract.Role{extract.User, extract.Assistant} {
			v.events = append(v.events, extract.Event{Turn: turn, Role: role, Text: strings.Repeat("word", 100)}) // 100 tokens each
		}
	}
	var turns [][]int
	for _, m := range v.parts(500) {
		var in []int
		for _, e := range m.Events {
			in = append(in, e.Turn)
		}
		turns = append(turns, in)
	}
	if diff := cmp.Diff([][]int{{1, 1, 2, 2}, {3, 3, 4, 4}, {5, 5, 6, 6}}, turns); diff != "" {
		t.Error(diff)
	}
	if got := v.parts(50); len(got) != 6 {
		t.Errorf("a long turn stays whole: %d parts", len(got))
	}
}

func TestConfig(t *testing.T) {
	err := Config{Upstream: "ftp://x", Base: "nowhere", Idle: -1, Workers: -2}.Validate()
	for _, want := range []string{"upstream", "ftp://x", "reflect.api_base", "nowhere", "session_idle", "workers -2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	if (Config{}).Validate() == nil || (Config{ModelName: RulesModel}).Validate() != nil {
		t.Error("a model needs an address, rules need none")
	}
}

func TestDelay(t *testing.T) {
	for n, base := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 20: time.Minute} {
		for range 20 {
			if d := delay(time.Second, time.Minute, n); d < base/2 || d > base*3/2 {
				t.Errorf("attempt %d: %s", n, d)
			}
		}
	}
}
