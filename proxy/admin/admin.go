// Package admin is Hindsight's management API: health, metrics, memories,
// sessions, reflections, tenants. [New] builds it over the store; [API.Handler]
// serves it on the admin port, where everything but health needs the bearer
// token and a known Host; [API.OwnerHandler] serves the same routes without
// either on the owner's socket, whose peer the operating system has checked;
// [Metrics] is a handler for scrapers alone.
//
// Routes and the OpenAPI document come from the same Go types. Every error is an
// RFC 9457 problem that names the field and the next step. While the store can't
// be used every call of the API answers 503 with the store's reason; health and
// metrics go on.
//
// The package knows nothing of how things are kept, recalled or reflected: it
// checks what comes in, fills in the tenant and the scope that were left out,
// and asks the interfaces below.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// Memories keeps memories. All calls return [store.ErrNotFound] for an unknown
// id and *[store.Off] while the store can't be used.
type Memories interface {
	Memories(ctx context.Context, f store.MemoryFilter) (page []store.Memory, next string, err error)
	Memory(ctx context.Context, id string) (store.Memory, error)
	PutMemory(ctx context.Context, m store.Memory) (kept store.Memory, created bool, err error)
	EditMemory(ctx context.Context, id string, edit func(*store.Memory) error) (store.Memory, error)
}

// Archive takes memories out of use and back, to an earlier revision too (0: as
// it stands; store.ErrNoRevision where there was none). Revisions are the older
// forms of one, the newest first; Chain is what replaced what. Erasure is the
// receipt of a scope's last erasure, or of that of a memory of it, and how far that
// is by now.
type Archive interface {
	ForgetMemory(ctx context.Context, id string) (store.Memory, error)
	EraseMemory(ctx context.Context, id string) (store.Receipt, error)
	RestoreMemory(ctx context.Context, id string, revision int) (store.Memory, error)
	Revisions(ctx context.Context, id string) ([]store.Memory, error)
	Chain(ctx context.Context, id string) ([]store.Memory, error)
	EraseScope(ctx context.Context, tenant string, scope store.Scope) (store.Receipt, error)
	Erasure(ctx context.Context, tenant string, scope store.Scope, memory string) (store.Receipt, error)
	UndoConsolidation(ctx context.Context, id string) (product store.Memory, sources []store.Memory, err error)
}

// Life is what becomes of memories by themselves, asked for now. An empty scope
// or subject means all of the tenant's. Dry, nothing changes.
type Life interface {
	Consolidate(ctx context.Context, tenant string, scope store.Scope, subject string, dry bool) ([]store.Merge, error)
	Sweep(ctx context.Context, tenant string, dry bool) (store.SweepReport, error)
}

// Promoter brings memories to scopes that others read. The error is
// store.ErrUnshareable for what may not go there.
type Promoter interface {
	Promote(ctx context.Context, p store.Promotion) (kept store.Memory, created bool, err error)
}

// Counter counts what is kept, and sums up the sessions that are compared.
type Counter interface {
	Figures(ctx context.Context, tenant string) (store.Figures, error)
	Trials(ctx context.Context, tenant string) (store.Trials, error)
}

// Tenants lists tenants and joins them. TenantNames and Scopes count nothing, so
// they are quick. TenantAlias returns the tenant that a
// name was linked to, else the name.
type Tenants interface {
	Tenants(ctx context.Context) ([]store.Tenant, error)
	TenantNames(ctx context.Context) ([]string, error)
	Scopes(ctx context.Context, tenant string) ([]store.Scope, error)
	LinkTenants(ctx context.Context, from, to string) error
	TenantAlias(ctx context.Context, tenant string) (string, error)
}

// Sessions reads conversations and what was considered in them.
type Sessions interface {
	Sessions(ctx context.Context, f store.SessionFilter) (page []store.Session, next string, err error)
	FindSession(ctx context.Context, id string) (store.Session, error)
	Exchanges(ctx context.Context, o store.Owner, session string, after, upTo uint64) ([]store.Exchange, error)
	Why(ctx context.Context, exchange string) (store.Why, error)
}

// Queue is the queue of reflections. WaitJob returns when the job is done or
// dead; where ctx ends first it returns the job as it is and ctx's error.
type Queue interface {
	JobPage(ctx context.Context, f store.JobFilter) (store.JobPage, error)
	Requeue(ctx context.Context, id string) (store.Job, error)
	WaitJob(ctx context.Context, id string) (store.Job, error)
}

// Store is all of it, and whether it can be used.
type Store interface {
	Memories
	Archive
	Promoter
	Counter
	Importer
	Backuper
	Tenants
	Sessions
	Journal
	Queue
	State() (on bool, reason string)
}

// Closer ends sessions. Settle returns when every answer whose last byte a
// client has read is on disk, so that a session can be found; Close then ends
// one and queues its reflection. A zero Job means that nothing new was said
// since the last reflection.
type Closer interface {
	Settle(ctx context.Context) error
	Close(ctx context.Context, session string) (store.Job, error)
}

// Config is what an API is built from. Searcher may be nil (search then answers
// 501); Store, Closer, Naming and Ready are required.
type Config struct {
	Store    Store
	Searcher Searcher
	Closer   Closer
	// Naming names conversations that are reported; required like Closer.
	Naming Naming
	// Previewer may be nil: previews then answer 501.
	Previewer Previewer
	// Embedding may be nil: words alone.
	Embedding Embedding
	// Life may be nil: consolidate and sweep then answer 501.
	Life Life
	// Learner may be nil: writing as reflection does then answers 501.
	Learner Learner
	// Feed may be nil: changes can't be followed then.
	Feed Feed
	// MCP serves /mcp and what lies below it; nil: nothing does. Who may is its
	// own business, but for Host, Origin and a peer that guesses tokens:
	// Keys says whether a token other than the admin one is known there.
	MCP  http.Handler
	Keys func(token string) bool
	// Ready says whether requests can be forwarded, and how memory is (on,
	// degraded or off) with the reason.
	Ready func() (ready bool, memory, reason string)

	// Links may be nil: nobody is let into the console.
	Links Links
	// Settings are those in force, without secrets.
	Settings []Setting

	// Shares are the scopes that grants open to others than their owner, by
	// tenant: memories may be promoted there.
	Shares map[string][]store.Scope

	// Tenant is the tenant of calls that name none; empty: the only one there is.
	Tenant string
	// User returns the default user as it stands now (an implied one can end);
	// nil or an empty answer: none.
	User func(ctx context.Context) string

	// Paused lists the scopes of a tenant that gain too many sessions; nil: none
	// ever does.
	Paused func(tenant string) []store.Scope

	// Token is the bearer token; empty: the one in TokenFile, which is made
	// where it isn't there.
	Token     string
	TokenFile string
	// Hosts are Host values to answer to besides loopback names.
	Hosts []string

	Zone     *time.Location        // of the days in a search ("yesterday"); nil: UTC
	Gatherer prometheus.Gatherer   // of /metrics; nil: none
	Reg      prometheus.Registerer // takes the figures that Run keeps; nil: none does
	Version  string                // of the OpenAPI document
	Log      *slog.Logger          // nil discards
	Now      func() time.Time      // nil: time.Now
}

// API is the management API. Its handlers are safe for concurrent use.
type API struct {
	cfg    Config
	log    *slog.Logger
	routes http.Handler
	guard  *guard
	began  time.Time
	keeper *keeper

	recording sync.Mutex // held while reported events are compared and recorded
}

// New builds the API. It makes the token file if it has to; where that fails
// the API works, but Handler answers 503 until the file can be made.
func New(cfg Config) *API {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	if cfg.User == nil {
		cfg.User = func(context.Context) string { return "" }
	}
	a := &API{cfg: cfg, log: cfg.Log, guard: newGuard(cfg), began: cfg.Now()}
	a.keeper = newKeeper(cfg.Store, cfg.Now, cfg.Reg)
	a.routes = a.build()
	if _, err := a.guard.token.get(); err != nil {
		a.log.Error("admin port is closed", "error", err)
	}
	return a
}

// Run keeps the figures of /metrics true until ctx ends. Without it they aren't
// there, and figures of a large store take as long as counting does.
func (a *API) Run(ctx context.Context) {
	a.keeper.run(ctx, func(ctx context.Context) ([]store.Tenant, error) {
		if on, _ := a.cfg.Store.State(); !on {
			return nil, nil
		}
		return a.cfg.Store.Tenants(ctx)
	}, func(err error) { a.log.Warn("count memories for the metrics", "error", err) })
}

// Handler serves the admin port.
func (a *API) Handler() http.Handler { return secure(a.guard.wrap(a.routes)) }

// OwnerHandler serves the owner's socket: the same routes, no token.
func (a *API) OwnerHandler() http.Handler { return secure(a.routes) }
