package admin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// guard decides who may call the admin port. Order: the Host (a web page that
// had its name resolve to this machine), the Origin (a web page that calls from
// elsewhere), then the token. Health is for probes and passes.
type guard struct {
	token *tokenSource
	hosts []string
	fails *Limiter
	keys  func(token string) bool // further tokens that open MCP; nil: none
}

// mcpPath is where MCP is served; what a key may do there MCP itself knows.
const mcpPath = "/mcp"

func forMCP(r *http.Request) bool {
	return r.URL.Path == mcpPath || strings.HasPrefix(r.URL.Path, mcpPath+"/")
}

// Bearer is the bearer token of a request, empty where there is none.
func Bearer(r *http.Request) string {
	if token, is := bearer(r.Header.Get("Authorization")); is {
		return token
	}
	return ""
}

func newGuard(cfg Config) *guard {
	g := &guard{token: newTokenSource(cfg.Token, cfg.TokenFile), fails: NewLimiter(cfg.Now), keys: cfg.Keys}
	for _, h := range cfg.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			if p := g.check(w, r); p != nil {
				p.write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// check returns the problem of a request that may not pass.
func (g *guard) check(w http.ResponseWriter, r *http.Request) *Problem {
	if p := g.place(r); p != nil {
		return p
	}
	sum, err := g.token.get()
	if err != nil {
		return problem(http.StatusServiceUnavailable, "Make the data directory writable, or set HINDSIGHT_ADMIN_TOKEN.", "there is no admin token: it can't be written to the data directory")
	}
	peer := PeerOf(r)
	if wait := g.fails.Wait(peer); wait > 0 {
		seconds := strconv.Itoa(int(wait.Seconds()) + 1)
		w.Header().Set("Retry-After", seconds)
		return problem(http.StatusTooManyRequests, "Wait "+seconds+" seconds.", "too many wrong tokens from %s", peer)
	}
	shown, isBearer := bearer(r.Header.Get("Authorization"))
	if isBearer && (matches(sum, shown) || g.keys != nil && forMCP(r) && g.keys(shown)) {
		return nil
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="hindsight"`)
	next := "Send Authorization: Bearer TOKEN; the token is HINDSIGHT_ADMIN_TOKEN or stands in the file admin-token of the data directory."
	if shown == "" {
		return problem(http.StatusUnauthorized, next, "there is no bearer token")
	}
	g.fails.Failed(peer)
	return problem(http.StatusUnauthorized, next, "the bearer token is wrong")
}

// place returns the problem of a request that was sent to another name, or by a
// page of another server.
func (g *guard) place(r *http.Request) *Problem {
	if !g.hostAllowed(r.Host) {
		return problem(http.StatusForbidden, "Call it by a loopback name, or add the name to HINDSIGHT_ADMIN_HOSTS.", "this port doesn't answer to the Host %q", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r) {
		return problem(http.StatusForbidden, "Call it from its own pages or without a browser.", "the Origin %q isn't this server", origin)
	}
	return nil
}

func bearer(header string) (string, bool) {
	scheme, token, _ := strings.Cut(header, " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "bearer")
}

// PeerOf is the address that a request comes from, without its port.
func PeerOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// hostAllowed takes loopback names with any port, and the configured ones with
// or without theirs.
func (g *guard) hostAllowed(host string) bool {
	host = strings.ToLower(host)
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if slices.Contains(g.hosts, host) || slices.Contains(g.hosts, name) || name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// sameOrigin takes https without TLS here as well: a proxy before us may end it.
func sameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http" && r.TLS == nil) && strings.EqualFold(u.Host, r.Host)
}

// secure sets the headers that keep answers out of caches and frames.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}
