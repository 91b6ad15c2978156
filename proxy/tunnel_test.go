package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// echo agrees to any upgrade and sends back what it gets.
func echo(w http.ResponseWriter, q *http.Request) {
	if q.Header.Get("Upgrade") == "" || q.Header.Get("Connection") != "Upgrade" {
		w.WriteHeader(400)
		return
	}
	c, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Fprintf(buf, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\nSec-Websocket-Accept: a\r\n\r\nready ", q.Header.Get("Upgrade"))
	buf.Flush()
	io.Copy(c, buf)
}

func TestUpgrades(t *testing.T) {
	for _, c := range []struct {
		path, kind string
		tunnel     bool
		code       int
	}{
		{"/v1/realtime?model=m", "websocket", false, 101},
		{"/v1/responses", "websocket", false, 426},
		{"/v1/responses", "WebSocket", true, 101},
		{"/v1/responses", "other", false, 101},
	} {
		r := start(t, echo, func(cfg *proxyConfig, _ *proxyMemory) { cfg.TunnelWebSockets = c.tunnel })
		conn := r.raw()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Key: k\r\n\r\nearly ", c.path, c.kind)
		br := bufio.NewReader(conn)
		resp, err := http.ReadResponse(br, nil)
		if err != nil || resp.StatusCode != c.code {
			t.Fatalf("%s %s: %v %v", c.path, c.kind, resp, err)
		}
		if c.code != 101 {
			io.Copy(io.Discard, resp.Body)
			continue
		}
		if resp.Header.Get("Upgrade") != c.kind || resp.Header.Get("Sec-Websocket-Accept") != "a" {
			t.Errorf("%s: headers %v", c.path, resp.Header)
		}
		io.WriteString(conn, "late \x00\xff")
		got := make([]byte, len("ready early late \x00\xff"))
		if _, err := io.ReadFull(br, got); err != nil || string(got) != "ready early late \x00\xff" {
			t.Errorf("%s: got %q %v", c.path, got, err)
		}
		conn.Close()
		eventually(t, "the tunnel is over", func() bool { return r.metric("hindsight_inflight") == 0 })
	}
}

// An upstream that doesn't agree is a usual answer.
func TestUpgradeRefused(t *testing.T) {
	r := start(t, ok)
	resp, body := r.do("GET", "/v1/realtime", nil, "Connection", "Upgrade", "Upgrade", "websocket")
	if resp.StatusCode != 200 || body != whole {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

func TestNoForwardProxy(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	c := r.raw()
	fmt.Fprintf(c, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 400 {
		t.Errorf("%v %v", resp, err)
	}
	c = r.raw()
	fmt.Fprintf(c, "GET http://example.com/v1/models?a=b HTTP/1.1\r\nHost: example.com\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 || up.last(t).uri != "/v1/models?a=b" {
		t.Errorf("%v %v", resp, err)
	}
}
