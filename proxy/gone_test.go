package proxy_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hindsight/proxy"
	"hindsight/store"
)

// A client that leaves, in each phase, plain and over TLS: the upstream sees it
// within a second, and the exchange is recorded as aborted with what had come.
func TestClientGone(t *testing.T) {
	event := `data: {"choices":[{"index":0,"delta":{"content":"h"}}]}` + "\n\n"
	request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(streamed), streamed)
	flush := func(w http.ResponseWriter) { w.(http.Flusher).Flush() }
	for _, c := range []struct {
		name    string
		request string
		before  func(w http.ResponseWriter)
		until   string // the client reads this before it leaves
		text    string // recorded
		silent  bool   // no end is recorded: nothing was read whole
	}{
		{name: "before the headers", request: request, before: func(http.ResponseWriter) {}},
		{name: "silence after the headers", request: request, until: "\r\n\r\n", before: func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			flush(w)
		}},
		{name: "mid-stream", request: request, until: `"h"`, text: "h", before: func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event)
			flush(w)
		}},
		{name: "mid-answer", request: request, until: `{"id"`, before: func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"id"`)
			flush(w)
		}},
		{name: "another route", request: "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", silent: true, before: func(http.ResponseWriter) {}},
		{name: "after a pipelined request's beginning", request: "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\nGET /", silent: true, before: func(http.ResponseWriter) {}},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " tls ", secure), func(t *testing.T) {
				t.Parallel()
				came, saw := make(chan struct{}), make(chan struct{})
				opts := []option{}
				if secure {
					opts = append(opts, certificate(t))
				}
				r := start(t, func(w http.ResponseWriter, q *http.Request) {
					io.Copy(io.Discard, q.Body)
					c.before(w)
					close(came)
					<-q.Context().Done()
					close(saw)
				}, opts...)
				conn := r.raw()
				if secure {
					conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
				}
				io.WriteString(conn, c.request)
				<-came
				readUntil(t, conn, c.until)
				conn.Close()
				select {
				case <-saw:
				case <-time.After(time.Second):
					t.Fatal("the upstream didn't see the client leave")
				}
				if !c.silent {
					if e := r.end(); e.end.Status != store.Aborted || e.answer.Text != c.text {
						t.Errorf("finished as %+v %q", e.end, e.answer.Text)
					}
				}
				eventually(t, "counted", func() bool { return r.metric("hindsight_client_gone_total") == 1 })
				eventually(t, "nothing in flight", func() bool { return r.metric("hindsight_inflight") == 0 })
			})
		}
	}
}

func readUntil(t *testing.T, c net.Conn, until string) {
	t.Helper()
	var got strings.Builder
	b := make([]byte, 1)
	for !strings.Contains(got.String(), until) {
		if _, err := c.Read(b); err != nil {
			t.Fatalf("read until %q: %v after %q", until, err, got.String())
		}
		got.Write(b)
	}
}

// The body is still being sent when the client leaves.
func TestClientGoneUploading(t *testing.T) {
	saw := make(chan error, 1)
	first := make(chan struct{})
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		q.Body.Read(make([]byte, 1))
		close(first)
		_, err := io.Copy(io.Discard, q.Body)
		saw <- err
	})
	c := r.raw()
	fmt.Fprintf(c, "POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
	<-first
	c.Close()
	select {
	case err := <-saw:
		if err == nil {
			t.Error("the upstream took the body for whole")
		}
	case <-time.After(time.Second):
		t.Fatal("the upstream didn't see the client leave")
	}

	c = r.raw()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
	c.Close()
	eventually(t, "both are over", func() bool {
		return r.metric("hindsight_client_gone_total") == 2 && r.metric("hindsight_inflight") == 0
	})
}

// The watched connection serves the requests that come after, at any time.
func TestWatchedConnectionGoesOn(t *testing.T) {
	step := make(chan struct{})
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		<-step
		io.WriteString(w, q.URL.Path)
	})
	c := r.raw()
	for i := range 20 {
		fmt.Fprintf(c, "GET /a%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
		// While the answer is awaited the next request begins: the watcher's
		// byte must not get lost.
		fmt.Fprintf(c, "GET /b%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
		time.AfterFunc(12*time.Millisecond, func() { step <- struct{}{}; step <- struct{}{} })
		readUntil(t, c, fmt.Sprintf("\r\n\r\n/a%d", i))
		readUntil(t, c, fmt.Sprintf("\r\n\r\n/b%d", i))
	}
}

// certificate makes the proxy listen with TLS.
func certificate(t *testing.T) option {
	t.Helper()
	certPEM, keyPEM := selfSigned(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, data := range map[string][]byte{cert: certPEM, key: keyPEM} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(c *proxy.Config, _ *proxy.Memory) { c.CertFile, c.KeyFile = cert, key }
}
