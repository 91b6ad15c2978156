package inject

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
	"hindsight/store/index"
)

// Searcher finds candidates. Both calls end with ctx, and their error then
// wraps the context's.
type Searcher interface {
	Search(ctx context.Context, q index.Query) (index.Result, error)
	// List returns every memory that the query's scopes, time and Keep allow.
	List(ctx context.Context, q index.Query) ([]*store.Memory, error)
	// Empty says, without waiting, that no scope has an active memory; false too
	// where that isn't known at once.
	Empty(tenant string, scopes []store.Scope) bool
}

// Ledger keeps the blocks of sessions. SaveLedger never blocks; Gone and Offered
// answer from memory, and know what was saved.
type Ledger interface {
	LoadLedger(ctx context.Context, o store.Owner, session string) ([]store.LedgerEntry, error)
	SaveLedger(entries []store.LedgerEntry)
	Gone(id string) bool
	// Offered is when a block last asked to check a memory, zero if not in the
	// last 30 days.
	Offered(id string) time.Time
}

// Journal takes the record of what was considered. It never blocks.
type Journal interface {
	SaveWhy(w store.Why)
}

// Embedder makes vectors of unit length. An error says that there are none for
// now; then recall goes by words.
type Embedder interface {
	// Question embeds what somebody asks. It returns when ctx ends at the latest.
	Question(ctx context.Context, text string) ([]float32, error)
	// Embed embeds texts to be found.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Config of an Engine. Zero fields get the defaults that stand beside them.
type Config struct {
	// Screen takes secrets out of a question before it is embedded, looked for or
	// kept; nil: nothing. It has a part of the deadline.
	Screen   func(string) string
	TopK     int           // memories a turn: 5
	Tokens   int           // a turn, fence included: 800
	Carried  int           // all blocks of one request: 2,400
	Deadline time.Duration // for a whole Plan: 150 ms
	Ranking  Ranking       // Bounded
	// Gate is how strict the gate is, as a factor of what is built in: 1. Below,
	// more passes; see `hindsight eval tune`.
	Gate float64
	// Profiles are the bounds of certain models, by a pattern over their names in
	// which * stands for anything; of several that fit, the one with most
	// characters of its own counts. Where none fits, a model whose name says that
	// it is small gets the shipped strict one.
	Profiles map[string]Profile
	// Cite asks the model to name the notes that it used.
	Cite bool
	// Sessions is how many sessions' ledgers are held in memory: 4,096.
	Sessions int
	// Embedder is of the model that made the memories' vectors; nil: words alone.
	Embedder Embedder
	// Grants names the scopes beyond the owner's own that an owner reads. Nil
	// means none.
	Grants func(store.Owner) []store.Scope
}

func (c *Config) defaults() error {
	set := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	set(&c.TopK, 5)
	set(&c.Tokens, 800)
	set(&c.Carried, 2400)
	set(&c.Sessions, 4096)
	if c.Deadline == 0 {
		c.Deadline = 150 * time.Millisecond
	}
	if c.Gate == 0 {
		c.Gate = 1
	}
	if c.Ranking == "" {
		c.Ranking = Bounded
	}
	if c.Grants == nil {
		c.Grants = func(store.Owner) []store.Scope { return nil }
	}
	var errs []error
	for _, f := range []struct {
		name string
		n    int
	}{{"top k", c.TopK}, {"tokens a turn", c.Tokens}, {"tokens carried", c.Carried}, {"sessions", c.Sessions}, {"deadline", int(c.Deadline)}} {
		if f.n < 0 {
			errs = append(errs, fmt.Errorf("%s is %d: want more than 0", f.name, f.n))
		}
	}
	if c.Gate < 0 {
		errs = append(errs, fmt.Errorf("gate is %v: want more than 0", c.Gate))
	}
	return errors.Join(append(errs, c.Ranking.validate(), CheckProfiles(c.Profiles))...)
}

// Engine plans injections. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	src     Searcher
	journal Journal
	ledger  *ledger
	recent  *recent
	times   *timeWords
	merge   func([]*candidate) []line // duplicates and one subject, once
	models  models
	secret  []byte
	null    atomic.Pointer[null]
	log     *slog.Logger
	metrics *metrics
}

// New returns an engine. The error names every bad field of the configuration.
func New(cfg Config, src Searcher, led Ledger, journal Journal, log *slog.Logger, reg prometheus.Registerer) (*Engine, error) {
	if err := cfg.defaults(); err != nil {
		return nil, fmt.Errorf("configure injection: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make the fence's secret: %w", err)
	}
	return &Engine{
		cfg: cfg, src: src, journal: journal, ledger: newLedger(led, cfg.Sessions), recent: newRecent(),
		times: newTimeWords(), merge: newComparer().merge, models: newModels(cfg.Profiles), secret: secret, log: log, metrics: newMetrics(reg),
	}, nil
}

// scopes are those that an owner reads, and those of them that are its own.
func (e *Engine) scopes(o store.Owner) (all, own []store.Scope) {
	own = o.OwnScopes()
	return append(own[:len(own):len(own)], e.cfg.Grants(o)...), own
}
