package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
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
	big := strings.Repeat("v", 63<<10)
	if resp, _ := r.post(hello, "X-Big", big); resp.StatusCode != 200 || up.last(t).header.Get("X-Big") != big {
		t.Errorf("headers of 63 KiB: %d", resp.StatusCode)
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
