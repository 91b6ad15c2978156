package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// raw is an upstream of which each connection is served by hand.
func raw(t *testing.T, serve func(n int, c net.Conn, in *bufio.Reader)) *upstream {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				serve(n, c, bufio.NewReader(c))
			}()
		}
	}()
	return newUpstream(&url.URL{Scheme: "http", Host: ln.Addr().String()})
}

func small(up *upstream, body string) outgoing {
	o := outgoing{
		method: http.MethodPost, up: up, target: "/v1/chat/completions", query: "?a=b%20c",
		header: http.Header{
			"User-Agent": {"OpenAI/Python 1.0"}, "Content-Type": {"application/json"}, "Accept": {"a", "b"},
			"X-Stainless-Os": {"Linux"}, "X-Empty": {""}, "Authorization": {"Bearer sk-x"}, "X-Wide": {"h\xc3\xa9"},
		},
	}
	o.carry(payload{[]byte(body)})
	return o
}

// What goes over the wire is what net/http would send, byte for byte.
func TestPlainSendsWhatNetHTTPSends(t *testing.T) {
	for name, change := range map[string]func(*outgoing){
		"as it is":      func(*outgoing) {},
		"no user agent": func(o *outgoing) { o.header["User-Agent"] = nil },
		"no query":      func(o *outgoing) { o.query = "" },
		"empty query":   func(o *outgoing) { o.query = "?" },
		"odd path":      func(o *outgoing) { o.target = "/v1/%2Fx//y" },
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan string, 2)
			up := raw(t, func(_ int, c net.Conn, in *bufio.Reader) {
				var got bytes.Buffer
				tee := bufio.NewReader(io.TeeReader(in, &got))
				req, err := http.ReadRequest(tee)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				seen <- got.String()
			})
			c := newClient(Config{ConnectTimeout: time.Second}, nil)
			t.Cleanup(c.close)
			for _, through := range []bool{true, false} {
				o := small(up, `{"model":"m"}`)
				change(&o)
				if !c.plain.takes(&o) {
					t.Fatal("isn't taken")
				}
				if !through {
					c.plain = nil
				}
				resp, err := c.do(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
			}
			if a, b := <-seen, <-seen; a != b {
				t.Errorf("it sends\n%s\nwhere net/http sends\n%s", a, b)
			}
		})
	}
}

func TestPlainLeavesTheRestToNetHTTP(t *testing.T) {
	up := newUpstream(&url.URL{Scheme: "http", Host: "model:8000"})
	p := newClient(Config{}, nil).plain
	for name, change := range map[string]func(*outgoing){
		"TLS":               func(o *outgoing) { o.up = newUpstream(&url.URL{Scheme: "https", Host: "model"}) },
		"a name to encode":  func(o *outgoing) { o.up = newUpstream(&url.URL{Scheme: "http", Host: "möbel"}) },
		"a large body":      func(o *outgoing) { o.carry(payload{make([]byte, together+1)}) },
		"a streamed body":   func(o *outgoing) { o.pieces = nil },
		"another method":    func(o *outgoing) { o.method = http.MethodGet },
		"an upgrade":        func(o *outgoing) { o.header["Upgrade"] = []string{"x"} },
		"a broken value":    func(o *outgoing) { o.header["X"] = []string{"a\rb"} },
		"a broken name":     func(o *outgoing) { o.header["a b"] = []string{"c"} },
		"a space in a path": func(o *outgoing) { o.target = "/a b" },
		"a path like a host": func(o *outgoing) {
			o.target = "//other/x"
		},
	} {
		o := small(up, "{}")
		if change(&o); p.takes(&o) {
			t.Errorf("%s: taken", name)
		}
	}
	if o := small(up, "{}"); !p.takes(&o) || o.up.plain != "model:8000" {
		t.Errorf("an ordinary request isn't taken; dialled at %q", o.up.plain)
	}
	if plain := newUpstream(&url.URL{Scheme: "http", Host: "[::1]"}).plain; plain != "[::1]:80" {
		t.Errorf("dialled at %q", plain)
	}
	if c := newClient(Config{FirstByteTimeout: time.Second}, nil); c.plain != nil {
		t.Error("the limit of the first byte isn't kept")
	}
}

// One connection serves requests one after the other; it isn't used again where
// either side says so, or where its answer wasn't read to its end.
func TestPlainConnections(t *testing.T) {
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for name, c := range map[string]struct {
		answer string
		read   bool
		fresh  bool // the second request goes over a connection of its own
		fails  bool
	}{
		"length":               {answer: whole, read: true},
		"chunks":               {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", read: true},
		"no body":              {answer: "HTTP/1.1 204 No Content\r\n\r\n", read: true},
		"interim answers":      {answer: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + whole, read: true},
		"not read":             {answer: whole, fresh: true},
		"asked to close":       {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", read: true, fresh: true},
		"HTTP/1.0":             {answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", read: true, fresh: true},
		"more than was asked":  {answer: whole + "HTTP/1.1 200 OK\r\n", read: true, fresh: true},
		"not HTTP":             {answer: "hello\r\n\r\n", fails: true},
		"interim without end":  {answer: strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 10), fails: true},
		"a head without limit": {answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", headMost) + "\r\n\r\n", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			conns := make(chan int, 4)
			up := raw(t, func(n int, conn net.Conn, in *bufio.Reader) {
				for {
					req, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					conns <- n
					if _, err := io.WriteString(conn, c.answer); err != nil {
						return
					}
				}
			})
			client := newClient(Config{ConnectTimeout: time.Second}, nil)
			t.Cleanup(client.close)
			for range 2 {
				resp, err := client.do(t.Context(), small(up, "{}"))
				if c.fails {
					if err == nil {
						t.Fatal("no error")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if c.read {
					if _, err := io.ReadAll(resp.Body); err != nil {
						t.Fatal(err)
					}
				}
				_ = resp.Body.Close()
			}
			if a, b := <-conns, <-conns; (a != b) != c.fresh {
				t.Errorf("over connections %d and %d", a, b)
			}
		})
	}
}

// A kept connection that the upstream has closed is noticed while it waits, and
// a request that meets one goes once more over a new one.
func TestPlainKeptConnectionsEnd(t *testing.T) {
	served := make(chan net.Conn, 4)
	up := raw(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			served <- c
		}
	})
	client := newClient(Config{ConnectTimeout: time.Second}, nil)
	t.Cleanup(client.close)
	ask := func() net.Conn {
		t.Helper()
		resp, err := client.do(t.Context(), small(up, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		return <-served
	}
	_ = ask().Close()
	ask() // its first connection is dead, or known to be
	p := client.plain
	kept := p.take(up.plain)
	if kept == nil || !alive(kept.Conn) {
		t.Fatal("nothing is kept, or what is kept is dead")
	}
	p.put(kept)
	p.sweep()
	if kept = p.take(up.plain); kept == nil {
		t.Fatal("a living connection was swept")
	}
	kept.since = time.Now().Add(-idleTimeout)
	p.idle[up.plain] = append(p.idle[up.plain], kept)
	p.sweep()
	if got := p.take(up.plain); got != nil {
		t.Error("one that was idle for too long is still kept")
	}
	_ = ask().Close()
	for {
		p.mu.Lock()
		p.sweepNow()
		left := len(p.idle[up.plain])
		p.mu.Unlock()
		if left == 0 {
			break
		}
	}
}

// Whoever waits for an answer, or for the rest of one, is let go when the
// exchange ends.
func TestPlainEndsWithItsContext(t *testing.T) {
	for _, head := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok"} {
		t.Run(fmt.Sprint(len(head)), func(t *testing.T) {
			closed := make(chan error, 1)
			asked := make(chan struct{})
			up := raw(t, func(_ int, c net.Conn, in *bufio.Reader) {
				req, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(c, head)
				close(asked)
				_, err = in.ReadByte()
				closed <- err
			})
			client := newClient(Config{ConnectTimeout: time.Second}, nil)
			t.Cleanup(client.close)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-asked; cancel() }()
			resp, err := client.do(ctx, small(up, "{}"))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
			if err := <-closed; err == nil {
				t.Error("the upstream's connection stays")
			}
			if client.plain.take(up.plain) != nil {
				t.Error("the connection is kept")
			}
		})
	}
}
