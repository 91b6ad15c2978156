// Package fleet lets several sidecars share one memory. Each keeps its own
// directory (badgerdb) as journal, queue and ledger, and in it a bounded copy of
// the scopes that it works with; the shared store (weaviatedb) holds the truth.
// A [Fleet] keeps the two in step:
//
//   - it delivers what the directory's outbox holds, in order within a scope and
//     until it has arrived, whatever becomes of the shared store meanwhile, and
//     after a reconnect looks whether the last of it can still be found;
//   - it loads the scopes that requests touch, follows their changes once a
//     second, and drops those used longest ago when the copy grows too large;
//   - [Fleet.Searcher] answers recall from that copy while it is fresh, from the
//     shared store while it isn't, and from whatever copy there is while the
//     shared store is away;
//   - [Fleet.Fetch] reads a conversation that another sidecar has served;
//   - [Fleet.Queue] agrees with the others who reflects for a user.
//
// Call [New], then [Fleet.Run] in a goroutine of its own. Run ends with its
// context, and before it returns delivers what is left and hands open sessions
// over, so the directory must outlive it. Nothing here fails a request, and
// nothing waits for the shared store but Search, Fetch and Refresh, each within
// its caller's context.
//
// There is no lock in it that sidecars share. Two that reflect one session cost
// money and do no harm: ids are hashes of what a memory is, and store.Merge
// gives one state whatever the order in which its forms arrive.
package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config of a Fleet. Zero values stand for the defaults named here.
type Config struct {
	Name     string        // this sidecar's in leases, the same after a restart; default: drawn
	Copy     int64         // bytes of memories held here; default 1 GiB
	Most     int           // memories of a scope up to which it is held here; default 20,000
	Poll     time.Duration // between two looks at a tenant's changes; default 1 s
	Fresh    time.Duration // how old a look may be for the copy to stand for the truth; default 5 s
	Idle     time.Duration // a tenant or a scope that nobody asked about for so long isn't followed; default 10 min
	Patience time.Duration // how long a copy may lag behind for reflection to wait for the shared store; default 2 min
	Now      func() time.Time
	Log      *slog.Logger
	Reg      prometheus.Registerer
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&c.Poll, time.Second)
	set(&c.Fresh, 5*time.Second)
	set(&c.Idle, 10*time.Minute)
	set(&c.Patience, 2*time.Minute)
	if c.Copy == 0 {
		c.Copy = 1 << 30
	}
	if c.Most == 0 {
		c.Most = 20_000
	}
	if c.Name == "" {
		c.Name = rand.Text()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Fleet is one sidecar's part in the shared memory. It is safe for concurrent
// use.
type Fleet struct {
	cfg    Config
	local  Local
	remote Remote
	log    *slog.Logger
	met    *metrics

	health  health
	refusal refusal
	entered sync.Map // scopeKey -> true: on their tenant's list
	late    later
	shipped shipped
	copies  copies
	leases  leases
}

// New joins a directory and a shared store. Neither need be usable yet.
func New(cfg Config, local Local, remote Remote) *Fleet {
	cfg = cfg.withDefaults()
	f := &Fleet{
		cfg: cfg, local: local, remote: remote, log: cfg.Log, met: newMetrics(cfg.Reg),
		late: later{until: map[scopeKey]retry{}}, copies: newCopies(), leases: newLeases(),
	}
	f.health.now = cfg.Now
	return f
}

// lastWords is what the delivery of what is left may take when the process
// stops.
const lastWords = 10 * time.Second

// Run delivers and follows until ctx ends, then delivers what is left and hands
// over. It returns when all of it has ended.
func (f *Fleet) Run(ctx context.Context) {
	var parts sync.WaitGroup
	parts.Go(func() { f.deliver(ctx) })
	parts.Go(func() { f.follow(ctx) })
	parts.Wait()
	// Its own time: ctx has ended.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	f.handOver(last)
	f.drain(last)
}

// errAway is the error of what needs the shared store while it can't be reached.
var errAway = errors.New("the shared memory can't be reached")

// State says whether the shared store can be reached, and if not, why.
func (f *Fleet) State() (on bool, reason string) {
	if on, reason := f.remote.State(); !on {
		return false, reason
	}
	if !f.health.up() {
		return false, "the shared memory doesn't answer in time"
	}
	return true, ""
}

// up says whether it is worth asking the shared store on a request's time.
func (f *Fleet) up() bool {
	on, _ := f.State()
	return on
}

// health remembers that the shared store has let a caller down, so that the
// next ones don't wait for it, until a look behind the requests has succeeded.
type health struct {
	now func() time.Time

	mu     sync.Mutex
	down   bool
	since  time.Time // down: when it began
	failed int       // looks that failed in a row
}

// patience is how many looks in a row must fail for requests to stop asking;
// a request that waited in vain stops them at once.
const patience = 2

func (h *health) up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.down
}

// good notes an answer.
func (h *health) good() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down, h.failed = false, 0
}

// bad notes a call that failed behind the requests.
func (h *health) bad() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed++; h.failed >= patience {
		h.fall()
	}
}

// missed notes a request that waited in vain.
func (h *health) missed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fall()
}

func (h *health) fall() {
	if !h.down {
		h.down, h.since = true, h.now()
	}
}

// away is for how long the shared store hasn't answered.
func (h *health) away() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.down {
		return 0
	}
	return h.now().Sub(h.since)
}
