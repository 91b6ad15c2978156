//go:build unix

package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/valyala/fasthttp"

	"hindsight/inject"
	"hindsight/proxy"
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/proxy/session"
	"hindsight/store"
)

// quiet is a memory that does nothing, at no cost.
type quiet struct{ memory }

func (q *quiet) Identify(_ context.Context, in session.Incoming) *session.Turn {
	return &session.Turn{Session: "s1", Exchange: "x1", Mode: session.Write}
}
func (q *quiet) Begin(*session.Turn, inject.Plan) *store.Exchange                  { return nil }
func (q *quiet) Ended(*session.Turn)                                               {}
func (q *quiet) Finish(*session.Turn, dialect.Answer, session.End) *store.Exchange { return nil }

func (q *quiet) Recorded(*session.Turn) {}

// BenchmarkProxy sends small requests over 32 connections: with no memory, with
// one that records and injects nothing, and through net/http's own reverse
// proxy.
func BenchmarkProxy(b *testing.B) {
	up := &fasthttp.Server{Handler: func(c *fasthttp.RequestCtx) {
		c.SetContentType("application/json")
		c.SetBodyString(whole)
	}}
	upstream := listen(b)
	go up.Serve(upstream)
	base, _ := url.Parse("http://" + upstream.Addr().String())

	b.Run("reverseproxy", func(b *testing.B) {
		rp := httputil.NewSingleHostReverseProxy(base)
		rp.Transport = &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
		ln := listen(b)
		srv := &http.Server{Handler: rp}
		go srv.Serve(ln)
		defer srv.Close()
		drive(b, ln.Addr().String())
	})
	for name, mem := range map[string]proxy.Memory{"off": {}, "quiet": {Tracker: &quiet{}}} {
		b.Run(name, func(b *testing.B) {
			s, err := proxy.New(proxy.Config{Upstream: base, Routes: []proxy.Route{{Suffix: "/chat/completions", Dialect: chat.Dialect{}}}}, mem, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			ln := listen(b)
			ctx, stop := context.WithCancel(context.Background())
			ran := make(chan error)
			go func() { ran <- s.Run(ctx, ln) }()
			drive(b, ln.Addr().String())
			stop()
			<-ran
		})
	}
}

func listen(b *testing.B) net.Listener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ln.Close() })
	return ln
}

func drive(b *testing.B, addr string) {
	b.ReportAllocs()
	b.SetParallelism(16)
	request := []byte(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer sk-x\r\n"+
		"User-Agent: OpenAI/Python 1.0\r\nAccept: application/json\r\nX-Stainless-Lang: python\r\nX-Stainless-Os: Linux\r\nAccept-Encoding: gzip, deflate\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello))
	before := cpu(b)
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		br := bufio.NewReader(c)
		for pb.Next() {
			c.Write(request)
			n := 0
			for {
				line, err := br.ReadString('\n')
				if err != nil {
					b.Error(err)
					return
				}
				if line == "\r\n" {
					break
				}
				if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
					fmt.Sscan(v, &n)
				}
			}
			io.CopyN(io.Discard, br, int64(n))
		}
	})
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpu is the processor time of this process so far, in nanoseconds: on a
// machine that others use too it says more than the wall clock.
func cpu(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
