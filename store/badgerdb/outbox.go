package badgerdb

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"hindsight/store"
)

// outbox is what is held in memory of the rows that wait to be shipped. The rows
// only name things: what is delivered is the thing as it is then, so that many
// changes of one are one delivery.
type outbox struct {
	next uint64        // the next row's number; the write lock guards it
	wake chan struct{} // holds one: rows were added

	mu      sync.Mutex
	rows    int
	pending map[string]pending // the row of a thing
}

// pending is the row that a thing has.
type pending struct {
	seq  uint64
	at   time.Time // of the first change that nobody has shipped
	from place
}

// mostPending bounds the things that are held in memory. What is beyond has a
// row for each of its changes.
const mostPending = 200_000

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), pending: map[string]pending{}}
}

// What a row names.
const (
	outMemory    = iota + 1 // a memory, by its id
	outGone                 // a memory that was erased
	outMoved                // a memory that has gone to another tenant
	outExchange             // a session's hash and a sequence number
	outLedger               // a session's hash and a key
	outTombstone            // the hash of a text
	outErasure              // the scope
)

// waiting is one row of the outbox.
type waiting struct {
	kind   uint64
	id     string // a memory's
	hash   []byte // what else names the thing, as in its key behind the place
	tenant string // of what isn't there any more
	scope  store.Scope
	time   time.Time // of the erasure
	at     time.Time // since when it waits
}

// thing is by what a row is found again when the same changes once more.
func (w *waiting) thing(at place) string {
	return string(byte(w.kind)) + string(at[:]) + w.id + string(w.hash)
}

func outboxKey(seq uint64, at place) []byte { return join(famOutbox, u64(seq), at[:]) }

func outboxSeq(key []byte) uint64  { return binary.BigEndian.Uint64(key[1:]) }
func outboxPlace(key []byte) place { return place(key[1+8:]) }

// The fields of a row.
const (
	oKind = iota + 1
	oID
	oHash
	oTenant
	oScope
	oTime
	oAt
)

func appendWaiting(b []byte, w *waiting) []byte {
	b = appendNum(b, oKind, w.kind)
	b = appendText(b, oID, w.id)
	b = appendText(b, oHash, string(w.hash))
	b = appendText(b, oTenant, w.tenant)
	b = appendText(b, oScope, string(w.scope))
	b = appendTime(b, oTime, w.time, time.Time{})
	return appendTime(b, oAt, w.at, time.Time{})
}

func readWaiting(b []byte) (w waiting, err error) {
	err = eachField(b, func(f field) {
		switch f.id {
		case oKind:
			w.kind = f.num
		case oID:
			w.id = f.string()
		case oHash:
			w.hash = slices.Clone(f.text)
		case oTenant:
			w.tenant = f.string()
		case oScope:
			w.scope = store.Scope(f.text)
		case oTime:
			w.time = f.time(time.Time{})
		case oAt:
			w.at = f.time(time.Time{})
		}
	})
	return w, err
}

// waiting decodes a row of the outbox.
func (r row) waiting() (waiting, error) {
	b, err := r.plain()
	if err != nil {
		return waiting{}, err
	}
	w, err := readWaiting(b)
	if err != nil {
		err = fmt.Errorf("read the outbox: %w", err)
	}
	return w, err
}

// ship leaves a row for what t changes, if the directory is one of a fleet's and
// the change didn't come from there.
func (s *Store) ship(t *tx, at place, w waiting) error {
	if !s.cfg.Share || t.foreign {
		return nil
	}
	return s.enrol(t, at, w)
}

// enrol puts a row at the end of the outbox, in place of the one that the thing
// has: a delivery that is under way then doesn't count.
func (s *Store) enrol(t *tx, at place, w waiting) error {
	thing := w.thing(at)
	was, again := t.shipped[thing]
	now := pending{seq: was.seq, at: was.at, from: at}
	if !again {
		now.at = s.now()
		s.outbox.mu.Lock()
		was, again = s.outbox.pending[thing]
		s.outbox.mu.Unlock()
		if again {
			if err := t.del(outboxKey(was.seq, at)); err != nil {
				return err
			}
			now.at = was.at
		}
		now.seq = s.outbox.next
		s.outbox.next++
	}
	w.at = now.at
	if t.shipped == nil {
		t.shipped = map[string]pending{}
	}
	t.shipped[thing] = now
	return t.putPlain(outboxKey(now.seq, at), appendWaiting(nil, &w), 0, 0)
}

// committed takes rows over that are on disk now.
func (o *outbox) committed(rows map[string]pending) {
	o.mu.Lock()
	for thing, p := range rows {
		_, had := o.pending[thing]
		if !had {
			o.rows++
		}
		if had || len(o.pending) < mostPending {
			o.pending[thing] = p
		}
	}
	o.mu.Unlock()
	o.stir()
}

func (o *outbox) stir() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// loadOutbox reads anew what waits. Numbers go on beyond all that were ever
// given out, so that whoever still delivers a row of an earlier opening settles
// no other.
func (s *Store) loadOutbox(v view) error {
	o := s.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.pending)
	o.rows = 0
	if !s.cfg.Share {
		return nil
	}
	last := uint64(0)
	for r := range v.rows([]byte{famOutbox}, nil) {
		last = outboxSeq(r.item.Key())
		o.rows++
		if len(o.pending) >= mostPending {
			continue
		}
		w, err := r.waiting()
		if err != nil {
			return err
		}
		at := outboxPlace(r.item.Key())
		o.pending[w.thing(at)] = pending{last, w.at, at}
	}
	o.next = max(o.next, last+1, nanos(s.now()))
	if o.rows > 0 {
		o.stir()
	}
	return nil
}

// The rows of each kind.

func (s *Store) shipMemory(t *tx, at place, id string) error {
	return s.ship(t, at, waiting{kind: outMemory, id: id})
}

// shipGone takes the row of the memory away as well: there is nothing to read.
func (s *Store) shipGone(t *tx, at place, m *store.Memory) error {
	if !s.cfg.Share || t.foreign {
		return nil
	}
	if err := s.unship(t, at, waiting{kind: outMemory, id: m.ID}); err != nil {
		return err
	}
	return s.enrol(t, at, waiting{kind: outGone, id: m.ID, tenant: m.Tenant, scope: m.Scope, time: s.now()})
}

func (s *Store) shipExchange(t *tx, at conversation, seq uint64) error {
	if !s.cfg.Share || t.foreign {
		return nil
	}
	return s.enrol(t, at.place(), exchangeRow(at, seq))
}

func exchangeRow(at conversation, seq uint64) waiting {
	return waiting{kind: outExchange, hash: binary.BigEndian.AppendUint64(slices.Clone(at[placeLen:]), seq)}
}

func ledgerRow(at conversation, key store.Hash) waiting {
	return waiting{kind: outLedger, hash: append(slices.Clone(at[placeLen:]), key[:]...)}
}

func (s *Store) shipLedger(t *tx, at conversation, key store.Hash) error {
	if !s.cfg.Share || t.foreign {
		return nil
	}
	return s.enrol(t, at.place(), ledgerRow(at, key))
}

func (s *Store) shipTombstone(t *tx, at place, text store.Hash) error {
	return s.ship(t, at, waiting{kind: outTombstone, hash: text[:]})
}

// unship takes the row of a thing away.
func (s *Store) unship(t *tx, at place, w waiting) error {
	thing := w.thing(at)
	if p, ok := t.shipped[thing]; ok {
		delete(t.shipped, thing)
		if err := t.del(outboxKey(p.seq, at)); err != nil {
			return err
		}
	}
	s.outbox.mu.Lock()
	p, ok := s.outbox.pending[thing]
	s.outbox.mu.Unlock()
	if !ok {
		return nil
	}
	t.after = append(t.after, func() { s.outbox.settle(thing, p.seq) })
	return t.del(outboxKey(p.seq, at))
}

// waitsFor says whether a thing has a row. Where there are more rows than are held
// in memory, everything may.
func (o *outbox) waitsFor(thing string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.pending[thing]
	return ok || o.rows > len(o.pending)
}

// settle counts a row out that is gone from the disk.
func (o *outbox) settle(thing string, seq uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows--
	if o.pending[thing].seq == seq {
		delete(o.pending, thing)
	}
}
