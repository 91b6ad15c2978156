package hreflect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// SweepStore is what a sweep needs of a store. Fade does to each memory what was
// decided, unless it was changed since it was read.
type SweepStore interface {
	Key() (store.IdentityKey, error)
	Tenants(ctx context.Context) ([]store.Tenant, error)
	ScopeMemories(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error)
	Fade(ctx context.Context, tenant string, fates []store.Fate) ([]string, error)
	Facts
}

// Facts are small durable values by name; false where one was never set.
type Facts interface {
	Fact(ctx context.Context, name string) (string, bool, error)
	SetFact(ctx context.Context, name, value string) error
}

// SweepConfig is how to sweep. Zero values mean the defaults.
type SweepConfig struct {
	Forgetting lifecycle.Forgetting // as it is: the zero value forgets nothing
	Every      time.Duration        // default 24 h; negative: only when asked
	Look       time.Duration        // between looks whether one is due; default 10 min
	// Gather, where set, gets the memories of each scope that was swept.
	Gather func(ctx context.Context, all []store.Memory) error

	Now func() time.Time
	Log *slog.Logger          // nil: discard
	Reg prometheus.Registerer // nil: not registered
}

// Sweeper forgets what has become old, once a day and never on the request path.
// It goes scope by scope in an order that is the same after a restart, notes
// where it is, and goes on there; in a scope it changes a few memories at a time.
// Killed anywhere, each memory is as before or as after.
type Sweeper struct {
	cfg   SweepConfig
	store SweepStore
	swept *prometheus.CounterVec
	mu    sync.Mutex // one sweep at a time
}

// The facts by which a sweep goes on after a restart.
const (
	sweepCursor = "sweep.cursor" // hash of the last scope that is done, empty between sweeps
	sweepEnded  = "sweep.ended"  // when the last sweep ended
)

// Bounds of a sweep.
const (
	sweepBatch = 50   // memories that change while writers wait
	sweepShown = 1000 // memories that a report names
	sweepPause = 5 * time.Millisecond
)

// NewSweeper makes a sweeper.
func NewSweeper(cfg SweepConfig, st SweepStore) *Sweeper {
	cfg.Every = or(cfg.Every, 24*time.Hour)
	cfg.Look = or(cfg.Look, 10*time.Minute)
	cfg.Log = or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Sweeper{cfg: cfg, store: st, swept: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: store.Product + "_forget_memories_total", Help: "Memories that sweeps archived, lowered or deleted.",
	}, []string{"done"})}
	if cfg.Reg != nil {
		cfg.Reg.MustRegister(s.swept)
	}
	return s
}

// Run sweeps whenever one is due, or was interrupted, until ctx ends.
func (s *Sweeper) Run(ctx context.Context) {
	if s.cfg.Every < 0 {
		return
	}
	look := time.NewTicker(s.cfg.Look)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		due, err := s.due(ctx)
		if err == nil && due {
			_, err = s.Sweep(ctx, "", false)
		}
		if off := (*store.Off)(nil); err != nil && ctx.Err() == nil && !errors.As(err, &off) {
			s.cfg.Log.Warn("sweep interrupted; it goes on at the next look", "error", err)
		}
	}
}

func (s *Sweeper) due(ctx context.Context) (bool, error) {
	cursor, _, err := s.store.Fact(ctx, sweepCursor)
	if err != nil || cursor != "" {
		return err == nil, err
	}
	last, ok, err := s.store.Fact(ctx, sweepEnded)
	if err != nil || !ok {
		return err == nil, err
	}
	at, _ := time.Parse(time.RFC3339, last) // what can't be read is long ago
	return s.cfg.Now().Sub(at) >= s.cfg.Every, nil
}

// scopeToSweep is a scope with the hash by which scopes are ordered.
type scopeToSweep struct {
	hash   string
	tenant string
	scope  store.Scope
}

// Sweep sweeps a tenant now, or all of them where tenant is empty, and says what
// went and why. Dry, it changes nothing and says what would go. A sweep of all
// that was interrupted goes on where it was.
func (s *Sweeper) Sweep(ctx context.Context, tenant string, dry bool) (store.SweepReport, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := store.SweepReport{DryRun: dry, Memories: []store.SweptItem{}}
	list, err := s.scopes(ctx, tenant)
	if err != nil {
		return out, err
	}
	daily := tenant == "" && !dry // the one that is noted
	from := ""
	if daily {
		if from, _, err = s.store.Fact(ctx, sweepCursor); err != nil {
			return out, fmt.Errorf("read where the sweep was: %w", err)
		}
	}
	for _, sc := range list {
		if sc.hash <= from {
			continue
		}
		if err := s.scope(ctx, sc, &out); err != nil {
			return out, err
		}
		if daily {
			if err := s.store.SetFact(ctx, sweepCursor, sc.hash); err != nil {
				return out, fmt.Errorf("note where the sweep is: %w", err)
			}
		}
	}
	if !daily {
		return out, nil
	}
	if err := s.store.SetFact(ctx, sweepEnded, s.cfg.Now().UTC().Format(time.RFC3339)); err != nil {
		return out, fmt.Errorf("note the end of the sweep: %w", err)
	}
	if err := s.store.SetFact(ctx, sweepCursor, ""); err != nil {
		return out, fmt.Errorf("note the end of the sweep: %w", err)
	}
	s.cfg.Log.Info("memories swept", "archived", out.Archived, "lowered", out.Lowered, "deleted", out.Deleted)
	return out, nil
}

// scopes lists what to sweep in the order of the hashes, which tell nothing and
// so may be noted.
func (s *Sweeper) scopes(ctx context.Context, tenant string) ([]scopeToSweep, error) {
	key, err := s.store.Key()
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	all, err := s.store.Tenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the scopes to sweep: %w", err)
	}
	var out []scopeToSweep
	for _, t := range all {
		for _, sc := range t.Scopes {
			if tenant == "" || t.ID == tenant {
				out = append(out, scopeToSweep{key.Hash("sweep", t.ID, string(sc.Scope)).String(), t.ID, sc.Scope})
			}
		}
	}
	slices.SortFunc(out, func(a, b scopeToSweep) int { return cmp.Compare(a.hash, b.hash) })
	return out, nil
}

func (s *Sweeper) scope(ctx context.Context, sc scopeToSweep, out *store.SweepReport) error {
	all, _, err := s.store.ScopeMemories(ctx, sc.tenant, sc.scope)
	if err != nil {
		return fmt.Errorf("read memories of a scope: %w", err)
	}
	faded := lifecycle.Sweep(all, s.cfg.Forgetting, s.cfg.Now())
	for len(faded) > 0 {
		n := min(sweepBatch, len(faded))
		if err := s.batch(ctx, sc.tenant, faded[:n], out); err != nil {
			return err
		}
		faded = faded[n:]
	}
	if s.cfg.Gather == nil || out.DryRun {
		return nil
	}
	return s.cfg.Gather(ctx, all)
}

// batch does to a few memories what was decided, and lets others write.
func (s *Sweeper) batch(ctx context.Context, tenant string, faded []lifecycle.Faded, out *store.SweepReport) error {
	var fates []store.Fate
	var done []string
	for _, f := range faded {
		fates = append(fates, f.Fate)
		done = append(done, f.Memory.ID)
	}
	if !out.DryRun {
		var err error
		if done, err = s.store.Fade(ctx, tenant, fates); err != nil {
			return fmt.Errorf("sweep memories: %w", err)
		}
		select {
		case <-time.After(sweepPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, f := range faded {
		if !slices.Contains(done, f.Memory.ID) {
			continue
		}
		switch f.Fate.Do {
		case store.FateArchive:
			out.Archived++
		case store.FateLower:
			out.Lowered++
		case store.FateDelete:
			out.Deleted++
		}
		if !out.DryRun {
			s.swept.WithLabelValues(string(f.Fate.Do)).Inc()
		}
		if len(out.Memories) < sweepShown {
			m := f.Memory
			out.Memories = append(out.Memories, store.SweptItem{
				ID: m.ID, Tenant: m.Tenant, Scope: m.Scope, Type: m.Type, Text: m.Text, Do: f.Fate.Do, Reason: f.Reason, Score: f.Score,
			})
		}
	}
	return nil
}
