package hreflect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// pumped is what sessions about the pump taught, in both languages.
var pumped = map[string][]string{
	"en": {
		"I repaired the pump on 2026-01-02", "I repaired the pump on 2026-02-03 with Anna", "I oiled the pump on 2026-03-04",
		"I did not repair the pump on 2026-04-05", "I replaced the pump's valve V-77 on 2026-05-06",
	},
	"zh": {"2026年1月2日我修了水泵", "2026年2月3日我又修了水泵", "2026年3月4日我给水泵上了油", "2026年4月5日我没有修水泵", "2026年5月6日我换了水泵的77号阀门"},
}

// pumpHouse is a house whose model takes every user's sentence for an event
// about the pump, and consolidates as told.
func pumpHouse(t *testing.T, merged func(n int, notes string) string) *house {
	n := 0
	return newHouse(t, func(w http.ResponseWriter, _ int, data string) {
		if strings.HasPrefix(data, "<notes>") {
			n++
			say(w, merged(n, data))
			return
		}
		data, _, _ = strings.Cut(data, "</events>")
		for _, list := range pumped {
			for _, s := range list {
				if strings.Contains(data, s) {
					say(w, `{"items":[`+itemOf(data, s, s+".", "type", "event", "subject", "pump")+`],"injected":[]}`)
					return
				}
			}
		}
		say(w, `{"items":[],"injected":[]}`)
	})
}

// teach holds and reflects one session for each sentence.
func (h *house) teach(sentences []string) {
	h.t.Helper()
	for i, s := range sentences {
		id := fmt.Sprintf("s%d", i)
		h.talk(id, 1, s+".", "Well done!")
		if j := h.close(id); j.State != store.Done || len(j.Kept) != 1 {
			h.t.Fatalf("%q: %+v", s, j)
		}
	}
}

func whole(sentences []string) string {
	return `{"memories":[{"text":"` + strings.Join(sentences, "; ") + `.","scenario":"when the pump fails"}]}`
}

func (h *house) all() (active, hidden, archived []store.Memory) {
	h.t.Helper()
	ms, _, err := h.ScopeMemories(h.t.Context(), "t", ann.Scope())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range ms {
		switch m.State {
		case store.Active:
			active = append(active, m)
		case store.Consolidated:
			hidden = append(hidden, m)
		case store.Archived:
			archived = append(archived, m)
		}
	}
	return active, hidden, archived
}

func TestFiveOfASubjectBecomeOne(t *testing.T) {
	t.Parallel()
	for lang, sentences := range pumped {
		t.Run(lang, func(t *testing.T) {
			h := pumpHouse(t, func(int, string) string { return whole(sentences) })
			h.run()
			h.teach(sentences[:4])
			if _, hidden, _ := h.all(); len(hidden) != 0 || h.calls() != 4 {
				t.Fatalf("four were consolidated: %d hidden, %d calls", len(hidden), h.calls())
			}
			h.talk("s4", 1, sentences[4]+".", "Well done!")
			h.close("s4")
			h.until("they are one", func() bool { active, _, _ := h.all(); return len(active) == 1 })
			active, hidden, _ := h.all()
			m := active[0]
			if m.Layer != store.Semantic || m.Type != store.EventType || m.Subject != "pump" || len(m.SourceIDs) != 5 || len(hidden) != 5 || len(m.Evidence) != 5 || m.Scenario != "when the pump fails" {
				t.Fatalf("%+v, %d hidden", m, len(hidden))
			}
			for i, e := range m.Evidence {
				if !strings.Contains(m.Text, sentences[i]) || e.Quote != sentences[i] {
					t.Errorf("evidence %d: %+v", i, e)
				}
			}
			for _, s := range hidden {
				if s.SupersededBy != m.ID || !slices.Contains(m.SourceIDs, s.ID) {
					t.Errorf("source %+v", s)
				}
			}
			// Undone, they stay apart, however often somebody looks.
			if _, back, err := h.UndoConsolidation(t.Context(), m.ID); err != nil || len(back) != 5 {
				t.Fatalf("undo: %d back, %v", len(back), err)
			}
			active, hidden, archived := h.all()
			if len(active) != 5 || len(hidden) != 0 || len(archived) != 1 {
				t.Errorf("undone: %d active, %d hidden, %d archived", len(active), len(hidden), len(archived))
			}
			if err := h.Gather(t.Context(), append(active, archived...)); err != nil {
				t.Fatal(err)
			}
			if js, err := h.Jobs(t.Context(), store.Queued); err != nil || len(js) != 0 {
				t.Errorf("queued again: %+v, %v", js, err)
			}
			// A person may ask again; dry, nothing happens.
			dry, err := h.Runner.Consolidate(t.Context(), "t", "", "Pump", true)
			if err != nil || len(dry) != 1 || len(dry[0].Sources) != 5 || dry[0].Memory != nil {
				t.Errorf("dry: %+v, %v", dry, err)
			}
			again, err := h.Runner.Consolidate(t.Context(), "t", "", "", false)
			if err != nil || len(again) != 1 || again[0].Memory == nil {
				t.Fatalf("again: %+v, %v", again, err)
			}
			if active, hidden, _ = h.all(); len(active) != 1 || len(hidden) != 5 {
				t.Errorf("again: %d active, %d hidden", len(active), len(hidden))
			}
		})
	}
}

// What breaks the schema or says something else than the sources changes
// nothing: the job is tried again, and then kept as dead with the reason.
func TestAConsolidationThatCantBeUsed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	en := pumped["en"]
	for name, c := range map[string]struct{ answer, reason string }{
		"no JSON":             {"I'd rather not.", "no JSON"},
		"two of them":         {`{"memories":[{"text":"a","scenario":""},{"text":"b","scenario":""}]}`, "2 memories"},
		"no text":             {`{"memories":[{"scenario":"x"}]}`, "no text"},
		"a text that is none": {`{"memories":[{"text":7,"scenario":"x"}]}`, "another type"},
		"an empty text":       {`{"memories":[{"text":" ","scenario":"x"}]}`, "an empty text"},
		"a date lost":         {whole(en[1:]), "date of source 1 was lost"},
		"a date added":        {whole(append([]string{"I saw the pump on 2025-12-31"}, en...)), "number that no source"},
		"a name lost":         {strings.ReplaceAll(whole(en), " with Anna", ""), "name of source 2 was lost"},
		"a name exchanged":    {strings.ReplaceAll(whole(en), "with Anna", "with Anna and Bella"), "name that no source"},
		"a denial lost":       {strings.ReplaceAll(whole(en), "did not repair", "repaired"), "negation"},
		"another language":    {whole(pumped["zh"]), "another language"},
		"too long":            {whole(append(slices.Repeat(en, 10), en[0])), "at most 1500"},
	} {
		t.Run(name, func(t *testing.T) {
			h := pumpHouse(t, func(int, string) string { return c.answer })
			h.run()
			h.teach(en)
			var dead store.Job
			h.until("it is given up", func() bool {
				// Time for the next attempt, not for the end of a lease that a slow machine holds.
				if _, ok := h.job(store.Running); !ok {
					h.clock.add(time.Minute)
				}
				var ok bool
				dead, ok = h.job(store.Dead)
				return ok
			})
			if !dead.Consolidates() || dead.Attempts != 5 || !strings.Contains(dead.Reason, c.reason) || strings.Contains(dead.Reason, "Anna") {
				t.Errorf("%+v", dead)
			}
			active, hidden, archived := h.all()
			if len(active) != 5 || len(hidden)+len(archived) != 0 {
				t.Errorf("%d active, %d hidden, %d archived", len(active), len(hidden), len(archived))
			}
			// The same memories don't bring it back.
			if err := h.Gather(t.Context(), active); err != nil {
				t.Fatal(err)
			}
			if j, _ := h.Job(t.Context(), dead.ID); j.State != store.Dead {
				t.Errorf("queued again: %+v", j)
			}
		})
	}
}

// A borrowed credential that has gone is waited for; without a model nothing is
// consolidated at all.
func TestAConsolidationWaitsForAKey(t *testing.T) {
	en := pumped["en"]
	h := pumpHouse(t, func(n int, _ string) string {
		if n == 1 {
			return "no"
		}
		return whole(en)
	})
	h.run()
	h.teach(en)
	h.until("the first answer is refused", func() bool { j, ok := h.job(store.Queued); return ok && j.Attempts == 1 })
	h.keys.set("")
	h.clock.add(time.Hour)
	h.until("it waits", func() bool { j, ok := h.job(store.WaitingForKey); return ok && j.Consolidates() })
	if active, _, _ := h.all(); len(active) != 5 {
		t.Errorf("%d active", len(active))
	}
	h.keys.set("Bearer sk-caller")
	h.until("they are one", func() bool { active, _, _ := h.all(); return len(active) == 1 })
}

// A memory that is forgotten while the model thinks isn't consolidated.
func TestForgottenWhileItIsConsolidated(t *testing.T) {
	en := pumped["en"]
	var h *house
	h = pumpHouse(t, func(int, string) string {
		active, _, _ := h.all()
		if len(active) == 5 {
			if _, err := h.ForgetMemory(h.t.Context(), active[0].ID); err != nil {
				h.t.Error(err)
			}
		}
		return whole(en)
	})
	h.run()
	h.teach(en)
	h.until("it is over", func() bool {
		h.clock.add(time.Minute)
		js, err := h.Jobs(t.Context(), store.Done)
		return err == nil && slices.ContainsFunc(js, func(j store.Job) bool { return j.Consolidates() })
	})
	active, hidden, archived := h.all()
	if len(active) != 4 || len(hidden) != 0 || len(archived) != 1 {
		t.Errorf("%d active, %d hidden, %d archived", len(active), len(hidden), len(archived))
	}
}

func TestGroupsLeaveOutWhatHoldsASecret(t *testing.T) {
	var all []store.Memory
	for i := range 5 {
		all = append(all, store.Memory{ID: fmt.Sprint(i), Scope: "user:u", State: store.Active, Layer: store.Episodic, Subject: "Pump", Text: "A note."})
	}
	if g := lifecycle.Groups(all, 5, false); len(g) != 1 {
		t.Fatalf("%+v", g)
	}
	all[4].Text = "The password is swordfish77"
	if g := lifecycle.Groups(all, 5, false); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}
