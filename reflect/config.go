package hreflect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/reflect/extract"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// Queue is the part of the store that holds the jobs. Reading isn't deleting:
// a claimed job comes back when its lease expires.
type Queue interface {
	Due(ctx context.Context, idleBefore time.Time, wait time.Duration, tokens int) ([]store.Session, error)
	EnqueueDue(ctx context.Context, due []store.Due) error
	Claim(ctx context.Context, claim string, lease time.Duration) (store.Job, bool, error)
	ClaimBeside(ctx context.Context, j store.Job, lease time.Duration, tokens, most int) ([]store.Job, error)
	Jobs(ctx context.Context, state store.JobState) ([]store.Job, error)
	Requeue(ctx context.Context, id string) (store.Job, error)
}

// Verdicts end a claim. Apply is one transaction and refuses with
// store.ErrStale what another has done meanwhile.
type Verdicts interface {
	Apply(ctx context.Context, j store.Job, out store.Outcome) (store.Job, error)
	RetryJob(ctx context.Context, j store.Job, at time.Time, reason string) error
	BuryJob(ctx context.Context, j store.Job, reason string) error
	WaitForKey(ctx context.Context, j store.Job, until time.Time, reason string) error
}

// Records is what a look back reads.
type Records interface {
	Session(ctx context.Context, o store.Owner, id string) (store.Session, error)
	Exchanges(ctx context.Context, o store.Owner, session string, after, upTo uint64) ([]store.Exchange, error)
	LoadLedger(ctx context.Context, o store.Owner, session string) ([]store.LedgerEntry, error)
	// ScopeMemories are all of a scope and the version that they show, ScopeChanges
	// those that changed after a version; false: read the scope anew.
	ScopeMemories(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error)
	ScopeChanges(tenant string, sc store.Scope, since uint64) ([]store.Memory, uint64, bool)
	Memory(ctx context.Context, id string) (store.Memory, error)
}

// Notes is what is done at once, because a user asked for it.
type Notes interface {
	Note(ctx context.Context, o store.Owner, out store.Outcome) (store.Job, error)
	ForgetMemory(ctx context.Context, id string) (store.Memory, error)
}

// Store is what the runner needs of a store.
type Store interface {
	Queue
	Verdicts
	Records
	Notes
	Consolidations
	Facts
}

// Credentials lends the credential with which a session was recorded, while
// it is held. The value is used for one call and kept nowhere.
type Credentials interface {
	Credential(session string) (header, value string, ok bool)
}

// Model asks a chat model. *llm.Client is one.
type Model interface {
	Ask(ctx context.Context, e llm.Endpoint, r llm.Request) (llm.Answer, error)
}

var _ Model = (*llm.Client)(nil)

// RulesModel as Config.ModelName means that no model is asked.
const RulesModel = "rules"

// Config is how to reflect. Zero values mean the defaults.
type Config struct {
	// Upstream is the callers' own upstream, Anthropic that of sessions in the
	// messages dialect (default: Upstream). They are asked in the session's own
	// dialect, with Key where that is set, else with the session's own
	// credential. Key is Upstream's: where Anthropic is another host, a
	// session's own credential comes first there.
	Upstream  string
	Anthropic string
	// Target is the address at an upstream's base to which its callers' requests for
	// a path go. It is asked for sessions with a path of their own; nil: the
	// dialect's usual one is right for them too.
	Target func(base, path string) string
	// Base is another endpoint for reflection, of chat completions. A session's credential is never
	// sent there: it is asked with Key, or with none.
	Base      string
	Key       string // an API key, without "Bearer "
	ModelName string // default: the session's own; RulesModel: none

	Strategy     extract.Strategy // how a model is asked; default [extract.Classify]
	Instructions string           // what the operator cares about; goes behind the fixed part of the prompt

	// Budget is the share of the tokens that a tenant sent through us on a day
	// which reflection may spend, BudgetLeast the tokens that it may in any case.
	// Nil: no limit.
	Budget      *float64
	BudgetLeast int

	Tick       time.Duration // between looks for due sessions; default 5 s
	Idle       time.Duration // a session is over after this; default 10 min
	Tokens     int           // new tokens that make an open session due, and the size of one call; default 8,000
	Workers    int           // default 2
	Lease      time.Duration // default 10 min; a job's calls together must end before
	Attempts   int           // default 5
	Backoff    time.Duration // before the second attempt; default 30 s
	MaxBackoff time.Duration // default 1 h
	KeyWait    time.Duration // how long a job waits for a credential; default 7 days

	// Shares are the scopes that grants open to others than their owner, by
	// tenant; what two users were taught is promoted there through Sharing.
	Shares  map[string][]store.Scope
	Sharing Sharing

	// Busy says whether requests are under way: reflection computes little then.
	// Nil: never.
	Busy func() bool
	// Meaning finds neighbours by vectors; nil: by words and subjects alone.
	Meaning Meaning
	// Strip takes blocks of recalled notes out of a text. Default: as it is.
	Strip func(string) string
	Zone  *time.Location // of users who send none; default UTC
	Now   func() time.Time
	Log   *slog.Logger          // nil: discard
	Reg   prometheus.Registerer // nil: not registered
}

// Validate names every value that can't be used.
func (c Config) Validate() error {
	var errs []error
	for field, v := range map[string]string{"upstream": c.Upstream, "upstream of messages": c.Anthropic, "reflect.api_base": c.Base} {
		if v == "" {
			continue
		}
		if u, err := url.Parse(v); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, fmt.Errorf("%s %q: want an http or https address", field, v))
		}
	}
	if c.ModelName != RulesModel && c.Upstream == "" && c.Base == "" {
		errs = append(errs, fmt.Errorf("reflect.model %q: there is no address to ask it at", c.ModelName))
	}
	if c.Strategy != "" && !slices.Contains(extract.Strategies(), c.Strategy) {
		errs = append(errs, fmt.Errorf("reflect.strategy %q: want one of %v", c.Strategy, extract.Strategies()))
	}
	for field, d := range map[string]time.Duration{"session_idle": c.Idle, "reflect.lease": c.Lease, "reflect.tick": c.Tick} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s %s: want a positive duration", field, d))
		}
	}
	if len(c.Shares) > 0 && c.Sharing == nil {
		errs = append(errs, errors.New("shares: nothing promotes to them"))
	}
	if c.Tokens < 0 || c.Workers < 0 || c.Attempts < 0 {
		errs = append(errs, fmt.Errorf("reflect: tokens %d, workers %d, attempts %d: none may be negative", c.Tokens, c.Workers, c.Attempts))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.Strategy = or(c.Strategy, extract.Classify)
	c.Anthropic = or(c.Anthropic, c.Upstream)
	c.Tick = or(c.Tick, 5*time.Second)
	c.Idle = or(c.Idle, 10*time.Minute)
	c.Tokens = or(c.Tokens, 8000)
	c.Workers = or(c.Workers, 2)
	c.Lease = or(c.Lease, 10*time.Minute)
	c.Attempts = or(c.Attempts, 5)
	c.Backoff = or(c.Backoff, 30*time.Second)
	c.MaxBackoff = or(c.MaxBackoff, time.Hour)
	c.KeyWait = or(c.KeyWait, 7*24*time.Hour)
	c.Zone = or(c.Zone, time.UTC)
	c.Log = or(c.Log, slog.New(slog.DiscardHandler))
	if c.Strip == nil {
		c.Strip = func(s string) string { return s }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
