package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// What goes wrong on the wire goes wrong in every format: each case runs
// through the whole product on each memory route.
func TestEveryFormat(t *testing.T) {
	t.Parallel()
	for format, f := range wireFormats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := newWireWorld(t)
			for name, run := range map[string]func(*wireCase){
				"one byte a segment":      (*wireCase).oneByteASegment,
				"comments":                (*wireCase).comments,
				"the client leaves":       (*wireCase).clientLeaves,
				"a cut":                   (*wireCase).cut,
				"denied":                  (*wireCase).denial,
				"too many requests":       (*wireCase).tooMany,
				"encoded answers":         (*wireCase).encodedAnswers,
				"encoded requests":        (*wireCase).encodedRequests,
				"a block that is refused": (*wireCase).refusedBlock,
			} {
				t.Run(name, func(t *testing.T) {
					run(&wireCase{wireFormat: f, wireWorld: w, t: t, name: name})
				})
			}
		})
	}
}

func (c *wireCase) oneByteASegment() { // row 2
	c.upstream(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, b := range []byte(c.stream()) {
			rw.Write([]byte{b})
			rw.(http.Flusher).Flush()
		}
	})
	r, err := c.post(c.request(true))
	c.wantPassed(r, err, http.StatusOK, "text/event-stream", c.stream())
	c.wantRecorded(r.session(), store.Complete, wholeText)
}

func (c *wireCase) comments() { // row 4
	const comments = ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n:\n\n"
	between := strings.Join(c.events, ": data: {}\n\n") + ": last\n\n" + c.end
	read := make(chan struct{})
	c.upstream(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(rw, comments)
		rw.(http.Flusher).Flush()
		select { // nothing more before the client has the comments
		case <-read:
			io.WriteString(rw, between)
		case <-r.Context().Done():
		}
	})
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	resp, err := c.open(ctx, true)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len(comments))
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		c.t.Fatalf("%q, %v", first, err)
	}
	close(read)
	rest, err := io.ReadAll(resp.Body)
	if got := string(first) + string(rest); err != nil || got != comments+between {
		c.t.Errorf("the client got %q, %v", got, err)
	}
	c.wantRecorded(resp.Header.Get("Hindsight-Session"), store.Complete, wholeText)
}

func (c *wireCase) clientLeaves() { // row 18
	for name, leaves := range map[string]struct {
		stream, headers bool
		sent, text      string // of the answer, and what is recorded of it
	}{
		"before the headers":           {stream: true},
		"in silence after the headers": {stream: true, headers: true},
		"mid-stream":                   {stream: true, headers: true, sent: c.events[0] + c.events[1], text: firstHalf},
		"with no stream":               {},
		"with half an answer":          {headers: true, sent: c.whole[:len(c.whole)/2]},
	} {
		c.each(name, func(c *wireCase) {
			came, saw, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			defer close(over)
			c.upstream(func(rw http.ResponseWriter, r *http.Request) {
				if leaves.headers {
					_, kind := c.answerOf(leaves.stream)
					rw.Header().Set("Content-Type", kind)
					io.WriteString(rw, leaves.sent)
					rw.(http.Flusher).Flush()
				}
				close(came)
				select {
				case <-r.Context().Done():
					close(saw)
				case <-over:
				}
			})
			before := len(c.sessions())
			ctx, leave := context.WithCancel(c.t.Context())
			defer leave()
			session := ""
			if leaves.headers {
				resp, err := c.open(ctx, leaves.stream)
				if err != nil {
					c.t.Fatal(err)
				}
				defer resp.Body.Close()
				if _, err := io.ReadFull(resp.Body, make([]byte, len(leaves.sent))); err != nil {
					c.t.Fatal(err)
				}
				session = resp.Header.Get("Hindsight-Session")
			} else {
				left := make(chan error, 1)
				go func() {
					_, err := c.open(ctx, leaves.stream)
					left <- err
				}()
				defer func() {
					if err := <-left; !errors.Is(err, context.Canceled) {
						c.t.Errorf("the client got an answer: %v", err)
					}
				}()
			}
			<-came
			leave()
			select {
			case <-saw:
			case <-time.After(time.Second):
				c.t.Fatal("the upstream didn't see the client leave")
			}
			if leaves.headers {
				c.wantRecorded(session, store.Aborted, leaves.text)
				return
			}
			c.until("nothing in flight", func() bool {
				return bytes.Contains(c.admin(http.MethodGet, "/metrics", ""), []byte("\nhindsight_inflight 0\n"))
			})
			if n := len(c.sessions()); n != before {
				c.t.Errorf("%d sessions of a request without an answer", n-before)
			}
		})
	}
}

func (c *wireCase) cut() { // row 19
	begun := c.events[0] + c.events[1]
	for name, breaks := range map[string]bool{"of the transfer": true, "without the end mark": false} {
		c.each(name, func(c *wireCase) {
			c.upstream(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(rw, begun)
				rw.(http.Flusher).Flush()
				if breaks {
					panic(http.ErrAbortHandler)
				}
			})
			r, err := c.post(c.request(true))
			if breaks != errors.Is(err, io.ErrUnexpectedEOF) {
				c.t.Errorf("the client's transfer ended with %v", err)
			}
			c.wantPassed(r, nil, http.StatusOK, "text/event-stream", begun)
			c.wantRecorded(r.session(), store.Truncated, firstHalf)
		})
	}
}

func (c *wireCase) denial() { // row 20
	before := len(c.sessions())
	c.upstream(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json; charset=utf-8")
		rw.WriteHeader(http.StatusUnauthorized)
		io.WriteString(rw, c.denied)
	})
	r, err := c.post(c.request(true))
	c.wantPassed(r, err, http.StatusUnauthorized, "application/json; charset=utf-8", c.denied)
	if n := len(c.arrived()); n != 1 {
		c.t.Errorf("%d requests", n)
	}
	if n := len(c.sessions()); n != before {
		c.t.Errorf("%d sessions of a denied request", n-before)
	}
}

func (c *wireCase) tooMany() { // row 21
	limits := http.Header{
		"Retry-After": {"7"}, "Anthropic-Ratelimit-Requests-Remaining": {"0"}, "Anthropic-Ratelimit-Requests-Reset": {"2026-11-29T10:00:00Z"},
		"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Should-Retry": {"true"},
	}
	c.upstream(func(rw http.ResponseWriter, _ *http.Request) {
		for name, values := range limits {
			rw.Header()[name] = values
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(rw, c.denied)
	})
	r, err := c.post(c.request(true))
	c.wantPassed(r, err, http.StatusTooManyRequests, "application/json", c.denied)
	for name, values := range limits {
		if d := cmp.Diff(values, r.header[name]); d != "" {
			c.t.Errorf("%s: %s", name, d)
		}
	}
	if n := len(c.arrived()); n != 1 {
		c.t.Errorf("%d requests", n)
	}
}

func (c *wireCase) encodedAnswers() { // row 22
	for _, coding := range []string{"gzip", "br", "zstd"} {
		for _, status := range []int{http.StatusOK, http.StatusInternalServerError} {
			for _, stream := range []bool{false, true} {
				c.each(fmt.Sprintf("%s %d stream %t", coding, status, stream), func(c *wireCase) {
					text, kind := c.answerOf(stream)
					raw := packed(c.t, coding, text)
					c.upstream(func(rw http.ResponseWriter, _ *http.Request) {
						rw.Header().Set("Content-Type", kind)
						rw.Header().Set("Content-Encoding", coding)
						rw.WriteHeader(status)
						io.WriteString(rw, raw)
					})
					r, err := c.post(c.request(stream), "Accept-Encoding: "+coding)
					c.wantPassed(r, err, status, kind, raw)
					if got := r.header.Get("Content-Encoding"); got != coding {
						c.t.Errorf("Content-Encoding %q", got)
					}
					if status == http.StatusOK {
						c.wantRecorded(r.session(), store.Complete, wholeText)
					}
				})
			}
		}
	}
}

func (c *wireCase) encodedRequests() { // row 23
	for _, coding := range []string{"gzip", "zstd"} {
		c.each(coding, func(c *wireCase) {
			c.upstream(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "application/json")
				io.WriteString(rw, c.whole)
			})
			own := c.aboutTheCat()
			r, err := c.post(packed(c.t, coding, own), "Content-Encoding: "+coding)
			c.wantPassed(r, err, http.StatusOK, "application/json", c.whole)
			all := c.arrived()
			if len(all) != 1 || all[0].header["Content-Encoding"] != nil {
				c.t.Fatalf("%d requests, headers %v", len(all), all)
			}
			c.wantBlock(all[0], own)
			c.wantRecorded(r.session(), store.Complete, wholeText)
		})
	}
}

func (c *wireCase) refusedBlock() { // row 59
	c.upstream(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // it is in memory
		rw.Header().Set("Content-Type", "application/json")
		if hasBlock(body) {
			rw.WriteHeader(http.StatusBadRequest)
			io.WriteString(rw, c.denied)
			return
		}
		io.WriteString(rw, c.whole)
	})
	own := c.aboutTheCat()
	r, err := c.post(own)
	c.wantPassed(r, err, http.StatusOK, "application/json", c.whole)
	all := c.arrived()
	if len(all) != 2 || string(all[1].body) != own {
		c.t.Fatalf("the upstream got %d requests: %q", len(all), all)
	}
	c.wantBlock(all[0], own)
	if r.memory() != "skipped;reason=upstream_refused" || r.memories() != "" {
		c.t.Errorf("%s, memories %q", r.memory(), r.memories())
	}
	c.wantRecorded(r.session(), store.Complete, wholeText)
}
