package main

import (
	"bytes"
	"net/http"
	"sync"
	"testing"

	"hindsight/internal/fakellm"
)

// A session is reflected in its own dialect, at that dialect's upstream, with
// the very header that its caller sent.
func TestReflectionSpeaksTheSessionsDialect(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ body, header, value string }{
		"/v1/chat/completions": {`{"model":"` + fakellm.Model + `","messages":[{"role":"user","content":"I live in Lyon."}]}`, "Authorization", "Bearer sk-test"},
		"/v1/messages":         {`{"model":"` + fakellm.Model + `","max_tokens":50,"messages":[{"role":"user","content":"I live in Lyon."}]}`, "X-Api-Key", "sk-ant-api-test"},
		"/v1/responses":        {`{"model":"` + fakellm.Model + `","input":"I live in Lyon."}`, "Authorization", "Bearer sk-test"},
	} {
		t.Run(path[4:], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "LLM_API_KEY=", "HINDSIGHT_REFLECT_MODEL=")
			var mu sync.Mutex
			var asked []arrived
			w.answer = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
				if bytes.Contains(body, []byte("hindsight_memories")) {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, arrived{r.Header.Clone(), r.URL.Path, body})
				}
				return false
			}
			headers := []string{c.header + ": " + c.value}
			if c.header != "Authorization" {
				headers = append(headers, "Authorization: ", "Anthropic-Version: 2023-06-01")
			}
			r, err := w.post(path, c.body, headers...)
			if err != nil || r.status != http.StatusOK {
				t.Fatalf("%v %d %s", err, r.status, r.body)
			}
			kept, dropped := w.close(r.session())
			if len(kept) != 1 || kept[0].Text != "The user lives in Lyon." {
				t.Fatalf("kept %q, dropped %+v", texts(kept), dropped)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(asked) != 1 || asked[0].path != path || asked[0].header.Get(c.header) != c.value {
				t.Fatalf("asked %d times, at %s with %v", len(asked), asked[0].path, asked[0].header)
			}
			if path == "/v1/messages" && asked[0].header.Get("Anthropic-Version") == "" {
				t.Error("without a version")
			}
			if path == "/v1/responses" && !bytes.Contains(asked[0].body, []byte(`"store":false`)) {
				t.Errorf("kept at the provider: %s", asked[0].body)
			}
		})
	}
}

// What a provider says of a caller's rate, in answers to the caller's own
// requests, lets reflection with that credential pause.
func TestReflectionPausesWhereTheCallersRateRunsShort(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(h http.Header) int{
		"little left": func(h http.Header) int {
			h.Set("X-Ratelimit-Limit-Tokens", "1000")
			h.Set("X-Ratelimit-Remaining-Tokens", "150")
			h.Set("X-Ratelimit-Reset-Tokens", "30m")
			return http.StatusOK
		},
		"refused": func(h http.Header) int { h.Set("Retry-After", "1800"); return http.StatusTooManyRequests },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "LLM_API_KEY=", "HINDSIGHT_REFLECT_MODEL=")
			reflections := w.countReflections()
			count := w.answer
			first := w.conversation().say("I live in Lyon.")
			w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
				if bytes.Contains(body, []byte("hindsight_memories")) {
					return count(rw, r, body)
				}
				if status := say(rw.Header()); status != http.StatusOK {
					rw.WriteHeader(status)
					return true
				}
				return count(rw, r, body)
			}
			w.send(`{"model":"` + fakellm.Model + `","messages":[{"role":"user","content":"How deep is the sea?"}]}`)
			w.answer = count
			w.flush()
			w.admin(http.MethodPost, "/api/v1/sessions/"+first.session()+"/close", "")
			w.until("the job pauses", func() bool { return w.reflections("waiting_for_key") == 1 })
			if reflections.Load() != 0 {
				t.Errorf("asked %d times", reflections.Load())
			}
			// Another caller's credential has its own rate.
			other := w.conversation("Authorization: Bearer sk-other", "Hindsight-User: bob").say("I live in Porto.")
			if other.session() != "" {
				if kept, _ := w.close(other.session()); len(kept) != 1 {
					t.Errorf("another's reflection kept %q", texts(kept))
				}
			}
		})
	}
}
