package hreflect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// Whatever a session's answers look like, it costs at most twice as many calls
// as it fills pieces, and a preview shows the very same calls.
func TestCallsOfASession(t *testing.T) {
	const piece = 75 // more than the house counts for three exchanges: nothing is due by itself
	facts := []string{"plays the cello", "keeps hens in the garden", "collects old maps"}
	says := []string{"I play the cello", "I keep hens in the garden", "I collect old maps"}
	filler := strings.Repeat(" and then we talked about nothing in particular", 5)
	for name, c := range map[string]struct {
		turns   int
		failing int // turns whose first answer fails a check
		near    bool
		calls   int
		retries int
		follow  int
	}{
		"nothing amiss":                      {turns: 3, calls: 3},
		"one fails and stays in doubt":       {turns: 1, failing: 1, near: true, calls: 2, retries: 1},
		"one in doubt":                       {turns: 1, near: true, calls: 2, follow: 1},
		"one of three fails":                 {turns: 3, failing: 1, near: true, calls: 5, retries: 1, follow: 1},
		"all fail, and nothing is left then": {turns: 3, failing: 3, near: true, calls: 6, retries: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, func(w http.ResponseWriter, _ int, data string) {
				material := events(data)
				switch {
				case strings.Contains(data, `"known"`):
					say(w, `{"pairs":[]}`)
				case strings.Contains(data, commute):
					say(w, `{"items":[`+itemOf(data, commute, "The user's commute is always by bike.")+`]}`)
				default:
					var items []string
					for n := range c.turns {
						quote := says[n]
						if !strings.Contains(material, quote) {
							continue
						}
						text := "The user " + facts[n] + "."
						if n < c.failing {
							text = "The user " + facts[n] + " since 1877." // the second time too
						}
						items = append(items, itemOf(material, quote, text), itemOf(material, cycles, "The user cycles to the office."))
					}
					say(w, `{"items":[`+strings.Join(items, ",")+`]}`)
				}
			})
			h.cfg.Tokens = piece
			if c.near {
				h.cfg.Meaning = near{h}
			}
			h.run()
			h.talk("before", 1, commute+".", "I see.")
			h.close("before")
			fresh := 0
			for n := range c.turns {
				text := says[n] + ". " + cycles + filler + "."
				h.talk("s", n+1, text, "Yes.")
				fresh += store.Tokens(text) + store.Tokens("Yes.")
			}
			if fresh < c.turns*piece*3/4 || fresh > c.turns*piece {
				t.Fatalf("%d tokens in %d turns: the case tests nothing", fresh, c.turns)
			}
			before := h.calls()
			s, err := h.Session(t.Context(), ann, "s")
			if err != nil {
				t.Fatal(err)
			}
			p, err := h.Preview(t.Context(), s)
			if err != nil || p.Reason != "" {
				t.Fatalf("%v %s", err, p.Reason)
			}
			check := func(what string, questions []string) {
				t.Helper()
				retries, follow := 0, 0
				for _, q := range questions {
					if strings.Contains(q, "<failed>") {
						retries++
					}
					if strings.Contains(q, `"known"`) {
						follow++
					}
				}
				if most := 2 * ((fresh + piece - 1) / piece); len(questions) > most {
					t.Errorf("%s: %d calls, at most %d", what, len(questions), most)
				}
				if len(questions) != c.calls || retries != c.retries || follow != c.follow {
					t.Errorf("%s: %d calls, %d retries, %d about neighbours", what, len(questions), retries, follow)
				}
			}
			var shown []string
			for _, a := range p.Asked {
				shown = append(shown, a.User)
			}
			check("preview", shown)
			if j := h.close("s"); j.State != store.Done {
				t.Fatalf("%s %s", j.State, j.Reason)
			}
			h.mu.Lock()
			asked := h.asked[before+len(shown):]
			h.mu.Unlock()
			check("reflection", asked)
			if _, again, err := h.Enqueue(t.Context(), ann, "s", store.TriggerExplicit); err != nil || again {
				t.Errorf("queued again with nothing new: %v %v", again, err)
			}
		})
	}
}

// A model whose answers can't be read isn't asked more often for that: all attempts
// share the allowance, and rules find what they can.
func TestAttemptsShareTheAllowance(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, n int)
		calls  int
		reason string
	}{
		"no answer can be read": {func(w http.ResponseWriter, _ int) { say(w, "I would rather not.") }, 2, "can't be read"},
		"three times nobody answers": {func(w http.ResponseWriter, n int) {
			if n <= 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			say(w, "I would rather not.")
		}, 5, "can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, func(w http.ResponseWriter, n int, _ string) { c.answer(w, n) })
			h.cfg.Attempts, h.cfg.Backoff, h.cfg.MaxBackoff = 9, time.Nanosecond, time.Nanosecond
			h.run()
			h.talk("s", 1, "Remember that I play the cello.", "Noted.")
			j := h.over("s")
			if h.calls() != c.calls || !strings.Contains(j.Reason, c.reason) {
				t.Errorf("%d calls, want %d; %s: %s", h.calls(), c.calls, j.State, j.Reason)
			}
			if j.State != store.Dead || len(j.Kept) != 1 {
				t.Errorf("%s, kept %v", j.State, j.Kept)
			}
		})
	}
}
