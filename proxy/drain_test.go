package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hindsight/inject"
	"hindsight/store"
)

func TestHealth(t *testing.T) {
	var up script
	r := start(t, up.handler(ok), func(c *proxyConfig, _ *proxyMemory) {
		c.Memory = func() (string, string) { return "degraded", "disk full" }
	})
	eventually(t, "ready", r.server.Ready)
	if resp, body := r.do("GET", "/hindsight/readyz", nil); resp.StatusCode != 200 || body != `{"ready":true,"memory":"degraded","reason":"disk full"}` {
		t.Errorf("readyz: %d %s", resp.StatusCode, body)
	}
	if resp, _ := r.do("GET", "/hindsight/healthz?x=1", nil); resp.StatusCode != 200 || len(up.all()) > 0 {
		t.Errorf("healthz: %d", resp.StatusCode)
	}
	r.do("GET", "/hindsight/else", nil)
	r.do("POST", "/hindsight/readyz", nil)
	if len(up.all()) != 2 {
		t.Error("other paths aren't the upstream's")
	}
}

// A drain lets a stream end, says so in the answer, refuses new connections and
// closes idle ones; then everything has been finished.
func TestDrain(t *testing.T) {
	step := make(chan struct{})
	first, rest, _ := strings.Cut(events, "data:")
	r := start(t, stepwise([]string{first, "data:" + rest}, step, false))
	finish := make(chan struct{})
	r.finish = func() { <-finish }
	idle := r.raw()
	fmt.Fprintf(idle, "GET /hindsight/healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	readUntil(t, idle, "ok\n")
	resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
	defer resp.Body.Close()
	step <- struct{}{}
	io.ReadFull(resp.Body, make([]byte, len(first)))

	r.stop()
	eventually(t, "not ready", func() bool { return !r.server.Ready() })
	if _, code := r.server.Health(); code != 503 {
		t.Errorf("readyz is %d", code)
	}
	eventually(t, "new connections refused", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection: %v", err)
	}
	select {
	case err := <-r.ran:
		t.Fatalf("stopped in the middle of a stream: %v", err)
	default:
	}
	step <- struct{}{}
	got, err := io.ReadAll(resp.Body)
	if err != nil || first+string(got) != events {
		t.Errorf("the stream ended as %q %v", got, err)
	}
	select {
	case <-r.ran:
		t.Fatal("Run returned before the exchange was finished")
	case <-time.After(300 * time.Millisecond):
	}
	close(finish)
	if err := <-r.ran; err != nil {
		t.Errorf("Run: %v", err)
	}
	r.ran <- nil
	if e := r.end(); e.end.Status != store.Complete {
		t.Errorf("finished as %+v", e.end)
	}
}

// A second signal cuts what is still open.
func TestHardStop(t *testing.T) {
	step := make(chan struct{})
	defer close(step)
	r := start(t, stepwise([]string{"data: {}\n\n", "more"}, step, false))
	resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
	defer resp.Body.Close()
	step <- struct{}{}
	r.stop()
	eventually(t, "draining", func() bool { return !r.server.Ready() })
	r.server.Close()
	if err := <-r.ran; err != nil {
		t.Errorf("Run: %v", err)
	}
	r.ran <- nil
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the stream ended as if it were whole")
	}
	if len(r.ends) != 1 {
		t.Errorf("%d exchanges were finished", len(r.ends))
	}
}

func TestGraceEnds(t *testing.T) {
	step := make(chan struct{})
	defer close(step)
	r := start(t, stepwise([]string{"data: {}\n\n"}, step, false), func(c *proxyConfig, _ *proxyMemory) {
		c.Grace = 20 * time.Millisecond
	})
	resp := r.open("POST", "/v1/chat/completions", strings.NewReader(streamed))
	defer resp.Body.Close()
	r.stop()
	if err := <-r.ran; err != nil {
		t.Errorf("Run: %v", err)
	}
	r.ran <- nil
}

// Answers given while draining close their connection.
func TestDrainClosesConnections(t *testing.T) {
	planning, plan := make(chan struct{}), make(chan struct{})
	r := start(t, ok)
	r.plan = func(context.Context, inject.Conversation) inject.Plan {
		close(planning)
		<-plan
		return inject.Plan{Status: inject.None}
	}
	c := r.raw()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello)
	<-planning
	r.stop()
	eventually(t, "draining", func() bool { return !r.server.Ready() })
	eventually(t, "refused", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(plan)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != 200 || !resp.Close {
		t.Errorf("%+v %v", resp, err)
	}
}
