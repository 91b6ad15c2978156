// Package weaviatedb keeps what a fleet of sidecars shares in Weaviate: the
// memories with their vectors, and the records of conversations (a second
// collection, named after the first with State at its end).
//
// [New] never connects. [DB.Run] does, for as long as it runs: it makes the
// collections where they are missing, checks them where they are there, compares
// the identity key's fingerprint with the fleet's, and looks at the server every
// two seconds. Until it is content, and whenever the server doesn't answer,
// every call returns a [store.Off] at once, without a try: nothing waits for a
// server that is known to be gone. Weaviate may be absent at the start and go
// away at any time. [DB.State] says how it stands.
//
// Calls are bounded by their context and by Config.Timeout. Writing is
// idempotent: the id of an object is a hash of the memory's or record's. What of
// a batch wasn't taken comes back by id. There is no lock and no transaction.
//
// Search finds candidates in Weaviate, by vector and by words, and ranks them by
// the code of the embedded index, so that a question has the same answer here
// as there. It is exact where a scope's memories fit the candidates.
//
// A trap is named where the code steps around it; DESIGN.md lists them.
package weaviatedb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"hindsight/store"
)

// DB is safe for concurrent use.
type DB struct {
	cfg     Config
	base    *url.URL
	http    *http.Client // for the client's REST calls
	conn    *grpc.ClientConn
	calls   pb.WeaviateClient
	metrics *metrics
	used    *usage
	figures *figureCache

	mu     sync.Mutex // guards what follows
	client *weaviate.Client
	off    string // why; empty: on
	// strange is why the collection isn't this fleet's, as the last look at it that
	// came off has found.
	strange string
	wake    chan struct{}
}

// New returns a DB that is off until Run has connected. The error lists what is
// wrong with the configuration.
func New(cfg Config) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.filled()
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read weaviate's URL: %w", err)
	}
	d := &DB{cfg: cfg, base: base, off: "Weaviate hasn't been reached yet", wake: make(chan struct{}, 1), used: newUsage(), figures: newFigureCache()}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: cfg.TLS, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}
	// A hung server must not hold the client's own look at its version, which has
	// no context: hence the limit for every call.
	d.http = &http.Client{Transport: transport, Timeout: 10 * cfg.Timeout}
	creds := insecure.NewCredentials()
	if cfg.TLS != nil {
		creds = credentials.NewTLS(cfg.TLS.Clone())
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
	}
	if cfg.APIKey != "" {
		opts = append(opts, grpc.WithPerRPCCredentials(bearer{cfg.APIKey, cfg.TLS}))
	}
	// The connection is the package's own and not the client's, whose TLS doesn't
	// look at certificates.
	if d.conn, err = grpc.NewClient(cfg.GRPC, opts...); err != nil {
		return nil, fmt.Errorf("prepare weaviate's gRPC connection: %w", err)
	}
	d.calls = pb.NewWeaviateClient(d.conn)
	d.metrics = newMetrics(cfg.Reg, d)
	return d, nil
}

// maxMessage is the size of the largest gRPC message, that of Weaviate's default.
const maxMessage = 100 << 20

// bearer shows the API key to gRPC calls.
type bearer struct {
	key string
	tls *tls.Config
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.key}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.tls != nil }

// Close ends the connections. Run must have ended.
func (d *DB) Close() error {
	d.figures.work.Wait()
	d.http.CloseIdleConnections()
	if err := d.conn.Close(); err != nil {
		return fmt.Errorf("close weaviate's connection: %w", err)
	}
	return nil
}

// State says whether the shared store can be used now, and why not.
func (d *DB) State() (on bool, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off == "", d.off
}

// ready returns the client, or a store.Off.
func (d *DB) ready() (*weaviate.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off != "" {
		return nil, &store.Off{Reason: d.off}
	}
	return d.client, nil
}

func (d *DB) set(reason string) (changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = d.off != reason
	d.off = reason
	return changed
}

// begin opens a call: its context is bounded, and done counts it. An answer that
// didn't come turns the store off, so that the next call doesn't wait as well;
// Run finds out when it is back.
func (d *DB) begin(ctx context.Context, name string, timeout time.Duration) (inner context.Context, done func(*error), err error) {
	if _, err := d.ready(); err != nil {
		return nil, nil, err
	}
	started := time.Now()
	inner, cancel := context.WithTimeout(ctx, timeout)
	return inner, func(perr *error) {
		cancel()
		d.metrics.seconds.WithLabelValues(name).Observe(time.Since(started).Seconds())
		if *perr == nil {
			return
		}
		d.metrics.errors.WithLabelValues(name).Inc()
		if ctx.Err() == nil && lost(*perr) {
			d.gone(fmt.Sprintf("Weaviate doesn't answer (%s)", name))
		}
	}, nil
}

// gone turns the store off and has Run look.
func (d *DB) gone(reason string) {
	if d.set(reason) {
		d.cfg.Log.Warn("weaviate is gone", "reason", reason)
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// errNotTaken wraps what Weaviate says of an object that it didn't take.
var errNotTaken = errors.New("not taken by Weaviate")
