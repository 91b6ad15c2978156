package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// replay runs the command as another process would, on the world's directory.
func (w *world) replay(args ...string) (report replayReport, text string) {
	w.t.Helper()
	for _, more := range [][]string{{"--json"}, nil} {
		var out, errs bytes.Buffer
		a := &app{env: environ{get: func(n string) string { return w.env[n] }, pid: 2, home: w.env["HINDSIGHT_DATA_DIR"]}, out: &out, err: &errs}
		if code := run(w.t.Context(), a, append(append([]string{"replay"}, args...), more...)); code != 0 {
			w.t.Fatalf("replay %v: exit %d: %s", args, code, &errs)
		}
		if text = out.String(); more != nil {
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				w.t.Fatalf("replay %v: %v in %s", args, err, text)
			}
		}
	}
	return report, text
}

// What was asked is asked again at other settings: nothing is written, and nothing
// is told that the question couldn't have been told.
func TestReplayAtOtherSettings(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann", "HINDSIGHT_REFLECT_MODEL=rules")
	cranes(w)
	first := w.conversation()
	first.say(craneQuestion)
	r := first.say("My name is Ann and my badge is B4411.")
	w.close(r.session()) // learns the name
	w.conversation().say("What is my name?")
	late := w.remember("ann", `"type":"user_fact","text":"Harbour crane number 9 needs a new motor."`)
	w.flush()
	state := func() string {
		return string(w.admin(http.MethodGet, "/api/v1/memories?limit=100&scope=user:ann", "")) + string(w.admin(http.MethodGet, "/api/v1/sessions", ""))
	}
	before := state()

	same, text := w.replay()
	if m := same.Summary; m.Questions != 3 || m.InjectedThen != 2 || m.InjectedNow != 2 || m.Differ != 0 || m.MemoriesNow != 6 || m.TokensNow == 0 {
		t.Fatalf("at the same settings: %+v\n%s", m, text)
	}
	if strings.Contains(text, late.ID) {
		t.Errorf("a memory from after the questions would be told:\n%s", text)
	}
	if !strings.Contains(text, "as they stand now") || !strings.Contains(text, "  = 0.") || !strings.Contains(text, craneQuestion) {
		t.Errorf("the report:\n%s", text)
	}
	for _, q := range same.Questions {
		if strings.Contains(q.Question, "B4411") && len(q.Now) != 0 {
			t.Errorf("a session is told what was learned from it: %+v", q)
		}
	}
	two, text := w.replay("--top-k", "2")
	if m := two.Summary; m.MemoriesThen != 6 || m.MemoriesNow != 3 || m.Kept != 3 || m.Differ != 1 || !strings.Contains(text, "  - ") {
		t.Errorf("with --top-k 2: %+v\n%s", m, text)
	}
	if none, _ := w.replay("--gate", "9"); none.Summary.InjectedNow != 0 || none.Summary.Differ != 2 {
		t.Errorf("with --gate 9: %+v", none.Summary)
	}
	if one, _ := w.replay("--session", r.session()); one.Summary.Questions != 2 {
		t.Errorf("of one session: %+v", one.Summary)
	}
	if one, _ := w.replay("--limit", "1"); len(one.Questions) != 1 || !strings.Contains(one.Questions[0].Question, "my name?") {
		t.Errorf("the newest question: %+v", one.Questions)
	}
	if none, text := w.replay("--since", "2099-01-01"); len(none.Questions) != 0 || !strings.Contains(text, "Nothing was asked") {
		t.Errorf("since then: %+v", none)
	}
	if d := cmp.Diff(before, state()); d != "" {
		t.Errorf("a replay changed what is kept:\n%s", d)
	}
	w.stop() // and without a server
	if alone, text := w.replay("--top-k", "2"); alone.Summary != two.Summary {
		t.Errorf("over the directory: %+v, over the socket %+v\n%s", alone.Summary, two.Summary, text)
	}
}
