package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hindsight/proxy/admin"
)

// hindsight runs a command against the world's management API.
func (w *world) hindsight(args ...string) (int, string) {
	w.t.Helper()
	var out bytes.Buffer
	a := &app{env: environ{get: func(string) string { return "" }, pid: 2, home: w.t.TempDir()}, out: &out, err: &out}
	code := run(w.t.Context(), a, append(args, "--admin", w.st.adminURL(), "--admin-token", worldToken))
	return code, out.String()
}

func TestReflectDryRunShowsEverythingAndChangesNothing(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t)
	reflections := w.countReflections()
	r := w.conversation().say("I live in Lyon. My api key is 4711-secret-key-0815.")
	w.flush()
	for range 2 {
		code, out := w.hindsight("reflect", "--session", r.session(), "--dry-run", "--json")
		var p admin.Preview
		if err := json.Unmarshal([]byte(out), &p); err != nil || code != 0 {
			t.Fatalf("exit %d, %v: %s", code, err, out)
		}
		if len(p.Calls) != 1 || !strings.Contains(p.Calls[0].User, "I live in Lyon.") || !strings.Contains(p.Calls[0].Answer, `"items"`) || p.Calls[0].System == "" {
			t.Errorf("calls %+v", p.Calls)
		}
		if len(p.Memories) != 1 || p.Memories[0].Change != "new" || p.Memories[0].Memory.Text != "The user lives in Lyon." || len(p.Dropped) == 0 || p.Strategy == "rules" {
			t.Errorf("memories %+v, dropped %+v, by %s", p.Memories, p.Dropped, p.Strategy)
		}
	}
	if len(w.memories("local")) != 0 || w.reflections("") != 0 {
		t.Errorf("a dry run left %q and %d jobs", texts(w.memories("local")), w.reflections(""))
	}
	var s struct{ State string }
	w.decode(w.admin(http.MethodGet, "/api/v1/sessions/"+r.session(), ""), &s)
	if s.State != "open" || reflections.Load() != 2 {
		t.Errorf("the session is %s, %d calls", s.State, reflections.Load())
	}
	code, out := w.hindsight("reflect", "--session", r.session())
	if code != 0 || !strings.Contains(out, "The user lives in Lyon.") || len(w.memories("local")) != 1 {
		t.Errorf("exit %d: %s", code, out)
	}
	// What was reflected can be looked at again.
	if code, out = w.hindsight("reflect", "--session", r.session(), "--dry-run"); code != 0 || !strings.Contains(out, "I live in Lyon.") || !strings.Contains(out, "Nothing was changed") {
		t.Errorf("exit %d: %s", code, out)
	}
}
