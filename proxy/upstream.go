package proxy

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// upstream is one base URL, taken apart once.
type upstream struct {
	scheme, host string
	base         string // path without a trailing slash
	versioned    bool   // base holds a version segment
	proxied      bool   // reached through a plain HTTP proxy of the environment
	exact        bool   // base ends in /. and has no version: none is added
	plain        string // where it is dialled, if it is reached directly over plain HTTP
}

func newUpstream(u *url.URL) *upstream {
	base := strings.TrimRight(u.EscapedPath(), "/")
	base, exact := strings.CutSuffix(base, "/.")
	up := &upstream{scheme: u.Scheme, host: u.Host, base: base, exact: exact}
	for _, segment := range strings.Split(base, "/") {
		up.versioned = up.versioned || isVersion(segment)
	}
	if u.Scheme == "http" {
		p, err := http.ProxyFromEnvironment(&http.Request{URL: u})
		up.proxied = err == nil && p != nil
		if err == nil && p == nil && httpguts.ValidHeaderFieldName(strings.Trim(strings.ReplaceAll(u.Host, ":", ""), "[]")) && !strings.Contains(u.Host, "%") {
			up.plain = u.Host
			if u.Port() == "" {
				up.plain = net.JoinHostPort(u.Hostname(), "80")
			}
		}
	}
	return up
}

// isVersion says whether a path segment is a version: v1, v4, v1beta.
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9'
}

// unversioned are the first segments of the API's paths below its version.
var unversioned = []string{
	"assistants", "audio", "batches", "chat", "completions", "conversations", "embeddings", "files", "fine_tuning",
	"images", "messages", "models", "moderations", "realtime", "rerank", "responses", "threads", "uploads", "vector_stores", "videos",
}

// Target is where a request for a path arrives under an upstream's base; the path
// may have a query.
func Target(base *url.URL, path string) string {
	path, query, asked := strings.Cut(path, "?")
	address := base.Scheme + "://" + base.Host + newUpstream(base).target(path)
	if asked {
		address += "?" + query
	}
	return address
}

// target joins the base and a request's path, both as written, so that one
// version stands in the result. A client whose own base repeats ours, or brings
// a version where ours has one, means the same resource.
func (u *upstream) target(path string) string {
	if rest, ok := strings.CutPrefix(path, u.base); ok && (rest == "" || rest[0] == '/') {
		path = rest
	} else if u.versioned {
		if i := strings.Index(path, "/v1/"); i >= 0 {
			path = path[i+len("/v1"):]
		} else if path == "/v1" {
			path = ""
		}
	}
	if !u.versioned && !u.exact {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		for _, name := range unversioned {
			if first == name {
				return u.base + "/v1" + path
			}
		}
	}
	return u.base + path
}

// url is where a request for a target goes. The target is opaque to net/http, so
// that it is sent as it was written; through a plain HTTP proxy, and for a path
// that could be taken for a host, it is written absolute.
func (u *upstream) url(target, query string) *url.URL {
	if u.proxied || strings.HasPrefix(target, "//") {
		target = "//" + u.host + target
	}
	to := &url.URL{Scheme: u.scheme, Host: u.host, Opaque: target}
	if target == "" {
		to.Opaque = "/"
	}
	if strings.HasPrefix(query, "?") {
		to.RawQuery, to.ForceQuery = query[1:], true
	}
	return to
}
