package bench

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"
)

// answer is what the benchmark's upstream says: an ordinary small completion.
const answer = `{"id":"chatcmpl-0123456789abcdef01234567","object":"chat.completion","created":1700000000,"model":"bench-1",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"The build passes; two tests were slow."},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":42,"completion_tokens":9,"total_tokens":51}}`

// ServeUpstream answers every request with the same completion, as fast as it
// can, until the listener is closed.
func ServeUpstream(ln net.Listener) error {
	s := &fasthttp.Server{
		MaxRequestBodySize: 128 << 20, NoDefaultServerHeader: true,
		Handler: func(c *fasthttp.RequestCtx) {
			c.SetContentType("application/json")
			c.SetBodyString(answer)
		},
	}
	return s.Serve(ln)
}

// ServeReverseProxy runs Go's own reverse proxy in front of the upstream: the
// yardstick. Its idle pool is as large as ours, so that it doesn't lose by
// reconnecting.
func ServeReverseProxy(ln net.Listener, upstream *url.URL) error {
	rp := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport: &http.Transport{
			MaxIdleConns: 0, MaxIdleConnsPerHost: 1024, IdleConnTimeout: 90 * time.Second,
			DisableCompression: true, ForceAttemptHTTP2: true,
		},
		FlushInterval: -1, // as a proxy of streams has to
	}
	s := &http.Server{Handler: rp, ReadHeaderTimeout: 10 * time.Second}
	return s.Serve(ln)
}
