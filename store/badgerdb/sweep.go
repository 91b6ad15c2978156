package badgerdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"hindsight/store"
)

// How often the directory is looked after.
const (
	keepEvery    = 10 * time.Minute
	squeezeLast  = 24 * time.Hour   // at the latest
	squeezeSize  = 32 << 20         // garbage that isn't worth the work
	squeezeAgain = 10 * time.Second // where somebody read what was erased
)

// keep sweeps and squeezes until the context ends.
func (s *Store) keep(ctx context.Context, h *handle) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	q := &squeezer{base: tableBytes(h), at: s.now()}
	erased := false
	for {
		var again <-chan time.Time
		if err := s.sealOld(ctx, h); err != nil && ctx.Err() == nil {
			s.log.Warn("encrypt what was kept before", "err", err)
		}
		if err := s.sweep(ctx, h); err != nil && ctx.Err() == nil {
			s.log.Warn("sweep", "err", err)
		}
		swept, err := s.sweepHidden(ctx, h)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("sweep away what was erased", "err", err)
		}
		sweeping := s.sweeping(h)
		if (erased || len(swept)+len(sweeping) > 0 || q.due(h, s.now())) && !s.checkSpace() {
			if err := s.squeeze(h); err != nil {
				s.log.Warn("squeeze", "err", err)
				again = time.After(squeezeAgain)
			} else if err := errors.Join(s.endHidden(h, swept), s.endSweeping(h, sweeping)); err != nil {
				s.log.Warn("end an erasure", "err", err)
			}
			q.base, q.at = tableBytes(h), s.now()
		}
		select {
		case <-tick.C:
			erased = false
		case <-s.tidy:
			erased = true
		case <-again:
			erased = true
		case <-ctx.Done():
		}
		if err := s.keepCopies(h); err != nil {
			s.log.Warn("note the use of copies", "err", err)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// squeezeSoon asks for a squeeze, so that what was erased leaves the disk.
func (s *Store) squeezeSoon() {
	select {
	case s.tidy <- struct{}{}:
	default:
	}
}

// squeezer decides when the tree is rewritten. Badger's own compaction goes by
// the size of what is written, and what deletes a large value is small.
type squeezer struct {
	base uint64 // size after the last time
	at   time.Time
}

func (q *squeezer) due(h *handle, now time.Time) bool {
	n := tableBytes(h)
	return n > q.base+q.base/2+squeezeSize || now.Sub(q.at) >= squeezeLast
}

func tableBytes(h *handle) uint64 {
	n := uint64(0)
	for _, t := range h.db.Tables() {
		n += uint64(t.OnDiskSize)
	}
	return n
}

// passing is the key of the row that writeOut makes and drops.
func passing() []byte { return []byte{0xff} }

// writeOut makes tables of the memtable. Badger has no call for that but does it
// where it drops a prefix that some key has, so one is made. Dropping blocks
// writes, which is why the lock is held.
func (s *Store) writeOut(h *handle) error {
	none := passing()
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.apply(h, &tx{}, func(t *tx) error { return t.set(none, nil, 0, 0) }); err != nil {
		return err
	}
	return h.db.DropPrefix(none)
}

// sweep removes exchanges whose reflection is older than their retention.
func (s *Store) sweep(ctx context.Context, h *handle) error {
	until := ascending(s.now().Add(-keepReflected))
	for ctx.Err() == nil {
		var note, span []byte
		err := s.locked(h, func(t *tx) error {
			for r := range t.rows([]byte{famReflected}, nil) {
				if k := r.key(); bytes.Compare(k[1:9], until) < 0 {
					note = k
				}
				var err error
				if span, err = r.raw(); err != nil {
					return err
				}
				break
			}
			if note == nil {
				return nil
			}
			at := conversation(note[9:])
			return s.retire(t, note, at, binary.BigEndian.Uint64(span), binary.BigEndian.Uint64(span[8:]))
		})
		if err != nil || note == nil {
			return err
		}
	}
	return nil
}

// retire removes the exchanges of one reflected range. It may be split: the
// note of the range goes last.
func (s *Store) retire(t *tx, note []byte, at conversation, from, to uint64) error {
	for seq := from + 1; seq <= to; seq++ {
		if err := s.retireOne(t, at, seq); err != nil {
			return err
		}
	}
	return t.del(note)
}

// retireOne removes an exchange and keeps its places: what was said in it stays
// known as not new.
func (s *Store) retireOne(t *tx, at conversation, seq uint64) error {
	r, err := t.row(exchangeKey(at, seq))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	x, err := r.exchange(seq, nil)
	if err != nil {
		return err
	}
	x.Seq = seq
	if err := t.room(40<<10+40*len(x.Places), 600); err != nil {
		return err
	}
	if err := t.keepPlaces(at, &x); err != nil {
		return err
	}
	if err := t.delLarge(exchangeKey(at, seq), seq); err != nil {
		return err
	}
	if x.ID != "" {
		return t.del(idKey(byExchange, t.h.exchange(x.ID)))
	}
	return nil
}

// locked is change on a handle that the caller keeps open.
func (s *Store) locked(h *handle, fn func(*tx) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	return s.apply(h, &tx{}, fn)
}
