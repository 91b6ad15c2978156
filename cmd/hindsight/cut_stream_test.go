package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// An upstream that breaks off breaks off at the client too, and the exchange is
// recorded as what it is.
func TestCutAnswerIsCutForTheClient(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for name, c := range map[string]struct {
		head, answer string
		stream       bool
	}{
		"a stream":         {"text/event-stream", "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"The fix was to set MAX_CONN to 55 in the\"}}]}\n\n", true},
		"a chunked answer": {"application/json", `{"choices":[{"index":0,"message":{"role":"assistant","content":"The fix was to set MAX_CONN to 55 in the`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answer = func(rw http.ResponseWriter, _ *http.Request, _ []byte) bool {
				rw.Header().Set("Content-Type", c.head)
				fmt.Fprint(rw, c.answer)
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			v := w.conversation()
			if c.stream {
				v.extra = `"stream":true,`
			}
			body := v.add("user", "The database drops connections under load. How do I fix that?").body()
			r, err := w.trySend(body)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("the client's transfer ended with %v", err)
			}
			if r.status != http.StatusOK || string(r.body) != c.answer {
				t.Errorf("the client got %d %q", r.status, r.body)
			}
			s := w.session(r.session())
			if len(s.Exchanges) != 1 || s.Exchanges[0].Status != store.Truncated {
				t.Fatalf("recorded %+v", s.Exchanges)
			}
		})
	}
}

// The material that reflection sends holds the user's words of a cut exchange,
// but not the half answer; a whole one is in it.
func TestCutAnswerIsNoMaterial(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for _, whole := range []bool{false, true} {
		w := newWorld(t)
		var shown atomic.Bool
		w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
			if bytes.Contains(body, []byte("hindsight_memories")) {
				shown.Store(bytes.Contains(body, []byte("This is my answer")))
				return false
			}
			rw.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(rw, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"This is my answer\"}}]}\n\n")
			if whole {
				fmt.Fprint(rw, "data: [DONE]\n\n")
				return true
			}
			rw.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		r, err := w.trySend(`{"model":"` + fakellm.Model + `","stream":true,"messages":[{"role":"user","content":"My name is Ann."}]}`)
		if whole != (err == nil) {
			t.Fatalf("whole %t: the client's transfer ended with %v", whole, err)
		}
		kept, _ := w.close(r.session())
		if len(kept) != 1 || kept[0].Text != "The user's name is Ann." {
			t.Errorf("whole %t: kept %+v", whole, kept)
		}
		if shown.Load() != whole {
			t.Errorf("whole %t: reflection was shown the answer: %t", whole, shown.Load())
		}
	}
}
