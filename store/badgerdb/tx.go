package badgerdb

import (
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// handle is one opened directory.
type handle struct {
	names
	db    *badger.DB
	keys  *keyring // nil: values lie there as they are
	alias func(tenant string) string

	hidden atomic.Pointer[map[place]uint64] // erased places, and up to which version; nil: none
}

func (h *handle) close() error {
	err := h.db.Close()
	if h.keys != nil {
		err = errors.Join(err, h.keys.close())
	}
	return err
}

// follow names the tenant to which the one in a value was linked.
func (h *handle) follow(v any) {
	switch x := v.(type) {
	case *store.LedgerEntry:
		x.Owner.Tenant = h.alias(x.Owner.Tenant)
	case *store.Why:
		x.Owner.Tenant = h.alias(x.Owner.Tenant)
	case *store.Job:
		x.Owner.Tenant = h.alias(x.Owner.Tenant)
	case *store.Memory:
		x.Tenant = h.alias(x.Tenant)
	}
}

// tx is one change of the store, made under the write lock.
type tx struct {
	view
	s           *Store
	size, count int
	dirty       map[conversation]*store.Session // to be written with the commit
	after       []func()                        // run once it is committed, under the write lock
	mark        func()                          // run at each commit of a change in pieces
	by          store.Change                    // of the memories that it writes
	drawn       map[place]cipher.AEAD           // data keys that its commits bring
	journalled  int                             // exchanges, since the last commit
	foreign     bool                            // it takes in what the fleet has already
	shipped     map[string]pending              // rows of the outbox, since the last commit

	// What a batch needs again and again. Hashing and allocating are a good part
	// of what journalling costs, and a batch has few owners.
	owners  map[store.Owner]*owned
	talk    string     // the id of the session that was hashed last
	talkIs  store.Hash // and its hash
	slab    []byte     // of which keys and values are cut
	plain   []byte     // where a value is encoded before it is sealed
	entries []badger.Entry
	now     time.Time // from which retention counts
}

// owned is an owner, links followed, with where their things lie.
type owned struct {
	store.Owner
	user, skill   place
	ensured       bool      // both scopes have their records
	erased        time.Time // nothing that began until then is learned
	erasedAtUsers time.Time // the same, where the agent doesn't count
}

// owned finds an owner. What it says of erasing holds as long as the write
// lock is held.
func (t *tx) owned(o store.Owner) *owned {
	if w, ok := t.owners[o]; ok {
		return w
	}
	w := &owned{Owner: t.s.owner(o)}
	w.user = t.h.owner(w.Owner)
	w.skill = w.user
	if w.Agent != "" {
		w.skill = t.h.at(w.Tenant, w.SkillScope())
	}
	t.s.mu.RLock()
	w.erasedAtUsers = t.s.mem.erased[w.user]
	w.erased = w.erasedAtUsers
	if at := t.s.mem.erased[w.skill]; at.After(w.erased) {
		w.erased = at
	}
	t.s.mu.RUnlock()
	t.owners[o] = w
	return w
}

// tooOld says whether what began then is from before an erasure of its scope.
func tooOld(began, erased time.Time) bool { return !erased.IsZero() && !began.After(erased) }

// session's hash; the last one is remembered.
func (t *tx) hashOf(session string) store.Hash {
	if t.talk != session {
		t.talk, t.talkIs = session, t.h.session(session)
	}
	return t.talkIs
}

// conversation is where a session of the owner lies.
func (t *tx) conversation(w *owned, session string) conversation {
	var c conversation
	h := t.hashOf(session)
	copy(c[:], w.user[:])
	copy(c[placeLen:], h[:])
	return c
}

// cut gives n bytes of room to append to.
func (t *tx) cut(n int) []byte {
	const slab = 64 << 10
	if n > cap(t.slab)-len(t.slab) {
		if n > slab/4 {
			return make([]byte, 0, n)
		}
		t.slab = make([]byte, 0, slab)
	}
	from := len(t.slab)
	t.slab = t.slab[:from+n]
	return t.slab[from : from : from+n]
}

// key is join for a key under a session, with room for so many bytes more.
func (t *tx) key(family byte, at []byte, more int) []byte {
	return append(append(t.cut(1+len(at)+more), family), at...)
}

// How much one transaction takes. Badger's own bound is 15 % of the memtable.
const (
	txBytes = 800 << 10
	txKeys  = 4000
)

// put seals v as JSON. A ttl of 0 keeps it for good.
func (t *tx) put(key []byte, v any, meta byte, ttl time.Duration) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %q: %w", key[0], err)
	}
	return t.putPlain(key, plain, meta, ttl)
}

// putPlain seals a value; plain may be used again at once.
func (t *tx) putPlain(key, plain []byte, meta byte, ttl time.Duration) error {
	sealed, err := t.sealed(key, plain)
	if err != nil {
		return err
	}
	return t.set(key, sealed, meta, ttl)
}

// set writes a value that needs no seal: hashes and numbers.
func (t *tx) set(key, value []byte, meta byte, ttl time.Duration) error {
	t.grow(len(key) + len(value))
	return t.add(key, value, meta, ttl)
}

// add is set for what has been counted before.
func (t *tx) add(key, value []byte, meta byte, ttl time.Duration) error {
	if len(t.entries) == cap(t.entries) {
		t.entries = make([]badger.Entry, 0, min(256, 2*cap(t.entries)+4))
	}
	t.entries = append(t.entries, badger.Entry{Key: key, Value: value, UserMeta: meta})
	e := &t.entries[len(t.entries)-1]
	if ttl > 0 {
		if t.now.IsZero() {
			t.now = time.Now()
		}
		e.ExpiresAt = uint64(t.now.Add(ttl).Unix())
	}
	if err := t.txn.SetEntry(e); err != nil {
		return fmt.Errorf("write %q: %w", key[0], err)
	}
	return nil
}

func (t *tx) del(key []byte) error {
	t.grow(len(key))
	if err := t.txn.Delete(key); err != nil {
		return fmt.Errorf("delete %q: %w", key[0], err)
	}
	return nil
}

func (t *tx) grow(n int) { t.size += n + 32; t.count++ }

// room makes place for a piece of so many bytes and keys: if it doesn't fit,
// what came before is committed by itself. Only changes whose pieces stand
// alone call it, and between pieces.
func (t *tx) room(bytes, keys int) error {
	if t.size == 0 || t.size+bytes <= txBytes && t.count+keys <= txKeys {
		return nil
	}
	if err := t.commit(); err != nil {
		return err
	}
	t.txn = t.h.db.NewTransaction(true)
	return nil
}

// commitError is a failure of the disk or of Badger, not of the change.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

func (t *tx) commit() error {
	if err := t.writeSessions(); err != nil {
		return err
	}
	if t.h.keys != nil {
		if err := t.h.keys.sync(); err != nil {
			return &commitError{err}
		}
	}
	if err := t.txn.Commit(); err != nil {
		if errors.Is(err, badger.ErrTxnTooBig) {
			return fmt.Errorf("commit: %w", err)
		}
		return &commitError{err}
	}
	if len(t.dirty) > 0 {
		t.s.mirror(func(st *state) {
			for at, x := range t.dirty {
				st.session(at, x)
			}
		})
		clear(t.dirty)
	}
	for _, fn := range t.after {
		fn()
	}
	if len(t.shipped) > 0 {
		t.s.outbox.committed(t.shipped)
		clear(t.shipped)
	}
	if t.journalled > 0 {
		t.s.metrics.journalled.Add(float64(t.journalled))
	}
	if t.mark != nil {
		t.mark()
	}
	t.after, t.size, t.count, t.journalled = nil, 0, 0, 0
	return nil
}

// view runs fn on a snapshot of the open store.
func (s *Store) view(fn func(view) error) error {
	return s.with(func(h *handle) error {
		txn := h.db.NewTransaction(false)
		defer txn.Discard()
		return fn(view{h, txn})
	})
}

// change runs fn and commits what it wrote, on disk when it returns. A failed
// commit makes Run open the store anew.
func (s *Store) change(fn func(*tx) error) error {
	return s.with(func(h *handle) error {
		s.write.Lock()
		defer s.write.Unlock()
		return s.apply(h, &tx{}, fn)
	})
}

// apply is change for a caller that holds the locks.
func (s *Store) apply(h *handle, t *tx, fn func(*tx) error) error {
	t.s, t.view = s, view{h, h.db.NewTransaction(true)}
	t.dirty = map[conversation]*store.Session{}
	t.owners = map[store.Owner]*owned{}
	defer func() { t.txn.Discard() }()
	err := fn(t)
	if err == nil {
		err = t.commit()
	}
	if err != nil {
		for at := range t.drawn {
			h.keys.drop(at) // what was read back meanwhile may have put it there
		}
	}
	var ce *commitError
	if errors.As(err, &ce) {
		select {
		case s.broken <- err:
		default: // one report is enough
		}
	}
	return err
}
