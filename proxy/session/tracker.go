package session

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/proxy/session/clients"
	"hindsight/store"
)

// Store is what the tracker needs of the durable store. It only reads, facts
// apart: what it learns goes to disk with the exchanges that it returns.
type Store interface {
	Identities
	Conversations
}

// Identities keeps what is known of credentials and tenants. Key's error is a
// *store.Off while memory can't be used. OpenSessions counts those of the
// owner's tenant. All are called on the request path, within its deadline.
type Identities interface {
	Key() (store.IdentityKey, error)
	TenantAlias(ctx context.Context, tenant string) (string, error)
	Fact(ctx context.Context, name string) (string, bool, error)
	SetFact(ctx context.Context, name, value string) error // off the request path
	OpenSessions(ctx context.Context, o store.Owner) (int, error)
}

// Conversations keeps sessions. Anchors returns for each key what is known
// under tenant and user; Session answers store.ErrNotFound also for another
// owner's.
type Conversations interface {
	Anchors(ctx context.Context, o store.Owner, keys []store.Hash) ([][]store.Anchor, error)
	Session(ctx context.Context, o store.Owner, id string) (store.Session, error)
	Places(ctx context.Context, o store.Owner, session string) ([]store.Place, error)
}

// How much is held in memory. What is forgotten is read from the store again;
// only retries and growing messages are known to memory alone.
const (
	maxAnchors  = 1 << 16
	maxKnown    = 64 // of one key, as many as a store gives: where all say the same it tells little
	maxAttempts = 1 << 14
	maxGrowths  = 1 << 12
	maxZones    = 1 << 10
	maxHashers  = 1 << 10
)

// Tracker tells requests apart. It is safe for concurrent use.
type Tracker struct {
	cfg   Config
	st    Store
	rules *clients.Rules
	log   *slog.Logger
	m     metrics
	facts facts
	memo  *memo

	warnedOfPage   sync.Once        // that pages of elsewhere get no memory
	userHeaders    []clients.Header // names in canonical form, which is found at once
	sessionHeaders []clients.SessionHeader

	// mu guards what follows and every live session. It is never held over a
	// call of the store, and never together with facts.mu.
	mu        sync.Mutex
	live      *lru[string, *live]
	anchors   *lru[store.Hash, *known]
	attempts  *lru[store.Hash, []*attempt]
	growths   *lru[store.Hash, growth]
	zones     *lru[string, *time.Location] // nil: no such zone
	hashers   *lru[ownerKey, *hasher]
	factNames *lru[ownerKey, [2]string]    // by tenant
	bursts    *lru[store.Owner, *arrivals] // by tenant and user
	creds     map[store.Hash]held
	ending    map[*work]struct{} // between Ended and Recorded
}

// New checks the configuration and makes a tracker over a store, which need not
// be usable yet. log and reg may be nil.
func New(cfg Config, st Store, rules *clients.Rules, log *slog.Logger, reg prometheus.Registerer) (*Tracker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	k := &Tracker{
		cfg: cfg, st: st, rules: rules, log: log, m: newMetrics(reg),
		memo:      newMemo(),
		facts:     facts{known: map[string]string{}, unsaved: map[string]string{}, news: make(chan struct{}, 1)},
		live:      newLRU[string](cfg.Sessions, func(l *live) bool { return l.flying > 0 }),
		anchors:   newLRU[store.Hash, *known](maxAnchors, nil),
		attempts:  newLRU[store.Hash, []*attempt](maxAttempts, nil),
		growths:   newLRU[store.Hash, growth](maxGrowths, nil),
		zones:     newLRU[string, *time.Location](maxZones, nil),
		hashers:   newLRU[ownerKey, *hasher](maxHashers, nil),
		bursts:    newLRU[store.Owner, *arrivals](maxBursts, nil),
		factNames: newLRU[ownerKey, [2]string](maxHashers, nil),
		creds:     map[store.Hash]held{},
		ending:    map[*work]struct{}{},
	}
	k.canonical()
	return k, nil
}

// canonical takes over the rules' header names.
func (k *Tracker) canonical() {
	for _, h := range k.rules.UserHeaders() {
		h.Name = http.CanonicalHeaderKey(h.Name)
		k.userHeaders = append(k.userHeaders, h)
	}
	for _, h := range k.rules.SessionHeaders() {
		for _, name := range []*string{&h.Name, &h.Child, &h.Parent} {
			*name = http.CanonicalHeaderKey(*name)
		}
		k.sessionHeaders = append(k.sessionHeaders, h)
	}
}

// Run writes facts down and drops old credentials until ctx ends, then writes
// what is left. Without it everything works until the process ends.
func (k *Tracker) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-k.facts.news:
			k.saveFacts()
		case <-tick.C:
			k.saveFacts()
			k.mu.Lock()
			k.dropCredentials(k.cfg.Now())
			k.mu.Unlock()
		case <-ctx.Done():
			k.saveFacts()
			return nil
		}
	}
}
