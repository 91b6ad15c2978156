package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func small(c *proxyConfig, _ *proxyMemory) { c.MaxBody = 1 << 20 }

// A body above the limit gets a 413 that the client can read, every time, with
// a length and without, from a client that sends everything before it reads.
func TestTooLarge(t *testing.T) {
	var up script
	r := start(t, up.handler(ok), small)
	for i := range 40 {
		size := 1<<20 + 1
		if i%4 == 3 {
			size = 4 << 20
		}
		c := r.raw()
		if i%2 == 0 {
			fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
			c.Write(bytes.Repeat([]byte{'x'}, size))
		} else {
			fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", size)
			c.Write(bytes.Repeat([]byte{'x'}, size))
			io.WriteString(c, "\r\n0\r\n\r\n")
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("try %d: %v", i, err)
		}
		var e struct {
			Error struct{ Message, Code string }
		}
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || resp.StatusCode != 413 || !strings.Contains(e.Error.Message, "1048576") {
			t.Fatalf("try %d: %d %+v %v", i, resp.StatusCode, e, err)
		}
		if !resp.Close || resp.Header.Get("Hindsight-Status") != "skipped;reason=limit" {
			t.Errorf("try %d: headers %v", i, resp.Header)
		}
		c.Close()
	}
	// At the limit it passes, on other routes always.
	if resp, _ := r.post(strings.Repeat("x", 1<<20)); resp.StatusCode != 200 {
		t.Errorf("at the limit: %d", resp.StatusCode)
	}
	if resp, _ := r.do("POST", "/v1/files", strings.NewReader(strings.Repeat("x", 2<<20))); resp.StatusCode != 200 {
		t.Errorf("another route: %d", resp.StatusCode)
	}
	if len(up.all()) != 2 {
		t.Errorf("the upstream saw %d requests", len(up.all()))
	}
}

// A body whose chunks can't be read is the client's fault on every route.
func TestChunksThatCantBeRead(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	for _, path := range []string{"/v1/chat/completions", "/v1/files"} {
		for _, chunks := range []string{"zz\r\n", "5\r\nhellox\r\n0\r\n\r\n", "ffffffffffffffff1\r\n"} {
			c := r.raw()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%s", path, chunks)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("%s %q: %v", path, chunks, err)
			}
			b, err := io.ReadAll(resp.Body)
			if resp.StatusCode != 400 || !resp.Close || !strings.Contains(string(b), "incomplete_request") || err != nil {
				t.Errorf("%s %q: %d %q %v", path, chunks, resp.StatusCode, b, err)
			}
			c.Close()
		}
	}
}

// An upstream that answers before it has read everything is read, too.
func TestEarlyAnswer(t *testing.T) {
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(401)
		io.WriteString(w, "who are you")
	})
	c := r.raw()
	fmt.Fprintf(c, "POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 8<<20, strings.Repeat("x", 1<<20))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 401 || string(b) != "who are you" || err != nil {
		t.Errorf("got %d %q %v", resp.StatusCode, b, err)
	}
	if _, err := c.Write(bytes.Repeat([]byte{'x'}, 1<<20)); err != nil {
		t.Errorf("the rest: %v", err)
	}
	eventually(t, "nothing in flight", func() bool { return r.metric("hindsight_inflight") == 0 })
}

func TestHeaderLimits(t *testing.T) {
	var up script
	r := start(t, up.handler(ok), func(c *proxyConfig, _ *proxyMemory) { c.HeaderTimeout = 50 * time.Millisecond })
	big := strings.Repeat("v", 64<<10)
	if resp, _ := r.post(hello, "X-Big", big); resp.StatusCode != 200 || up.last(t).header.Get("X-Big") != big {
		t.Errorf("headers of 64 KiB: %d", resp.StatusCode)
	}
	many := []string{}
	for i := range 640 {
		many = append(many, fmt.Sprintf("X-Many-%d", i), strings.Repeat("m", 80))
	}
	if resp, _ := r.post(hello, many...); resp.StatusCode != 200 || len(up.last(t).header) < 640 {
		t.Errorf("640 headers: %d, %d arrived", resp.StatusCode, len(up.last(t).header))
	}
	if resp, body := r.post(hello, "X-Big", strings.Repeat("v", 90<<10)); resp.StatusCode != 431 || !strings.Contains(body, `"error"`) {
		t.Errorf("headers of 90 KiB: %d %q", resp.StatusCode, body)
	}
	c := r.raw()
	io.WriteString(c, "POST /v1/chat/completions HTTP/1.1\r\nHost")
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 408 {
		t.Errorf("slow headers: %v %v", resp, err)
	}
	// A body may be slower than that.
	c = r.raw()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(hello))
	slow := time.NewTimer(100 * time.Millisecond)
	<-slow.C
	io.WriteString(c, hello)
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("slow body: %v %v", resp, err)
	}
}

// A kept connection that says nothing is closed in the end; one that is being
// answered is not.
func TestIdleConnections(t *testing.T) {
	step := make(chan struct{})
	r := start(t, stepwise([]string{"data: {}\n\n", "data: [DONE]\n\n"}, step, false), func(c *proxyConfig, _ *proxyMemory) {
		c.IdleTimeout, c.HeaderTimeout = 60*time.Millisecond, 60*time.Millisecond
	})
	idle := r.raw()
	fmt.Fprintf(idle, "GET /hindsight/healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	readUntil(t, idle, "ok\n")
	began := time.Now()
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closed after %s", took)
	}

	// Neither of the two limits ends an answer: before its first byte and in a
	// gap the upstream may be silent for as long as it likes.
	resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
	defer resp.Body.Close()
	for range 2 {
		silence := time.NewTimer(150 * time.Millisecond)
		<-silence.C
		step <- struct{}{}
	}
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "data: {}\n\ndata: [DONE]\n\n" {
		t.Errorf("the stream: %q %v", got, err)
	}
}

// Nothing cuts a long answer, a plain one neither.
func TestNoTotalTimeout(t *testing.T) {
	began := time.Now()
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		silence := time.NewTimer(150 * time.Millisecond)
		<-silence.C
		ok(w, q)
	}, func(c *proxyConfig, _ *proxyMemory) {
		c.IdleTimeout, c.HeaderTimeout, c.ConnectTimeout = 40*time.Millisecond, 40*time.Millisecond, 40*time.Millisecond
	})
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		if resp, body := r.do("POST", path, strings.NewReader(hello)); resp.StatusCode != 200 || body != whole {
			t.Errorf("%s: %d %q after %s", path, resp.StatusCode, body, time.Since(began))
		}
	}
	// A steady stream that is longer than every limit.
	r = start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range 40 {
			<-tick.C
			io.WriteString(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
		}
	}, func(c *proxyConfig, _ *proxyMemory) {
		c.IdleTimeout, c.HeaderTimeout = 40*time.Millisecond, 40*time.Millisecond
	})
	if _, got := r.post(streamed); got != strings.Repeat("data: {}\n\n", 40) {
		t.Errorf("the steady stream: %d bytes", len(got))
	}
}

// What unpacks to more than the limit, or wants a decoder to keep more than a
// body of HTTP may, is passed on as it came.
func TestBombs(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for range 64 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	large, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	window, _ := zstd.NewWriter(nil, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false))
	var wide bytes.Buffer
	window.Reset(&wide)
	io.WriteString(window, hello)
	window.Flush() // so that the size isn't known and the window is written
	io.WriteString(window, " ")
	window.Close()
	for name, c := range map[string]struct{ coding, body string }{
		"gzip":   {"gzip", zipped.String()},
		"zstd":   {"zstd", string(large.EncodeAll(make([]byte, 64<<20), nil))},
		"window": {"zstd", wide.String()},
	} {
		var up script
		r := start(t, up.handler(ok), small)
		resp, _ := r.post(c.body, "Content-Encoding", c.coding)
		if s := up.last(t); string(s.body) != c.body || s.header.Get("Content-Encoding") != c.coding {
			t.Errorf("%s: the upstream got %d bytes, want %d", name, len(s.body), len(c.body))
		}
		if resp.Header.Get("Hindsight-Status") != "skipped;reason=encoding" {
			t.Errorf("%s: status %q", name, resp.Header.Get("Hindsight-Status"))
		}
		eventually(t, "nothing is held", func() bool { return r.metric("hindsight_held_bytes") == 0 })
	}
}
