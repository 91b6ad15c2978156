package hreflect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// owned answers with an item for every user's sentence "I own a …" of the
// question.
func owned(w http.ResponseWriter, _ int, data string) {
	var items []string
	for _, thing := range []string{"red bike", "blue boat", "green kite", "grey horse"} {
		if strings.Contains(data, "I own a "+thing) {
			items = append(items, itemOf(data, "I own a "+thing, "The user owns a "+thing+"."))
		}
	}
	say(w, `{"items":[`+strings.Join(items, ",")+`],"injected":[]}`)
}

// Small sessions that have gone idle share one call, and each gets its own
// memory with its own evidence. Long ones, and those of others, don't.
func TestSmallIdleSessionsShareACall(t *testing.T) {
	h := newHouse(t, owned)
	for i, thing := range []string{"red bike", "blue boat", "green kite"} {
		h.talk(fmt.Sprintf("s%d", i), 1, "I own a "+thing+".", "Nice!", "Thanks.", "Welcome.")
	}
	h.clock.add(time.Hour)
	h.run()
	h.until("three jobs are done", func() bool {
		js, err := h.Jobs(t.Context(), store.Done)
		return err == nil && len(js) == 3
	})
	if h.calls() != 1 {
		t.Errorf("%d calls", h.calls())
	}
	ms, _, err := h.ScopeMemories(t.Context(), "t", ann.Scope())
	if err != nil || len(ms) != 3 {
		t.Fatalf("%d memories, %v", len(ms), err)
	}
	things := []string{"red bike", "blue boat", "green kite"}
	for _, m := range ms {
		i := slices.IndexFunc(things, func(s string) bool { return strings.Contains(m.Text, s) })
		e := m.Evidence[0]
		if e.Session != fmt.Sprintf("s%d", i) || e.Turn != 1 {
			t.Errorf("%s rests on turn %d of %s", m.Text, e.Turn, e.Session)
		}
		for j, other := range things {
			if j != i && strings.Contains(e.Context, other) {
				t.Errorf("%s has another session in its context: %q", m.Text, e.Context)
			}
		}
	}
	for i := range things {
		if s, err := h.Session(t.Context(), ann, fmt.Sprintf("s%d", i)); err != nil || s.Cursor != s.LastSeq {
			t.Errorf("s%d: cursor %d of %d, %v", i, s.Cursor, s.LastSeq, err)
		}
	}
}

// The cap on what one session teaches is each session's own.
func TestASharedCallKeepsAsMuch(t *testing.T) {
	var things []string
	for i := range 18 {
		things = append(things, fmt.Sprintf("boat%d", i))
	}
	h := newHouse(t, func(w http.ResponseWriter, _ int, data string) {
		var items []string
		for _, thing := range things {
			items = append(items, itemOf(data, "I own a "+thing+" here", "The user owns a "+thing+" here."))
		}
		say(w, `{"items":[`+strings.Join(items, ",")+`],"injected":[]}`)
	})
	h.cfg.Workers = 1
	for i := range 6 {
		var says []string
		for _, thing := range things[3*i : 3*i+3] {
			says = append(says, "I own a "+thing+" here.", "Nice!")
		}
		h.talk(fmt.Sprintf("s%d", i), 1, says...)
	}
	h.clock.add(time.Hour)
	h.run()
	h.until("six jobs are done", func() bool {
		js, err := h.Jobs(t.Context(), store.Done)
		return err == nil && len(js) == 6
	})
	if h.calls() != 1 {
		t.Errorf("%d calls", h.calls())
	}
	if ms, _, err := h.ScopeMemories(t.Context(), "t", ann.Scope()); err != nil || len(ms) != len(things) {
		t.Errorf("%d memories of %d, %v", len(ms), len(things), err)
	}
}

// What fails together is tried alone, so that one session can't keep others
// from being reflected.
func TestASharedCallThatFailsIsTriedAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(w http.ResponseWriter, n int, data string) {
		if strings.Contains(data, "grey horse") {
			say(w, "I won't.")
			return
		}
		owned(w, n, data)
	})
	h.cfg.Workers = 1
	h.talk("good", 1, "I own a red bike.", "Nice!")
	h.talk("bad", 1, "I own a grey horse.", "Nice!")
	h.clock.add(time.Hour)
	h.run()
	h.until("both have ended", func() bool {
		h.clock.add(time.Second)
		js, err := h.Jobs(t.Context(), "")
		return err == nil && len(js) == 2 && !slices.ContainsFunc(js, func(j store.Job) bool { return j.State != store.Done && j.State != store.Dead })
	})
	for _, j := range func() []store.Job { js, _ := h.Jobs(t.Context(), ""); return js }() {
		if want := map[string]store.JobState{"good": store.Done, "bad": store.Dead}[j.Session]; j.State != want {
			t.Errorf("%s is %s: %s", j.Session, j.State, j.Reason)
		}
	}
}

// A call about a part is shown a few of the events before it, as context: a
// statement can't rest on them.
func TestPartsCarryOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t, owned)
	h.cfg.Tokens = 40
	h.run()
	h.talk("s", 1, "I own a red bike. "+strings.Repeat("It is red. ", 12), "Nice!", "I own a blue boat. "+strings.Repeat("It is blue. ", 12), "Lovely!")
	if j := h.close("s"); j.Strategy != extract.Classify.Version() || len(j.Kept) != 2 {
		t.Fatalf("%+v", j)
	}
	// The session goes on: what was reflected isn't sent again.
	h.talk("s", 3, "I own a green kite.", "Nice!")
	if j := h.close("s"); len(j.Kept) != 1 {
		t.Fatalf("%+v", j)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var asked []string // focused retries apart: this model repeats what it is shown as context
	for _, q := range h.asked {
		if !strings.Contains(q, "<failed>") {
			asked = append(asked, q)
		}
	}
	if len(asked) != 3 {
		t.Fatalf("%d calls: %q", len(asked), asked)
	}
	for i, want := range []struct{ before, in string }{{"", "red bike"}, {"red bike", "blue boat"}, {"", "green kite"}} {
		before, in, cut := strings.Cut(asked[i], "<events>")
		if !cut || !strings.Contains(in, want.in) || want.before == "" && strings.Contains(before, "<before>") || !strings.Contains(before, want.before) {
			t.Errorf("call %d: before %q, in %q", i, before, in)
		}
		if want.before != "" && strings.Contains(in, "I own a "+want.before) {
			t.Errorf("call %d repeats what was reflected", i)
		}
	}
}

// What a shared call drops is shown with the session that it is about, and what
// can't be read with every one that it might be about.
func TestASharedCallShowsWhatItDroppedWhereItBelongs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(w http.ResponseWriter, _ int, data string) {
		say(w, `{"items":[`+itemOf(data, "I own a blue boat", "The user sold a yellow plane to a Martian.")+`,`+
			itemOf(data, "I own a red bike", "The user owns a red bike.")+`,{"nothing":1}],"injected":[]}`)
	})
	h.cfg.Workers = 1
	h.talk("bike", 1, "I own a red bike.", "Nice!")
	h.talk("boat", 1, "I own a blue boat.", "Nice!")
	h.clock.add(time.Hour)
	h.run()
	var js []store.Job
	h.until("both jobs are done", func() bool {
		var err error
		js, err = h.Jobs(t.Context(), store.Done)
		return err == nil && len(js) == 2
	})
	for _, j := range js {
		about, unread := 0, 0
		for _, d := range j.Dropped {
			if strings.Contains(d.Text, "Martian") {
				about++
			}
			if d.Reason == extract.BadItem {
				unread++
			}
		}
		if want := map[string]int{"bike": 0, "boat": 1}[j.Session]; (about > 0) != (want > 0) || unread == 0 {
			t.Errorf("%s shows %+v", j.Session, j.Dropped)
		}
	}
}
