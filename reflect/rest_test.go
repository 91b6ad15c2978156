package hreflect_test

import (
	"net/http"
	"testing"
	"time"

	"hindsight/store"
)

// What a provider told one job holds for the next one of the same credential:
// nobody is asked until the pause is over, and the pause is no attempt.
func TestA429LetsTheCredentialRest(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"a caller's": "", "a configured one": "sk-own"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, func(w http.ResponseWriter, n int, data string) {
				if n == 1 {
					w.Header().Set("Retry-After", "3000")
					http.Error(w, "{}", http.StatusTooManyRequests)
					return
				}
				say(w, `{"items":[`+both(data)+`],"injected":[]}`)
			})
			h.cfg.Key, h.cfg.Workers = key, 1
			h.run()
			for _, s := range []string{"s1", "s2", "s3"} {
				h.talk(s, 1, bike+". "+boat+".", "Nice!")
				if _, _, err := h.Enqueue(t.Context(), ann, s, store.TriggerExplicit); err != nil {
					t.Fatal(err)
				}
				h.Wake()
				h.until("it waits", func() bool {
					queued, err := h.Jobs(t.Context(), "")
					for _, j := range queued {
						if err != nil || j.NotBefore.IsZero() {
							return false
						}
					}
					return err == nil
				})
			}
			// The pause isn't over yet, however often it is looked.
			h.clock.add(2000 * time.Second)
			for range 20 {
				h.Wake()
			}
			h.talk("s4", 1, "Hello.", "Hi!")
			if _, _, err := h.Enqueue(t.Context(), ann, "s4", store.TriggerExplicit); err != nil {
				t.Fatal(err)
			}
			h.until("the fourth waits too", func() bool {
				js, err := h.Jobs(t.Context(), store.WaitingForKey)
				return err == nil && len(js) == 3
			})
			if h.calls() != 1 {
				t.Errorf("asked %d times", h.calls())
			}
			h.clock.add(2 * time.Hour)
			h.until("all are done", func() bool {
				js, err := h.Jobs(t.Context(), store.Done)
				return err == nil && len(js) == 4
			})
			js, err := h.Jobs(t.Context(), store.Done)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range js {
				if most := map[string]int{"s1": 2}[j.Session]; j.Attempts > max(most, 1) {
					t.Errorf("%s took %d attempts", j.Session, j.Attempts)
				}
			}
		})
	}
}

// Another credential isn't meant.
func TestA429IsOfOneCredential(t *testing.T) {
	h := newHouse(t, func(w http.ResponseWriter, n int, data string) {
		if n == 1 {
			w.Header().Set("Retry-After", "3000")
			http.Error(w, "{}", http.StatusTooManyRequests)
			return
		}
		say(w, `{"items":[`+both(data)+`],"injected":[]}`)
	})
	h.run()
	h.talk("s1", 1, bike+". "+boat+".", "Nice!")
	if _, _, err := h.Enqueue(t.Context(), ann, "s1", store.TriggerExplicit); err != nil {
		t.Fatal(err)
	}
	h.until("the first waits", func() bool { j, ok := h.job(store.Queued); return ok && !j.NotBefore.IsZero() })
	h.keys.set("Bearer sk-other")
	h.talk("s2", 1, bike+". "+boat+".", "Nice!")
	if j := h.close("s2"); j.State != store.Done || h.calls() != 2 {
		t.Errorf("%d calls: %+v", h.calls(), j)
	}
}
