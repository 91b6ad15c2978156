package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"hindsight/store"
)

const streamed = `{"stream":true,"messages":[{"role":"user","content":"x"}]}`

const events = ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" +
	`data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"h` + "\u4f60" + `"}}]}` + "\n\n\n\n" +
	`data: {"id":"c1","choices":[{"index":0,"delta":{"content":"i"},"finish_reason":"stop"}]}` + "\r\n\r\n" +
	`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n" +
	"data: [DONE]\n\n"

// stepwise writes pieces, each when the client says so.
func stepwise(pieces []string, step <-chan struct{}, length bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if length {
			w.Header().Set("Content-Length", fmt.Sprint(len(strings.Join(pieces, ""))))
		}
		w.(http.Flusher).Flush()
		for _, p := range pieces {
			<-step
			io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

// Every piece reaches the client before the next one is sent, any cut of the
// stream; the headers come before the first.
func TestStreamAtOnce(t *testing.T) {
	i := strings.Index(events, "\u4f60") + 1
	cuts := map[string][]string{
		"in a character": {events[:i], events[i:]},
		"events":         strings.SplitAfter(events, "\n\n"),
	}
	for i := range len(events) {
		cuts["bytes"] = append(cuts["bytes"], events[i:i+1])
	}
	for name, pieces := range cuts {
		for _, length := range []bool{false, true} {
			t.Run(fmt.Sprint(name, length), func(t *testing.T) {
				step := make(chan struct{})
				r := start(t, stepwise(pieces, step, length))
				resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
				defer resp.Body.Close()
				var got bytes.Buffer
				for _, p := range pieces {
					step <- struct{}{}
					if _, err := io.CopyN(&got, resp.Body, int64(len(p))); err != nil {
						t.Fatal(err)
					}
				}
				if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
					t.Fatalf("after the end: %q %v", rest, err)
				}
				if got.String() != events {
					t.Errorf("got %q", got.String())
				}
				e := r.end()
				if e.end.Status != store.Complete || e.answer.Text != "h\u4f60i" || e.answer.Usage.Cached != 4 {
					t.Errorf("recorded %+v %+v", e.end, e.answer)
				}
			})
		}
	}
}

func TestStreamEndedBeforeLastByte(t *testing.T) {
	for _, length := range []bool{false, true} {
		step := make(chan struct{})
		r := start(t, stepwise([]string{events, ": bye\n\n"}, step, length))
		resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
		step <- struct{}{}
		// Up to the end mark and no further, as clients do.
		if _, err := io.CopyN(io.Discard, resp.Body, int64(len(events))); err != nil {
			t.Fatal(err)
		}
		if got := r.happened(); len(got) < 3 || got[0] != "begin" || got[2] != "ended" {
			t.Errorf("when the client has the end mark: %v", got)
		}
		// The exchange is over, whatever the upstream still does.
		if e := r.end(); e.end.Status != store.Complete {
			t.Errorf("finished as %+v", e.end)
		}
		step <- struct{}{}
		resp.Body.Close()
	}
}

func TestAnswerEndedBeforeLastByte(t *testing.T) {
	r := start(t, ok)
	for range 50 {
		r.post(hello)
		n := 0
		for _, e := range r.happened() {
			if e == "ended" {
				n++
			} else if e == "begin" {
				n--
			}
		}
		if n != 0 {
			t.Fatal("the client had the answer before Ended")
		}
	}
	for range 50 {
		if e := r.end(); e.answer.Text != "hi" || !e.answer.Whole || e.answer.Usage.Input != 7 || e.end.HTTP != 200 {
			t.Fatalf("recorded %+v %+v", e.answer, e.end)
		}
	}
	eventually(t, "cached tokens are counted", func() bool { return r.metric("hindsight_upstream_cached_tokens_total") == 150 })
}

// An upstream that breaks off breaks off at the client too.
func TestUpstreamCut(t *testing.T) {
	cut := func(head string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			c, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			buf.WriteString("HTTP/1.1 200 OK\r\n" + head)
			buf.Flush()
			c.Close()
		}
	}
	event := `data: {"choices":[{"index":0,"delta":{"content":"h"}}]}` + "\n\n"
	for name, head := range map[string]string{
		"chunked stream": "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(event), event),
		"stream, length": "Content-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\n" + event,
		"json, length":   "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + event,
		"json, chunked":  "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(event), event),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, cut(head))
			resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != event {
				t.Errorf("client got %q, %v", got, err)
			}
			if e := r.end(); e.end.Status != store.Truncated {
				t.Errorf("finished as %+v", e.end)
			}
		})
	}
	t.Run("cleanly, but in the middle", func(t *testing.T) {
		r := start(t, cut("Content-Type: text/event-stream\r\n\r\n"+event))
		if _, body := r.post(streamed); body != event {
			t.Errorf("client got %q", body)
		}
		if e := r.end(); e.end.Status != store.Truncated {
			t.Errorf("finished as %+v", e.end)
		}
	})
}

func TestEncodedAnswers(t *testing.T) {
	encode := map[string]func([]byte) []byte{
		"gzip": func(b []byte) []byte {
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			z.Write(b)
			z.Close()
			return out.Bytes()
		},
		"br": func(b []byte) []byte {
			var out bytes.Buffer
			z := brotli.NewWriter(&out)
			z.Write(b)
			z.Close()
			return out.Bytes()
		},
		"zstd": func(b []byte) []byte {
			z, _ := zstd.NewWriter(nil)
			return z.EncodeAll(b, nil)
		},
	}
	for coding, f := range encode {
		for _, code := range []int{200, 500} {
			for _, kind := range []string{"application/json", "text/event-stream"} {
				text := whole
				if kind == "text/event-stream" {
					text = events
				}
				body := f([]byte(text))
				r := start(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", kind)
					w.Header().Set("Content-Encoding", coding)
					w.WriteHeader(code)
					w.Write(body)
				})
				resp, got := r.post(streamed, "Accept-Encoding", coding)
				if got != string(body) || resp.Header.Get("Content-Encoding") != coding || resp.StatusCode != code {
					t.Errorf("%s %d: bytes or headers changed: %v", coding, code, resp.Header)
				}
				e := r.end()
				if code == 200 && (e.answer.Text == "" || e.end.Status != store.Complete) {
					t.Errorf("%s: recorded %+v %+v", coding, e.answer, e.end)
				}
			}
		}
	}
}

func TestHTTP10(t *testing.T) {
	step := make(chan struct{}, 100)
	r := start(t, stepwise(strings.SplitAfter(events, "\n\n"), step, false))
	c := r.raw()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(streamed), streamed)
	br := bufio.NewReader(c)
	// The first event comes before the second is sent.
	step <- struct{}{}
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len(": OPENROUTER PROCESSING\n\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		step <- struct{}{}
	}
	rest, err := io.ReadAll(resp.Body)
	if err != nil || string(first)+string(rest) != events || len(resp.TransferEncoding) > 0 {
		t.Errorf("HTTP/1.0 client got %q %v %v", rest, err, resp.TransferEncoding)
	}
	if resp.Header.Get("Hindsight-Session") != "s1" || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("headers %v", resp.Header)
	}
	if e := r.end(); e.end.Status != store.Complete {
		t.Errorf("finished as %+v", e.end)
	}
}

func TestAnswerAboveLimitIsNoMaterial(t *testing.T) {
	r := start(t, ok, func(c *proxyConfig, _ *proxyMemory) { c.MaxAnswer = 50 })
	if _, got := r.post(hello); got != whole {
		t.Errorf("client got %q", got)
	}
	if e := r.end(); e.end.Status != store.Truncated {
		t.Errorf("finished as %+v", e.end)
	}
}
