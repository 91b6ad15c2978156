package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"

	"hindsight/store"
)

// Many clients that leave in the middle of a stream leave nothing behind: no
// goroutine, no descriptor, no bytes.
func TestManyAborts(t *testing.T) {
	aborts := 1000
	if testing.Short() {
		aborts = 80
	}
	before := left(t)
	t.Run("aborts", func(t *testing.T) { // its end stops the servers
		r := start(t, func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for q.Context().Err() == nil {
				if _, err := io.WriteString(w, "data: {}\n\n"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		})
		request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(streamed), streamed)
		clients := make(chan int, aborts)
		for i := range aborts {
			clients <- i
		}
		close(clients)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range clients {
					c, err := net.Dial("tcp", r.addr)
					if err != nil {
						t.Error(err)
						return
					}
					if i%4 == 0 {
						c.(*net.TCPConn).SetLinger(0) // a reset, not a polite end
					}
					io.WriteString(c, request)
					io.CopyN(io.Discard, c, int64(i%5)*100)
					c.Close()
				}
			})
		}
		wg.Wait()
		eventually(t, "nothing in flight", func() bool {
			return r.metric("hindsight_inflight") == 0 && r.metric("hindsight_held_bytes") == 0
		})
		eventually(t, "every exchange has ended", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.ends) == len(r.incoming)
		})
		for len(r.ends) > 0 {
			if e := <-r.ends; e.end.Status != store.Aborted {
				t.Errorf("finished as %+v", e.end)
			}
		}
	})
	defer func() {
		if t.Failed() {
			t.Logf("before %+v, after %+v", before, left(t))
			pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		}
	}()
	eventually(t, "goroutines and descriptors are back", func() bool {
		now := left(t)
		return now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	})
}

// traces is what a process would leak.
type traces struct{ goroutines, descriptors int }

func left(t *testing.T) traces {
	t.Helper()
	var n traces
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		// Two of fasthttp's own: one for the process's life, one that ends some
		// seconds after its server.
		if !bytes.Contains(stack, []byte("fasthttp.updateServerDate")) && !bytes.Contains(stack, []byte("fasthttp.(*workerPool).Start")) {
			n.goroutines++
		}
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil { // Linux alone has it
		n.descriptors = len(entries)
	}
	return n
}
