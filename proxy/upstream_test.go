package proxy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hindsight/proxy"
	"hindsight/proxy/dialect/messages"
)

func TestTargets(t *testing.T) {
	var up script
	srv := httptest.NewServer(up.handler(ok))
	t.Cleanup(srv.Close)
	const (
		chatV1 = "/v1/chat/completions"
		bare   = "/chat/completions"
		azure  = "/openai/deployments/d/chat/completions?api-version=1"
	)
	for _, c := range []struct{ base, target, want string }{
		{"", chatV1, chatV1},
		{"/", chatV1, chatV1},
		{"/v1", chatV1, chatV1},
		{"/v1/", chatV1, chatV1},
		{"", bare, chatV1},
		{"/v1", bare, chatV1},
		{"/v1/", bare, chatV1},
		{"/onyx/openai", chatV1, "/onyx/openai" + chatV1},
		{"/onyx/openai/", bare, "/onyx/openai" + chatV1},
		{"/onyx/openai/v1", chatV1, "/onyx/openai" + chatV1},
		{"/onyx/openai/v1", bare, "/onyx/openai" + chatV1},
		{"/onyx/openai/v1", "/onyx/openai" + chatV1, "/onyx/openai" + chatV1},
		{"/api/paas/v4", chatV1, "/api/paas/v4/chat/completions"},
		{"/v1beta/openai", chatV1, "/v1beta/openai/chat/completions"},
		{"/models/.", bare, "/models" + bare},
		{"", azure, azure},
		{"/openai", azure, azure},
		{"/v1", "/v1/files/v1/x", "/v1/files/v1/x"},
		{"", "/health", "/health"},
		{"/v1", "/v1", "/v1"},
		{"", "/v1?x", "/v1?x"},
		{"/pre%2Ffix", chatV1, "/pre%2Ffix" + chatV1},
	} {
		r := startAt(t, srv.URL+c.base, noMemory)
		if r.do("POST", c.target, strings.NewReader(hello)); up.last(t).uri != c.want {
			t.Errorf("base %q, %s: arrived at %s, want %s", c.base, c.target, up.last(t).uri, c.want)
		}
		r.stop()
	}
}

func TestAnthropicUpstream(t *testing.T) {
	var other script
	srv := httptest.NewServer(other.handler(ok))
	t.Cleanup(srv.Close)
	base, _ := url.Parse(srv.URL + "/v1")
	var up script
	r := start(t, up.handler(ok), noMemory, func(c *proxyConfig, _ *proxyMemory) { c.Anthropic = base })
	r.do("POST", "/v1/messages", strings.NewReader("{}"))
	r.do("POST", "/v1/messages/count_tokens?beta=true", strings.NewReader("{}"))
	r.do("GET", "/v1/models", nil, "anthropic-version", "2023-06-01")
	r.do("GET", "/v1/models", nil)
	if len(other.all()) != 3 || len(up.all()) != 1 || other.all()[1].uri != "/v1/messages/count_tokens?beta=true" {
		t.Errorf("%d went to the one, %d to the other", len(other.all()), len(up.all()))
	}
}

// An error of ours has the shape that the client of the path reads, also where
// the path lies below a memory route.
func TestErrorShapes(t *testing.T) {
	r := startAt(t, "http://127.0.0.1:1", func(c *proxyConfig, _ *proxyMemory) {
		c.Routes = append(c.Routes, proxy.Route{Suffix: "/messages", Dialect: messages.Dialect{}})
	})
	for path, anthropic := range map[string]bool{
		"/v1/messages": true, "/v1/messages/count_tokens": true, "/v1/messages/count_tokens?beta=true": true,
		"/v1/chat/completions": false, "/v1/models": false, "/v1/messages_of_mine": false,
	} {
		resp, body := r.do("POST", path, strings.NewReader("{}"))
		if got := strings.HasPrefix(body, `{"type":"error","error":{"type":"`); got != anthropic || resp.StatusCode != 502 {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// closing is an upstream that closes its connection after each answer without
// having said so.
func closing(t *testing.T, requests *atomic.Int32) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				br := bufio.NewReader(c)
				q, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				io.Copy(io.Discard, q.Body)
				requests.Add(1)
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				// The next request is read and then dropped: the connection dies
				// when the client has already used it again.
				if q, err := http.ReadRequest(br); err == nil {
					io.Copy(io.Discard, q.Body)
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

func TestStaleConnections(t *testing.T) {
	var requests atomic.Int32
	r := startAt(t, closing(t, &requests))
	for i := range 50 {
		path := []string{"/v1/chat/completions", "/v1/embeddings"}[i%2]
		if resp, body := r.do("POST", path, strings.NewReader(hello)); resp.StatusCode != 200 || body != "ok" {
			t.Fatalf("request %d: %d %q", i, resp.StatusCode, body)
		}
	}
	if requests.Load() != 50 {
		t.Errorf("%d requests were answered, want 50", requests.Load())
	}
}

// A fresh connection that dies is not tried again.
func TestNoRetryOnFreshConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var tries atomic.Int32
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			tries.Add(1)
			http.ReadRequest(bufio.NewReader(c))
			c.Close()
		}
	}()
	r := startAt(t, "http://"+ln.Addr().String())
	resp, _ := r.post(hello)
	if resp.StatusCode != 502 || tries.Load() != 1 {
		t.Errorf("%d after %d tries", resp.StatusCode, tries.Load())
	}
	if e := r.end(); e.end.Status != "error" || e.end.HTTP != 0 {
		t.Errorf("finished as %+v", e.end)
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	r := startAt(t, "http://"+addr)
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		resp, body := r.do("POST", path, strings.NewReader(hello), "Authorization", "Bearer sk-secret")
		var e struct {
			Error struct{ Message, Type string }
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil || resp.StatusCode != 502 {
			t.Fatalf("%s: %d %q", path, resp.StatusCode, body)
		}
		if m := e.Error.Message; !strings.Contains(m, addr) || !strings.Contains(m, "refused") || !strings.Contains(m, "LLM_API_BASE") || strings.Contains(body, "sk-") {
			t.Errorf("%s: message %q", path, m)
		}
	}
}

func TestFirstByteTimeout(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	r := start(t, func(http.ResponseWriter, *http.Request) { <-over }, func(c *proxyConfig, _ *proxyMemory) {
		c.FirstByteTimeout = 20 * time.Millisecond
	})
	if resp, body := r.post(hello); resp.StatusCode != 504 || !strings.Contains(body, "upstream_timeout") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

func TestConfigErrors(t *testing.T) {
	ftp, _ := url.Parse("ftp://user:pass@host")
	for _, c := range []struct {
		cfg  proxy.Config
		want []string
	}{
		{proxy.Config{CertFile: "x"}, []string{"Upstream", "CertFile"}},
		{proxy.Config{Upstream: ftp}, []string{"Upstream", "ftp://"}},
	} {
		_, err := proxy.New(c.cfg, proxy.Memory{}, nil, nil)
		if err == nil {
			t.Fatalf("%+v passed", c.cfg)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q doesn't name %s", err, w)
			}
		}
		if strings.Contains(err.Error(), "pass@") {
			t.Errorf("%q holds a password", err)
		}
	}
}
