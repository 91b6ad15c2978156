package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/store"
)

// Hindsight-Memory says what memory may do for a request: with off and write
// nothing is injected and nothing replayed, with off and read nothing is kept,
// and a word that nobody knows is off.
func TestMemoryModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		injects, records bool
	}{
		"on": {true, true}, "ON": {true, true}, "read": {true, false}, "write": {false, true}, "off": {}, "readonly": {}, "true": {}, "on,read": {},
	} {
		t.Run(mode, func(t *testing.T) {
			oneInThree(t)
			t.Parallel()
			w := newHarbour(t)
			known := w.conversation()
			session := known.say(craneCode).session()
			w.wantBlocks("4411")

			fresh := w.conversation("Hindsight-Memory: " + mode)
			sent := fresh.add("user", "Tell me the harbour crane's access code.").body()
			r := fresh.send()
			w.last().wantSpliced(t, sent)
			switch {
			case want.injects && (r.memory() != "injected" || r.memories() == "" || !strings.Contains(w.last().blocks(t)[0], "4411")):
				t.Errorf("%s: %s", r.memory(), w.last().body)
			case !want.injects && (r.memory() != "off" || r.memories() != "" || string(w.last().body) != sent):
				t.Errorf("%s: %s", r.memory(), w.last().body)
			}
			known.headers = fresh.headers
			sent = known.add("user", "thanks").body()
			r = known.send()
			if want.injects && (r.memory() != "replayed" || r.session() != session) || !want.injects && string(w.last().body) != sent {
				t.Errorf("in a known conversation: %s, session %s: %s", r.memory(), r.session(), w.last().body)
			}
			if want.records {
				w.wantSaid(session, "local", craneCode, "thanks")
				w.wantSessions(2)
			} else {
				w.wantSaid(session, "local", craneCode)
				w.wantSessions(1)
			}
			// Whatever it was, the next request without it has its memory again.
			known.headers = nil
			if r := known.say("bye"); r.session() != session || !strings.Contains(w.last().blocks(t)[0], "4411") {
				t.Errorf("afterwards: %s, session %s, want %s", r.memory(), r.session(), session)
			}
		})
	}
}

// No header of ours reaches the upstream, on no route and in no spelling, and
// what the client says besides does.
func TestOwnHeadersStayHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings", "/v1/models"} {
		req, err := http.NewRequest(http.MethodPost, w.st.proxyURL()+path, strings.NewReader(`{"model":"scripted-1","messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"Hindsight-User", "hindsight-agent", "HINDSIGHT-SESSION", "Hindsight-Session-End", "Hindsight-Timezone", "Hindsight-Task", "Hindsight-Memory", "Hindsight-Anything"} {
			req.Header[name] = []string{fmt.Sprint("own", i)}
		}
		req.Header.Set("OpenAI-Organization", "org-1")
		req.Header.Set("Authorization", "Bearer sk-test")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		got := w.last()
		if got.path != path || got.header.Get("OpenAI-Organization") != "org-1" || got.header.Get("Authorization") != "Bearer sk-test" {
			t.Errorf("%s arrived as %s with %v", path, got.path, got.header)
		}
		for name, values := range got.header {
			if strings.HasPrefix(strings.ToLower(name), "hindsight") || strings.Contains(strings.Join(values, ""), "own") {
				t.Errorf("%s: the upstream got %s: %s", path, name, values)
			}
		}
	}
}

// Hindsight-Session-End ends the session with this answer: it is reflected
// because it was ended, not because it went idle, and what comes after is
// reflected by the next end. Nothing is reflected twice.
func TestSessionEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_SESSION_IDLE=2s") // the runner looks twice in that time
	reflected := func(n int) {
		t.Helper()
		w.until(fmt.Sprintf("reflection %d is done", n), func() bool {
			var v struct{ Reflections []store.Job }
			w.decode(w.admin(http.MethodGet, "/api/v1/reflections?state=done", ""), &v)
			for _, j := range v.Reflections {
				if j.Trigger != store.TriggerExplicit {
					t.Fatalf("reflected by %s", j.Trigger)
				}
			}
			return len(v.Reflections) == n
		})
	}
	c := w.conversation("Hindsight-User: ann", "Hindsight-Session-End: true")
	session := c.say("My badge is B4411.").session()
	reflected(1)
	if kept := w.memories("ann"); len(kept) != 1 {
		t.Fatalf("kept %+v", kept)
	}
	if r := c.say("I prefer tabs over spaces."); r.session() != session {
		t.Errorf("after the end: session %s, want %s", r.session(), session)
	}
	reflected(2)
	kept := w.memories("ann")
	if len(kept) != 2 {
		t.Errorf("kept %+v", kept)
	}
	for _, m := range kept {
		if len(m.Evidence) != 1 || m.Evidence[0].Session != session {
			t.Errorf("evidence of %q: %+v", m.Text, m.Evidence)
		}
	}
	w.wantSaid(session, "ann", "My badge is B4411.", "I prefer tabs over spaces.")
}
