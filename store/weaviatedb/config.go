package weaviatedb

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// Layout says how memories are spread over Weaviate's tenants.
type Layout string

// The layouts.
const (
	// LayoutShared is a tenant of Weaviate for each tenant of Hindsight.
	LayoutShared Layout = "shared"
	// LayoutIsolated is a tenant of Weaviate for each scope. It is set cold when
	// nobody uses it, and opened by whoever does.
	LayoutIsolated Layout = "isolated"
)

// VectorIndex is the kind of Weaviate's vector index.
type VectorIndex string

// The kinds of a vector index.
const (
	// IndexFlat compares with every vector of a tenant: exact, cheap to write,
	// and good up to some ten thousand memories a tenant.
	IndexFlat VectorIndex = "flat"
	// IndexHNSW is a graph in memory: for tenants of many more.
	IndexHNSW VectorIndex = "hnsw"
	// IndexDynamic is flat until a tenant is large, then hnsw. The server must run
	// with ASYNC_INDEXING=true.
	IndexDynamic VectorIndex = "dynamic"
)

// DefaultTimeout is how long a call may take. Calls that move or erase many
// memories get ten times as much.
const DefaultTimeout = 2 * time.Second

// Config of a DB. URL and Key are required.
type Config struct {
	// URL is http://host:port or https://host:port.
	URL string
	// GRPC is the host:port of Weaviate's gRPC interface. Empty: the host of URL,
	// port 50051, or 443 for https.
	GRPC   string
	APIKey string
	// TLS is used for https; nil: the system's authorities.
	TLS *tls.Config
	// Collection is the name of the memories' collection; empty: AgentMemory. Its
	// first letter is made a capital, as Weaviate wants it. That of the State is
	// named after it.
	Collection  string
	Layout      Layout      // empty: LayoutShared
	VectorIndex VectorIndex // empty: IndexFlat
	// Key hashes the names of tenants and scopes. All sidecars of a fleet have the
	// same.
	Key store.IdentityKey
	// Timeout bounds a call; 0 means DefaultTimeout.
	Timeout time.Duration
	// Probe is how often the server is looked at; 0 means 2 s.
	Probe time.Duration
	// Idle is after how long without use a scope's tenant is set cold, in
	// LayoutIsolated; 0 means 10 minutes.
	Idle time.Duration
	// Open is how many tenants of scopes this process leaves open, in
	// LayoutIsolated, however lately they were used; 0 means 1,000.
	Open int
	Log  *slog.Logger          // nil: discard
	Reg  prometheus.Registerer // nil: no metrics
}

// validName is what Weaviate takes as a collection's name, its first letter aside.
var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,99}$`)

// Validate returns every problem of the configuration at once.
func (c Config) Validate() error {
	var errs []error
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		errs = append(errs, fmt.Errorf("weaviate's URL %q: want http://host:port or https://host:port", c.URL))
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil:
		errs = append(errs, fmt.Errorf("weaviate's URL %q: it has no path, query or user; a key goes into WEAVIATE_API_KEY", u.Redacted()))
	}
	if c.GRPC != "" {
		if _, _, err := net.SplitHostPort(c.GRPC); err != nil {
			errs = append(errs, fmt.Errorf("weaviate's gRPC address %q: want host:port", c.GRPC))
		}
	}
	if c.Collection != "" && !validName.MatchString(c.Collection) {
		errs = append(errs, fmt.Errorf("collection %q: letters, digits and underscores, a letter first, at most 100", c.Collection))
	}
	switch c.Layout {
	case "", LayoutShared, LayoutIsolated:
	default:
		errs = append(errs, fmt.Errorf("layout %q: want %s or %s", c.Layout, LayoutShared, LayoutIsolated))
	}
	switch c.VectorIndex {
	case "", IndexFlat, IndexHNSW, IndexDynamic:
	default:
		errs = append(errs, fmt.Errorf("vector index %q: want %s, %s or %s", c.VectorIndex, IndexFlat, IndexHNSW, IndexDynamic))
	}
	if c.Key == (store.IdentityKey{}) {
		errs = append(errs, errors.New("an identity key is required, the same for every sidecar (HINDSIGHT_IDENTITY_KEY_FILE)"))
	}
	return errors.Join(errs...)
}

// filled puts the defaults in. The configuration is valid.
func (c Config) filled() Config {
	u, _ := url.Parse(c.URL)
	if c.GRPC == "" {
		port := "50051"
		if u.Scheme == "https" {
			port = "443"
		}
		c.GRPC = net.JoinHostPort(u.Hostname(), port)
	}
	if c.TLS == nil && u.Scheme == "https" {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if u.Scheme == "http" {
		c.TLS = nil
	}
	c.Collection = cmp.Or(c.Collection, "AgentMemory")
	c.Collection = strings.ToUpper(c.Collection[:1]) + c.Collection[1:]
	c.Layout = cmp.Or(c.Layout, LayoutShared)
	c.VectorIndex = cmp.Or(c.VectorIndex, IndexFlat)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Probe = cmp.Or(c.Probe, 2*time.Second)
	c.Idle = cmp.Or(c.Idle, 10*time.Minute)
	c.Open = cmp.Or(c.Open, 1000)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
