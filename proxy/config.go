package proxy

import (
	"net/url"
	"time"

	"hindsight/proxy/dialect"
)

// Config says where requests go and what bounds them. Zero values mean the
// defaults that stand beside the fields.
type Config struct {
	Upstream  *url.URL // LLM_API_BASE: with or without /v1, a trailing slash, a path prefix
	Anthropic *url.URL // for /messages* and requests with anthropic-version; nil: Upstream

	// RequireKey is auth.mode keys: every caller but a probe must be known to
	// the Tracker, and those that it calls keyed go upstream with APIKey.
	RequireKey bool
	APIKey     string

	Routes []Route // memory routes, the first that matches counts
	Splice dialect.SpliceOptions

	// TunnelWebSockets forwards a WebSocket upgrade on …/responses too. By
	// default it is answered 426, so that the client falls back to HTTP, where
	// memory works.
	TunnelWebSockets bool

	MaxBody   int64 // bytes of a memory route's request body, decoded too; 64 MiB
	MaxAnswer int   // bytes of an answer that are kept to be read; 16 MiB
	// MaxInFlight bounds the bytes of all request bodies and copies of answers
	// that are held at a time; 512 MiB. Above it requests stream through
	// without memory.
	MaxInFlight int64

	HeaderTimeout    time.Duration // a client may take so long for its headers; 10 s
	IdleTimeout      time.Duration // of a client's kept connection; 2 min
	ConnectTimeout   time.Duration // to the upstream, TLS included; 10 s
	FirstByteTimeout time.Duration // of the upstream's answer; 0: none
	RecallDeadline   time.Duration // all that memory may cost a request; 150 ms
	WatchAfter       time.Duration // from when on a client's leaving is watched for; 100 ms
	Grace            time.Duration // for streams to end after Run's context has; 600 s

	CertFile, KeyFile string // PEM; listen with TLS

	// Memory is the state for readyz: on, degraded or off, and why. nil: off.
	Memory func() (state, reason string)
}

// Route gives POST requests whose path ends in Suffix to a dialect.
type Route struct {
	Suffix  string // such as /chat/completions
	Dialect dialect.Dialect
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.HeaderTimeout, 10 * time.Second},
		{&c.IdleTimeout, 2 * time.Minute},
		{&c.ConnectTimeout, 10 * time.Second},
		{&c.RecallDeadline, 150 * time.Millisecond},
		{&c.WatchAfter, 100 * time.Millisecond},
		{&c.Grace, 10 * time.Minute},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 64 << 20
	}
	if c.MaxAnswer <= 0 {
		c.MaxAnswer = 16 << 20
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = 512 << 20
	}
	if c.Memory == nil {
		c.Memory = func() (string, string) { return "off", "" }
	}
	return c
}
