package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/inject"
	"hindsight/store"
)

// Walks have a bounded number of places. Who gets none in time goes on without
// memory, isn't planned for any more, and is recorded all the same.
func TestWalksAreBounded(t *testing.T) {
	places := 16 * runtime.GOMAXPROCS(0)
	free := make(chan struct{})
	r := start(t, ok, func(cfg *proxyConfig, _ *proxyMemory) { cfg.RecallDeadline = 300 * time.Millisecond })
	var mu sync.Mutex
	planned := 0
	r.plan = func(context.Context, inject.Conversation) inject.Plan {
		mu.Lock()
		planned++
		mu.Unlock()
		<-free
		return inject.Plan{Status: inject.None}
	}
	var wg sync.WaitGroup
	ask := func() {
		if resp, _ := r.post(hello); resp.Header.Get("Hindsight-Status") != "skipped;reason=deadline" {
			t.Errorf("status %q", resp.Header.Get("Hindsight-Status"))
		}
	}
	for range places {
		wg.Go(ask)
	}
	eventually(t, "all places are taken", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return planned == places
	})
	for range 5 {
		wg.Go(ask)
	}
	wg.Wait()
	close(free)
	for range places + 5 {
		if e := r.end(); e.end.Status != store.Complete || e.answer.Text != "hi" {
			t.Errorf("finished as %+v", e)
		}
	}
	if planned != places {
		t.Errorf("%d plans were made, want %d", planned, places)
	}
	eventually(t, "all are recorded", func() bool {
		return strings.Count(strings.Join(r.happened(), ","), "record finish") == places+5
	})
}

// Two requests that are sent at once: the second finds what the first has said,
// though no read of the connection lies between them.
func TestPipelinedInOrder(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	c := r.raw()
	one := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello)
	io.WriteString(c, one+one)
	in := bufio.NewReader(c)
	for i := range 2 {
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("answer %d: %v %v", i, resp, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	r.end()
	r.end()
	events := r.happened()
	first := slices.Index(events, "begin") + 1
	if second := first + slices.Index(events[first:], "begin"); second < slices.Index(events, "recorded") {
		t.Errorf("the second request's answer begins before the first is recorded: %q", events)
	}
}
