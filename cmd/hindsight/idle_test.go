package main

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// material watches what reflection is asked.
type material struct {
	mu   sync.Mutex
	seen [][]byte
}

func (m *material) watch(w *world) {
	w.answer = func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) {
			m.mu.Lock()
			m.seen = append(m.seen, body)
			m.mu.Unlock()
		}
		return false
	}
}

// asked is what reflection was asked with these words in it.
func (m *material) asked(words string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, body := range m.seen {
		if bytes.Contains(body, []byte(words)) {
			n++
		}
	}
	return n
}

// done counts the reflections in a state.
func (w *world) reflections(state string) int {
	w.t.Helper()
	var v struct{ Reflections []struct{ ID string } }
	w.decode(w.admin(http.MethodGet, "/api/v1/reflections?state="+state, ""), &v)
	return len(v.Reflections)
}

// A client that just goes away, and a process that ends before the session was
// idle for long enough: the next one reflects it, once.
func TestIdleSessionIsReflectedAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var m material
	m.watch(w)
	w.conversation().say("My name is Ann.")
	w.flush()
	if w.restart(); w.reflections("done") != 0 || m.asked("My name is Ann.") != 0 {
		t.Fatal("reflected before it was idle")
	}
	w.env["HINDSIGHT_SESSION_IDLE"] = "1s"
	w.restart()
	w.until("the session is reflected", func() bool { return w.reflections("done") == 1 })
	// Another start, and another session that comes due after it: what is due
	// again has had its turn by then.
	w.restart()
	w.conversation().say("My badge is B4411.")
	w.until("the other session is reflected", func() bool { return w.reflections("done") == 2 })
	if n := m.asked("My name is Ann."); n != 1 {
		t.Errorf("the session was reflected %d times", n)
	}
	if got := len(w.memories("local")); got != 2 {
		t.Errorf("%d memories", got)
	}
}

// A session that goes on after its reflection is reflected from there.
func TestSessionGoesOnAfterItsReflection(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_SESSION_IDLE=1s")
	var m material
	m.watch(w)
	c := w.conversation()
	first := c.say("My name is Ann.")
	w.until("the first part is reflected", func() bool { return w.reflections("done") == 1 })
	second := c.say("My badge is B4411.")
	if first.session() != second.session() {
		t.Fatal("another session")
	}
	w.until("the rest is reflected", func() bool { return w.reflections("done") == 2 })
	if a, b := m.asked("My name is Ann."), m.asked("My badge is B4411."); a != 1 || b != 1 {
		t.Errorf("the first part was reflected %d times, the second %d times", a, b)
	}
	if d := cmp.Diff([]string{"The user's badge is B4411.", "The user's name is Ann."}, texts(w.memories("local"))); d != "" {
		t.Error(d)
	}
	// Nothing new: closing asks nobody, and tells what the last one kept.
	if kept, dropped := w.close(first.session()); len(kept) != 1 || !strings.Contains(kept[0].Text, "B4411") || len(dropped) != 0 || m.asked("") != 2 {
		t.Errorf("kept %q, %d calls", texts(kept), m.asked(""))
	}
}

// Nothing new, nothing asked: however often a session is closed.
func TestClosingTwiceAsksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var m material
	m.watch(w)
	id := w.conversation().say("My name is Ann.").session()
	for range 3 {
		w.close(id)
	}
	w.restart()
	w.close(id)
	if n := m.asked("Ann"); n != 1 {
		t.Errorf("%d calls", n)
	}
}
