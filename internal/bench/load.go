// Package bench compares the proxy with calling the upstream directly and with
// Go's own reverse proxy: interleaved rounds in one run on one machine, so that
// ratios hold even where absolute times don't. It speaks raw HTTP/1.1 over
// kept-alive connections, to cost little itself.
package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Target is something to send requests to.
type Target struct {
	Name   string
	URL    string // of the chat completions endpoint
	Header http.Header
}

// Load is one kind of traffic.
type Load struct {
	Name  string
	Body  func(n int) []byte // of the n-th request
	Conns int
	For   time.Duration
}

// Result is what one target did under one load in one round.
type Result struct {
	Requests int
	Failed   int
	P50, P99 time.Duration
	PerSec   float64
}

// Drive sends the load to the target and measures it. Requests are numbered
// from first on; the next free number is returned.
func Drive(ctx context.Context, t Target, l Load, first int) (Result, int, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return Result{}, first, fmt.Errorf("parse the target's URL: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, l.For)
	defer cancel()
	type part struct {
		took   []time.Duration
		failed int
		err    error
	}
	parts := make([]part, l.Conns)
	var numbers counter
	numbers.next = first
	var wg sync.WaitGroup
	start := time.Now()
	for i := range parts {
		wg.Go(func() {
			p := &parts[i]
			p.took, p.failed, p.err = oneConn(ctx, u, t.Header, l.Body, &numbers)
		})
	}
	wg.Wait()
	wall := time.Since(start)
	var r Result
	var all []time.Duration
	for _, p := range parts {
		if p.err != nil {
			return r, numbers.next, fmt.Errorf("drive %s: %w", t.Name, p.err)
		}
		all = append(all, p.took...)
		r.Failed += p.failed
	}
	if len(all) == 0 {
		return r, numbers.next, fmt.Errorf("drive %s: no request was answered in %s", t.Name, l.For)
	}
	slices.Sort(all)
	r.Requests = len(all)
	r.P50, r.P99 = all[len(all)/2], all[len(all)*99/100]
	r.PerSec = float64(len(all)) / wall.Seconds()
	return r, numbers.next, nil
}

type counter struct {
	mu   sync.Mutex
	next int
}

func (c *counter) take() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return c.next - 1
}

func oneConn(ctx context.Context, u *url.URL, h http.Header, body func(int) []byte, numbers *counter) (took []time.Duration, failed int, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", u.RequestURI(), u.Host)
	_ = h.Write(&head) // a buffer
	var out []byte
	for ctx.Err() == nil {
		b := body(numbers.take())
		out = append(append(out[:0], head.Bytes()...), fmt.Sprintf("Content-Length: %d\r\n\r\n", len(b))...)
		out = append(out, b...)
		start := time.Now()
		if _, err := conn.Write(out); err != nil {
			return took, failed, err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return took, failed, err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return took, failed, err
		}
		_ = resp.Body.Close() // read to its end
		took = append(took, time.Since(start))
		if resp.StatusCode != http.StatusOK {
			failed++
		}
	}
	return took, failed, nil
}
