package bench

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

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
	h := func(w http.ResponseWriter, r *http.Request) {
		// Or the server closes the request's body when the answer begins, while
		// its end is still being sent on, and the upstream's connection breaks.
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 can
		rp.ServeHTTP(w, r)
	}
	s := &http.Server{Handler: http.HandlerFunc(h), ReadHeaderTimeout: 10 * time.Second}
	return s.Serve(ln)
}

// NginxConfig is nginx as a proxy of streams: kept connections, nothing
// buffered, no log. Its files stay in dir.
func NginxConfig(listen, upstream, dir string) string {
	return fmt.Sprintf(`worker_processes auto;
worker_rlimit_nofile 16384;
pid %[3]s/nginx.pid;
error_log %[3]s/error.log crit;
events { worker_connections 8192; }
http {
	access_log off;
	client_body_temp_path %[3]s/body;
	proxy_temp_path %[3]s/proxy;
	fastcgi_temp_path %[3]s/fastcgi;
	uwsgi_temp_path %[3]s/uwsgi;
	scgi_temp_path %[3]s/scgi;
	keepalive_requests 100000000;
	upstream model { server %[2]s; keepalive 1024; keepalive_requests 100000000; }
	server {
		listen %[1]s;
		client_max_body_size 0;
		location / {
			proxy_pass http://model;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_buffering off;
			proxy_request_buffering off;
			proxy_read_timeout 1h;
		}
	}
}
`, listen, upstream, dir)
}
