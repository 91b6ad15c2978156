package bench

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Headers that tell the benchmark's upstream how to answer.
const (
	headerEvents = "Bench-Events" // a stream of so many events
	headerPace   = "Bench-Pace"   // the time between two
	headerHold   = "Bench-Hold"   // not before it is told
)

// upstream answers every request with an ordinary small completion, each with
// a number of its own, as fast as it can.
type upstream struct {
	answers atomic.Int64
	held    atomic.Int64

	mu      sync.Mutex
	release chan struct{}
}

// ServeUpstream serves the benchmark's upstream until the listener is closed.
func ServeUpstream(ln net.Listener) error {
	u := &upstream{release: make(chan struct{})}
	s := &fasthttp.Server{MaxRequestBodySize: 128 << 20, NoDefaultServerHeader: true, Handler: u.handle}
	return s.Serve(ln)
}

func (u *upstream) handle(c *fasthttp.RequestCtx) {
	switch string(c.Path()) {
	case "/held":
		fmt.Fprint(c, u.held.Load())
		return
	case "/release":
		u.mu.Lock()
		close(u.release)
		u.release = make(chan struct{})
		u.mu.Unlock()
		return
	}
	n := u.answers.Add(1)
	if len(c.Request.Header.Peek(headerHold)) > 0 {
		u.mu.Lock()
		release := u.release
		u.mu.Unlock()
		u.held.Add(1)
		<-release
		u.held.Add(-1)
	}
	if events, err := strconv.Atoi(string(c.Request.Header.Peek(headerEvents))); err == nil {
		pace, _ := time.ParseDuration(string(c.Request.Header.Peek(headerPace))) // none: at once
		c.SetContentType("text/event-stream")
		c.SetBodyStreamWriter(func(w *bufio.Writer) { stream(w, n, events, pace) })
		return
	}
	c.SetContentType("application/json")
	c.SetBody(fmt.Appendf(nil, `{"id":"chatcmpl-%024d","object":"chat.completion","created":1700000000,"model":"bench-1",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"Build %d passes; two tests were slow."},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":42,"completion_tokens":9,"total_tokens":51}}`, n, n))
}

// stream writes an answer as events, each flushed by itself and with the time
// at which it was sent.
func stream(w *bufio.Writer, n int64, events int, pace time.Duration) {
	for i := range events {
		if i > 0 && pace > 0 {
			time.Sleep(pace)
		}
		finish := "null"
		if i == events-1 {
			finish = `"stop"`
		}
		fmt.Fprintf(w, `data: {"id":"chatcmpl-%024d","object":"chat.completion.chunk","created":1700000000,"model":"bench-1","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":%s}],"sent":%d}`+"\n\n",
			n, i, finish, time.Now().UnixNano())
		if w.Flush() != nil {
			return
		}
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
	_ = w.Flush() // nobody is there to be told
}

// Events asks the upstream for a stream.
func Events(n int, pace time.Duration) http.Header {
	return http.Header{headerEvents: {strconv.Itoa(n)}, headerPace: {pace.String()}}
}
