package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/inject"
	"hindsight/proxy/session"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/embedding"
	"hindsight/store/fleet"
	"hindsight/store/weaviatedb"
)

// shared is the memory that several sidecars have in common. A nil one means
// that this process is alone with its directory.
type shared struct {
	cfg   *SharedConfig
	db    *weaviatedb.DB
	fleet *fleet.Fleet
}

// weaviateOf is the configuration of the shared store.
func weaviateOf(c *SharedConfig, log *slog.Logger, reg prometheus.Registerer) weaviatedb.Config {
	return weaviatedb.Config{
		URL: c.URL.String(), GRPC: c.GRPC, APIKey: c.Key, Collection: c.Collection,
		Layout: weaviatedb.Layout(c.Layout), VectorIndex: weaviatedb.VectorIndex(c.Index), Key: c.Identity, Log: log, Reg: reg,
	}
}

// newShared makes what the configuration asks for; nothing is connected yet.
func newShared(cfg Config, st *badgerdb.Store, log *slog.Logger, reg prometheus.Registerer) (*shared, error) {
	c := cfg.Store.Shared
	if c == nil {
		return nil, nil
	}
	db, err := weaviatedb.New(weaviateOf(c, log, reg))
	if err != nil {
		return nil, fmt.Errorf("configure the shared memory: %w", err)
	}
	return &shared{cfg: c, db: db, fleet: fleet.New(fleet.Config{Name: sidecarName(cfg.Store.Dir), Copy: c.Cache, Now: cfg.Now, Log: log, Reg: reg}, st, db)}, nil
}

// sidecarName tells one sidecar of a fleet from the others: a directory on a
// machine, named by a hash.
func sidecarName(dir string) string {
	host, _ := os.Hostname() // without one the directory has to do
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	sum := sha256.Sum256([]byte(host + "\x00" + dir))
	return hex.EncodeToString(sum[:8])
}

// start runs it. stop delivers what is left, hands open sessions over and
// returns when everything has ended.
func (s *shared) start() (stop func()) {
	if s == nil {
		return func() {}
	}
	// The connection outlives the fleet, whose last words it carries.
	connected, disconnect := context.WithCancel(context.Background())
	joined, leave := context.WithCancel(context.Background())
	var db, members sync.WaitGroup
	db.Go(func() { _ = s.db.Run(connected) }) // it says in State what is wrong
	members.Go(func() { s.fleet.Run(joined) })
	return func() {
		leave()
		members.Wait()
		disconnect()
		db.Wait()
		_ = s.db.Close() // nothing is under way
	}
}

// off is why the shared memory isn't in use, empty where it is.
func (s *shared) off() string {
	if s == nil {
		return ""
	}
	if on, reason := s.fleet.State(); !on {
		return "the shared memory is away, and what is held here stands in for it: " + reason
	}
	if why, _ := s.fleet.Refused(); why != "" {
		return "the shared memory answers, but takes nothing of what waits here for it: " + why
	}
	return ""
}

// foreign is why the shared memory is another's, empty where it isn't. Then memory
// is off: what this sidecar did alone could never be joined with it.
func (s *shared) foreign() string {
	if s == nil {
		return ""
	}
	return s.db.Foreign()
}

// identities is what the tracker reads and writes, as long as the shared memory
// isn't another's.
func (s *shared) identities(st *badgerdb.Store) session.Store {
	if s == nil {
		return st
	}
	return ours{st, s}
}

type ours struct {
	*badgerdb.Store
	shared *shared
}

// Key implements session.Identities.
func (o ours) Key() (store.IdentityKey, error) {
	if reason := o.shared.foreign(); reason != "" {
		return store.IdentityKey{}, &store.Off{Reason: reason}
	}
	return o.Store.Key()
}

// vectorStore keeps the vectors of the model in use.
func (s *shared) vectorStore(st *badgerdb.Store) embedding.Store {
	if s == nil {
		return st
	}
	return oneModel{st, s.db}
}

// oneModel compares the embedding model with the fleet's before it is used.
type oneModel struct {
	*badgerdb.Store
	db *weaviatedb.DB
}

// modelWaits is how long the model waits for the shared memory to say which one
// it has; without its word the directory's own has to do.
const modelWaits = 5 * time.Second

// UseVectors implements embedding.Store.
func (o oneModel) UseVectors(ctx context.Context, m store.EmbeddingModel, renew bool) error {
	for end := time.Now().Add(modelWaits); time.Now().Before(end); {
		if on, _ := o.db.State(); on {
			if err := o.db.Model(ctx, m); err != nil {
				return fmt.Errorf("compare with the fleet's model: %w", err)
			}
			break
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return o.Store.UseVectors(ctx, m, renew)
}

// name is the backend in serve's last line.
func (s *shared) name() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" with the memory in Weaviate %s (%s, %s)", s.cfg.URL.Redacted(), s.cfg.Collection, s.cfg.Layout)
}

// searcher is what recall searches: the embedded index, or through the fleet.
func (s *shared) searcher(here inject.Searcher) inject.Searcher {
	if s == nil {
		return here
	}
	return s.fleet.Searcher(here)
}

// others are asked about conversations that another sidecar has served; renew
// is told which of them are known better now.
func (s *shared) others(renew func(store.Owner, string)) session.Others {
	if s == nil {
		return nil
	}
	return elsewhere{s.fleet, renew}
}

// elsewhere is the fleet as the tracker sees it.
type elsewhere struct {
	fleet *fleet.Fleet
	renew func(store.Owner, string)
}

var _ session.Others = elsewhere{}

// Fetch implements session.Others. The session's blocks are read again too.
func (e elsewhere) Fetch(ctx context.Context, o store.Owner, id string, keys []store.Hash) []string {
	found := e.fleet.Fetch(ctx, o, id, keys)
	for _, s := range found {
		e.renew(o, s)
	}
	return found
}

// join brings a session here as the fleet knows it, before it is closed.
func (s *shared) join(ctx context.Context, st *badgerdb.Store, id string) {
	if s == nil {
		return
	}
	if found, err := st.FindSession(ctx, id); err == nil {
		s.fleet.Join(ctx, found.Owner, id)
	}
}
