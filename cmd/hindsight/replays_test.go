package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// A session's reflection that is repeated ten times, whether it fails again or
// not, adds nothing to what it taught; each time costs at most two calls for
// every 8,000 new tokens that were begun, and none where nothing is new.
func TestTenReplaysAtTheFrontDoor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		say, more string
		filler    string
		pieces    int
	}{
		{"My name is Ann. My badge is B4411.", "I live in Lisbon.", "", 1},
		{"我叫小林。我住在杭州。", "我喜欢简短的回答。", "", 1},
		// About 10,000 tokens in ten turns, reported at once: two pieces.
		{"My name is Ann. My badge is B4411.", "I live in Lisbon.", strings.Repeat("Nothing in this line is about anybody at all. ", 100), 2},
	} {
		t.Run(fmt.Sprintf("%s %d", c.say, c.pieces), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var calls atomic.Int64
			var refuse atomic.Bool
			refuse.Store(true)
			w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
				if !bytes.Contains(body, []byte("hindsight_memories")) && !bytes.Contains(body, []byte("hindsight_relations")) {
					return false
				}
				calls.Add(1)
				if refuse.Load() {
					status(http.StatusUnauthorized)(rw)
					return true
				}
				return false
			}
			spent := func(what string, most int) {
				t.Helper()
				if n := int(calls.Swap(0)); n > most {
					t.Errorf("%s: %d calls, at most %d", what, n, most)
				}
			}
			talk := w.conversation()
			tell := func(texts ...string) (session string) {
				t.Helper()
				if len(texts) == 1 {
					return talk.say(texts[0]).session()
				}
				var told struct{ Session string }
				w.decode(w.admin(http.MethodPost, "/api/v1/sessions/told/events", reported(texts)), &told)
				talk.headers = []string{"Hindsight-Session: told"}
				return told.Session
			}
			says := []string{c.say}
			for n := 0; n < 9 && c.filler != ""; n++ {
				says = append(says, fmt.Sprintf("Line %d. %s", n, c.filler))
			}
			session := tell(says...)
			job := w.over(session)
			if job.State != store.Dead {
				t.Fatalf("%+v", job)
			}
			spent("refused", 2*c.pieces)
			ruled := w.memories("local")
			if len(ruled) != 2 {
				t.Fatalf("by rules: %q", texts(ruled))
			}
			again := func() store.Job {
				t.Helper()
				w.admin(http.MethodPost, "/api/v1/reflections/"+job.ID+"/retry", "")
				return w.jobOver(job.ID)
			}
			for range 10 {
				if is := again(); is.State != store.Dead {
					t.Fatalf("%+v", is)
				}
				spent("refused again", 2*c.pieces)
			}
			if diff := cmp.Diff(ruled, w.memories("local")); diff != "" {
				t.Errorf("ten failures changed something: %s", diff)
			}
			refuse.Store(false)
			if is := again(); is.State != store.Done {
				t.Fatalf("%+v", is)
			}
			spent("answered", 2*c.pieces)
			taught := w.memories("local")
			if len(taught) != 2 {
				t.Errorf("a model's words stand beside the rules': %q", texts(taught))
			}
			for range 10 {
				again()
				w.admin(http.MethodPost, "/api/v1/sessions/"+url.PathEscape(session)+"/close?wait=20s", "")
				spent("nothing is new", 0)
			}
			if diff := cmp.Diff(taught, w.memories("local")); diff != "" {
				t.Errorf("ten replays changed something: %s", diff)
			}
			if s := tell(c.more); s != session {
				t.Fatalf("another session: %s, %s", s, session)
			}
			w.close(session)
			spent("a turn more", 2)
			if got := w.memories("local"); len(got) != 3 {
				t.Errorf("after another turn: %q", texts(got))
			}
		})
	}
}

// reported are events of a user's words, as the management API takes them.
func reported(texts []string) string {
	var out []map[string]any
	for _, s := range texts {
		out = append(out, map[string]any{"type": store.UserInput, "payload": map[string]string{"text": s}})
	}
	b, _ := json.Marshal(out) // strings only
	return string(b)
}

// over closes a session and returns its reflection when that is done or dead.
func (w *world) over(session string) store.Job {
	w.t.Helper()
	var v struct{ Reflection string }
	_, raw := w.tryAdmin(http.MethodPost, "/api/v1/sessions/"+url.PathEscape(session)+"/close", "")
	w.decode(raw, &v)
	return w.jobOver(v.Reflection)
}

// jobOver waits until a reflection is done or dead.
func (w *world) jobOver(id string) (is store.Job) {
	w.t.Helper()
	w.until("the reflection is over", func() bool {
		var v struct{ Reflections []store.Job }
		w.decode(w.admin(http.MethodGet, "/api/v1/reflections", ""), &v)
		for _, j := range v.Reflections {
			if j.ID == id {
				is = j
			}
		}
		return is.State == store.Done || is.State == store.Dead
	})
	return is
}
