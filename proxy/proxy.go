// Package proxy stands between clients and the upstream: it forwards every
// request, lets memories into those of a memory route, and hands finished
// exchanges out.
//
// Make a [Server] with [New] and call [Server.Run] with a listener. What isn't
// a memory route streams through both ways. On a memory route the body is read,
// scanned by the route's dialect, told apart by the [Tracker], and gets the
// blocks of the [Planner]; the answer streams to the client while a bounded
// copy is kept, which is read after the answer has ended and goes to the
// [Recorder].
//
// Memory can't fail a request here: its work runs under one deadline, what may
// take long in a goroutine of its own (docs/decisions/0007), panics are caught, and whatever goes wrong forwards the
// client's bytes with a reason in the status header and a counter. Only
// forwarding itself answers with an error of ours.
//
// The package knows no store and no wire format: formats are dialects, and
// memory is three small interfaces.
package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/proxy/session"
	"hindsight/store"
)

// Tracker says whose a request is and keeps conversations apart; it is
// [session.Tracker]. Identify is bounded by ctx. Ended is called before the
// answer's last byte is handed to the client, Finish once for every turn (what it
// gets of the answer is good until it returns), and
// Recorded when the exchange that Finish returned is with the Recorder. A nil
// exchange means that nothing is to be recorded.
type Tracker interface {
	Identify(ctx context.Context, in session.Incoming) *session.Turn
	Begin(t *session.Turn, plan inject.Plan) *store.Exchange
	Ended(t *session.Turn)
	Finish(t *session.Turn, a dialect.Answer, end session.End) *store.Exchange
	Recorded(t *session.Turn)
}

var _ Tracker = (*session.Tracker)(nil)

// Planner chooses what a conversation should see; it is [inject.Engine]. Plan
// is bounded by ctx and never fails. Commit is called with the plan that was
// really used, before the request leaves.
type Planner interface {
	AtOnce(c inject.Conversation, late bool) (inject.Plan, bool)
	Plan(ctx context.Context, c inject.Conversation) inject.Plan
	Commit(p inject.Plan)
	Withdraw(o store.Owner, session string)
}

// Recorder takes exchanges into the journal. Neither call blocks.
type Recorder interface {
	Begin(x *store.Exchange)
	Finish(x *store.Exchange)
}

// Memory is what the proxy asks on memory routes. Without a Tracker memory is
// off for every request; Planner and Recorder may be nil by themselves.
type Memory struct {
	Tracker  Tracker
	Planner  Planner
	Recorder Recorder
	// Limits may be nil; it is told of every upstream's answer.
	Limits Limits
}

// Limits hears what an upstream's answer says of the rate of the credential
// that the request went out with: a status (429) and headers. Answered doesn't
// block, changes and keeps nothing of what it gets, and may be called from any
// goroutine.
type Limits interface {
	Answered(sent http.Header, status int, got http.Header)
}

// Server is the proxy. Its methods may be called from any goroutine, Run once.
type Server struct {
	cfg     Config
	mem     Memory
	log     *slog.Logger
	metrics *metrics

	app       *fiber.App
	upstream  *upstream
	anthropic *upstream
	client    *client
	refusals  refusals
	room      room
	tls       *tls.Config

	state atomic.Int32 // starting, serving or draining
	asked atomic.Int64 // when the last request came, in nanoseconds

	// base is the parent of every exchange's context: it ends at a hard stop,
	// never when a drain begins.
	base context.Context
	kill context.CancelFunc
	hard chan struct{}
	once sync.Once

	work    *crew          // walks, and ends of exchanges
	walks   chan struct{}  // a place for each walk under way
	ended   chan struct{}  // closed: what walks that needed no goroutine are waited for by
	tunnels sync.WaitGroup // connections that were taken over from fasthttp
}

// busyFor is how long the server counts as busy after a request has come.
const busyFor = 100 * time.Millisecond

// Busy says whether requests are coming.
func (s *Server) Busy() bool { return time.Now().UnixNano()-s.asked.Load() < int64(busyFor) }

// New checks the configuration and makes a server that isn't listening yet.
// log and reg may be nil. The error names every field that can't be used.
func New(cfg Config, mem Memory, log *slog.Logger, reg prometheus.Registerer) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("configure the proxy: %w", err)
	}
	cfg = cfg.withDefaults()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, mem: mem, log: log, metrics: newMetrics(reg), hard: make(chan struct{}), work: newCrew()}
	s.walks = make(chan struct{}, walksAtOnce*runtime.GOMAXPROCS(0))
	s.ended = make(chan struct{})
	close(s.ended)
	s.refusals.left = map[refusal]int{}
	s.room.limit = cfg.MaxInFlight
	s.metrics.holds(reg, &s.room)
	s.base, s.kill = context.WithCancel(context.Background())
	s.upstream = newUpstream(cfg.Upstream)
	s.anthropic = s.upstream
	if cfg.Anthropic != nil && *cfg.Anthropic != *cfg.Upstream {
		s.anthropic = newUpstream(cfg.Anthropic)
	}
	s.client = newClient(cfg, mem.Limits)
	if cfg.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the listener's certificate: %w", err)
		}
		s.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	s.app = s.newApp()
	return s, nil
}

func (c Config) validate() error {
	var bad []error
	for _, u := range []struct {
		name string
		url  *url.URL
	}{{"Upstream", c.Upstream}, {"Anthropic", c.Anthropic}} {
		if u.url == nil {
			if u.name == "Upstream" {
				bad = append(bad, errors.New("Upstream: no URL"))
			}
			continue
		}
		if u.url.Scheme != "http" && u.url.Scheme != "https" || u.url.Host == "" {
			bad = append(bad, fmt.Errorf("%s %q: want http:// or https:// and a host", u.name, u.url.Redacted()))
		}
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		bad = append(bad, errors.New("CertFile and KeyFile belong together"))
	}
	return errors.Join(bad...)
}
