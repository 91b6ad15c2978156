package hreflect_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"hindsight/store"
)

const (
	cycles  = "I cycle to the office"
	commute = "My commute is always by bike"
)

// near answers for vectors: everything is near everything.
type near struct{ h *house }

func (n near) Near(ctx context.Context, tenant string, scopes []store.Scope, texts []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, sc := range scopes {
		ms, _, err := n.h.ScopeMemories(ctx, tenant, sc)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			for _, m := range ms {
				out[text] = append(out[text], m.ID)
			}
		}
	}
	return out, nil
}

// A neighbour that the model wasn't shown is asked about in one more call, and
// nothing depends on the answer to that one.
func TestNeighboursAreAskedAboutOnce(t *testing.T) {
	for name, c := range map[string]struct {
		answer   func(w http.ResponseWriter)
		subject  string // of both; empty: by meaning
		memories int
	}{
		"the same":             {func(w http.ResponseWriter) { say(w, `{"pairs":[{"n":1,"relation":"same_as"}]}`) }, "commute", 1},
		"the same, by meaning": {func(w http.ResponseWriter) { say(w, `{"pairs":[{"n":1,"relation":"same_as"}]}`) }, "", 1},
		"new":                  {func(w http.ResponseWriter) { say(w, `{"pairs":[{"n":1,"relation":"new"}]}`) }, "commute", 2},
		"another pair":         {func(w http.ResponseWriter) { say(w, `{"pairs":[{"n":7,"relation":"same_as"}]}`) }, "commute", 2},
		"not JSON":             {func(w http.ResponseWriter) { say(w, `They are the same.`) }, "commute", 2},
		"refused":              {func(w http.ResponseWriter) { http.Error(w, "no", http.StatusInternalServerError) }, "commute", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, func(w http.ResponseWriter, _ int, data string) {
				switch {
				case strings.Contains(data, `"known"`):
					c.answer(w)
				case strings.Contains(data, cycles):
					say(w, `{"items":[`+itemOf(data, cycles, "The user cycles to the office.", "subject", c.subject)+`]}`)
				default:
					say(w, `{"items":[`+itemOf(data, commute, "The user's commute is always by bike.", "subject", c.subject)+`]}`)
				}
			})
			if c.subject == "" {
				h.cfg.Meaning = near{h}
			}
			h.run()
			h.talk("s1", 1, cycles+".", "Good for you!")
			h.close("s1")
			h.talk("s2", 1, commute+".", "I see.")
			if j := h.close("s2"); j.State != store.Done {
				t.Fatalf("job: %s %s", j.State, j.Reason)
			}
			ms, _, err := h.ScopeMemories(t.Context(), "t", ann.Scope())
			if err != nil || len(ms) != c.memories || h.calls() != 3 {
				t.Fatalf("%v: %d memories, %d calls", err, len(ms), h.calls())
			}
			if c.memories == 1 && len(ms[0].Evidence) != 2 {
				t.Errorf("%+v", ms[0])
			}
		})
	}
}
