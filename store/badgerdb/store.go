// Package badgerdb keeps everything Hindsight remembers in one Badger
// directory: the journal of exchanges, sessions, the ledger of injected blocks,
// the reflection queue and the memories.
//
// Call [New], then [Store.Run] in a goroutine of its own: Run opens the
// directory, retries while that fails, and is the only goroutine that writes
// the journal. [Store.State] says whether memory can be used, and if not, why
// and what mends it; until then every method returns a *store.Off.
//
// [Store.Begin], [Store.Finish], [Store.SaveLedger] and [Store.SaveWhy] are for
// the request path: they never block and never fail. What they are handed is on
// disk within 250 ms, or dropped and counted. All other methods are on disk when
// they return. Every method may be called from any goroutine.
//
// The package isn't an index: it finds by id, by owner and in order of time.
// DESIGN.md beside this file says how keys are built and what holds after a
// crash.
package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// Config says where the data lies and how patient the store is. Zero values
// stand for the defaults named here.
type Config struct {
	// Dir is the data directory; it is made (0700) if it doesn't exist.
	Dir string
	// IdentityKeyFile holds 32 bytes, raw or as hexadecimal digits, and must
	// exist. Empty: identity.key in Dir, made together with a new store.
	IdentityKeyFile string
	// EncryptionKeyFile holds 16, 24 or 32 bytes under which the scopes' data keys
	// are kept, and with them everything a scope holds. Empty: no encryption. A
	// directory that is encrypted needs it, one that isn't becomes it.
	EncryptionKeyFile string
	// OldEncryptionKeyFile is the one before: a directory under it is brought under
	// the new one at its opening.
	OldEncryptionKeyFile string
	// Watermark is the free space in bytes below which nothing is recorded;
	// default 128 MiB. A disk that runs full under Badger kills the process.
	Watermark uint64
	// Retry is the longest wait between two attempts to open; default 10 s.
	Retry time.Duration
	// Screen takes out of what was said what must not be kept, secrets above all,
	// before it is written; nil: nothing. It is called by one goroutine at a time.
	Screen func(string) string
	// Linger is how long the writer waits for more to commit together; default
	// 100 ms.
	Linger time.Duration
	// Share says that the directory is one of a fleet's: every change leaves a row
	// in the outbox, see [Store.Outbox]. Without it nothing of that is written.
	Share bool
	// QueueBytes bounds what waits for the writer; default 64 MiB.
	QueueBytes int64

	// Ask asks the process that holds the directory to give it up, and says
	// whether it has; nil: nobody is asked.
	Ask func(ctx context.Context) bool

	// Erased is told of each scope that was erased, so that what is in memory goes
	// too; nil: nobody is told. It must not call the store.
	Erased func(tenant string, sc store.Scope)

	Log *slog.Logger          // nil: discard
	Reg prometheus.Registerer // nil: no metrics
	Now func() time.Time      // nil: time.Now
	// Free tells the free bytes of the disk under a directory; nil: ask the
	// system. An error counts as enough.
	Free func(dir string) (uint64, error)
}

// Store is the Badger store. The locks nest in this order: life, write, then
// either mu or the journal's, which are held for moments only.
type Store struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	journal *journal
	feed    *feed
	vectors *vectors
	outbox  *outbox
	broken  chan error    // a failed commit: Run opens anew
	tidy    chan struct{} // something was erased: squeeze now
	first   chan struct{} // closed after the first attempt to open

	life  sync.RWMutex  // held for writing only while h changes
	h     *handle       // nil while closed
	write sync.Mutex    // held by whoever changes the directory
	reads chan struct{} // a token for each read of within
	// checked are the tables that were read and found good, by file; whoever opens
	// the directory has it to himself.
	checked map[string]checkedTable
	// reserved is the log whose room on the disk is taken, nil for none.
	reserved atomic.Pointer[string]
	// examining: the directory is looked at and left as it is, see [Examine].
	examining bool
	// aborted are the exchanges that an opening has ended: whoever brings their
	// real end may be alive, in this process. The write lock guards it.
	aborted map[string]struct{}
	// readyDrops counts the snapshots that were dropped; the write lock guards it.
	readyDrops uint64
	// readyDropped says since which number of the feed a scope's snapshots may be
	// made: earlier ones show what was forgotten. The write lock guards it.
	readyDropped map[place]uint64

	mu     sync.RWMutex
	off    store.Off // why the store is closed
	low    string    // why nothing is recorded although it is open
	mem    state
	turned chan struct{} // closed and replaced when a job ends or the store closes
}

// New checks cfg. The directory is left alone until [Store.Run].
func New(cfg Config) (*Store, error) {
	var errs []error
	if cfg.Dir == "" {
		errs = append(errs, errors.New("data directory: not set"))
	}
	if cfg.IdentityKeyFile != "" {
		if _, err := readKey(cfg.IdentityKeyFile); errors.Is(err, errMalformedKey) {
			errs = append(errs, fmt.Errorf("identity key file: %w", err))
		}
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"retry", cfg.Retry}, {"linger", cfg.Linger}} {
		if d.v < 0 {
			errs = append(errs, fmt.Errorf("%s: %s is negative", d.name, d.v))
		}
	}
	if cfg.QueueBytes < 0 {
		errs = append(errs, fmt.Errorf("queue bytes: %d is negative", cfg.QueueBytes))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	setDefaults(&cfg)
	s := &Store{
		cfg:          cfg,
		log:          cfg.Log,
		journal:      newJournal(cfg.QueueBytes),
		feed:         newFeed(),
		vectors:      newVectors(),
		outbox:       newOutbox(),
		broken:       make(chan error, 1),
		tidy:         make(chan struct{}, 1),
		first:        make(chan struct{}),
		off:          store.Off{Reason: "starting"},
		mem:          newState(),
		aborted:      map[string]struct{}{},
		readyDropped: map[place]uint64{},
		checked:      map[string]checkedTable{},
		turned:       make(chan struct{}),
		reads:        make(chan struct{}, readsAtOnce),
	}
	var err error
	if s.metrics, err = newMetrics(cfg.Reg, s); err != nil {
		return nil, fmt.Errorf("register the store's metrics: %w", err)
	}
	return s, nil
}

func setDefaults(cfg *Config) {
	if cfg.IdentityKeyFile == "" {
		cfg.IdentityKeyFile = ownKeyFile(cfg.Dir)
	}
	if cfg.Watermark == 0 {
		cfg.Watermark = 128 << 20
	}
	if cfg.Retry == 0 {
		cfg.Retry = 10 * time.Second
	}
	if cfg.Linger == 0 {
		cfg.Linger = 100 * time.Millisecond
	}
	if cfg.QueueBytes == 0 {
		cfg.QueueBytes = 64 << 20
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Free == nil {
		cfg.Free = freeSpace
	}
}

// State says whether memory can be used. On with a reason means degraded:
// recall works, nothing new is recorded. The reason is one line for people.
func (s *Store) State() (on bool, reason string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.off.Reason != "" {
		return false, s.off.Reason
	}
	return true, s.low
}

// isOff is the error of a store that is closed.
func (s *Store) isOff() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	why := s.off
	return &why
}

// Key is the identity key of the open store; the error is a *store.Off.
func (s *Store) Key() (store.IdentityKey, error) {
	var k store.IdentityKey
	err := s.with(func(h *handle) error { k = h.id; return nil })
	return k, err
}

// with runs fn on the open store and keeps it open meanwhile. fn must not call
// with again: a waiting close would part the two. A store that is just being
// closed is off, and nobody waits for those who still read it: requests come
// here.
func (s *Store) with(fn func(*handle) error) error {
	if !s.life.TryRLock() {
		return s.isOff()
	}
	defer s.life.RUnlock()
	if s.h == nil {
		return s.isOff()
	}
	return fn(s.h)
}

// now is the wall clock without the monotonic part, as it is stored.
func (s *Store) now() time.Time { return s.cfg.Now().Round(0).UTC() }
