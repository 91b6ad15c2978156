package badgerdb

import (
	"errors"
	"fmt"
	"time"

	"hindsight/store"
)

// How long things are kept. Sessions, places and anchors outlive the events,
// so that an old history that comes again isn't new.
const (
	keepSession   = 400 * 24 * time.Hour
	keepLedger    = 7 * 24 * time.Hour // inject counts 24 h from the last use
	keepWhy       = 7 * 24 * time.Hour
	keepDone      = 7 * 24 * time.Hour  // jobs
	keepReflected = 7 * 24 * time.Hour  // exchanges, from their reflection
	keepGone      = 30 * 24 * time.Hour // longer than any ledger entry
)

// commitQueued writes what waits, with one sync a transaction. It is called by
// Run's goroutine alone. On an error what isn't on disk waits again.
func (s *Store) commitQueued(h *handle) error {
	items := s.journal.take()
	if len(items) == 0 {
		return nil
	}
	if s.checkSpace() {
		for _, it := range items {
			s.metrics.drop(it.kind, dropSpace)
		}
		s.journal.done(items)
		return nil
	}
	start := time.Now()
	last := lastEnds(items)
	done := 0 // items on disk
	next := 0 // items written so far
	t := &tx{mark: func() {
		s.journal.done(items[done:next])
		done = next
	}}
	s.write.Lock()
	defer s.write.Unlock()
	err := s.apply(h, t, func(t *tx) error {
		for i, it := range items {
			if it.kind == itemBegin && last[it.x.ID] > i {
				next = i + 1 // its end is in this batch: nothing to write
				continue
			}
			err := s.writeItem(t, it)
			var ce *commitError
			if errors.As(err, &ce) {
				return err
			}
			if err != nil {
				s.metrics.drop(it.kind, dropOther)
				s.log.Warn("drop what can't be journalled", "kind", it.kind, "err", err)
			}
			next = i + 1
		}
		return nil
	})
	if err != nil {
		s.journal.back(items[done:])
		return err
	}
	s.metrics.committed(start, items[0].taken)
	return nil
}

// lastEnds tells at which index an exchange ends in the batch.
func lastEnds(items []item) map[string]int {
	ends := map[string]int{}
	for i, it := range items {
		if it.kind == itemFinish {
			ends[it.x.ID] = i
		}
	}
	return ends
}

// writeItem writes one item, as a piece of its own.
func (s *Store) writeItem(t *tx, it item) error {
	switch it.kind {
	case itemBegin:
		return s.writeBegun(t, it.x)
	case itemFinish:
		return s.writeEnded(t, it.x)
	case itemLedger:
		return s.writeLedger(t, it.led)
	default:
		return s.writeWhy(t, it.why)
	}
}

// writeBegun keeps an exchange whose end isn't known, places and anchors with
// it: should we die, the next opening makes an aborted one of it.
func (s *Store) writeBegun(t *tx, x *store.Exchange) error {
	y := *x
	w := t.owned(x.Owner)
	y.Owner = w.Owner
	at, id := w.user, t.h.exchange(y.ID)
	if s.tooOld(at, y.Started) {
		return nil
	}
	b := begun{Exchange: y, Places: y.Places, Anchors: y.Anchors}
	record, err := t.encodeLarge(at, id, 0, b, keepSession)
	if err != nil {
		return err
	}
	if err := t.room(len(record)+256, 1); err != nil {
		return err
	}
	if err := t.putPlain(join(famBegun, at[:], id[:]), record, 0, keepSession); err != nil {
		return err
	}
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { st.begun[id] = at })
	})
	return nil
}

// begun is the record of an exchange that has not ended.
type begun struct {
	store.Exchange
	Places  []store.Place  `json:"places,omitempty"`
	Anchors []store.Anchor `json:"anchors,omitempty"`
}

// dropBegun removes the begun form of an exchange, if one was written.
func (s *Store) dropBegun(t *tx, id store.Hash) error {
	s.mu.RLock()
	at, ok := s.mem.begun[id]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	if err := t.delLarge(join(famBegun, at[:], id[:]), 0); err != nil {
		return err
	}
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { delete(st.begun, id) })
	})
	return nil
}

// tooOld says whether a scope was erased after something of it began.
func (s *Store) tooOld(at place, began time.Time) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	erased, ok := s.mem.erased[at]
	return ok && !began.After(erased)
}

// writeEnded puts an ended exchange behind the others of its session and brings
// the session's record up to date. One that was there under the same id goes.
func (s *Store) writeEnded(t *tx, x *store.Exchange) error {
	y := *x
	w := t.owned(x.Owner)
	y.Owner = w.Owner
	id, at := t.h.exchange(y.ID), t.conversation(w, y.Session)
	sess, err := t.session(at)
	fresh := errors.Is(err, store.ErrNotFound)
	if err != nil && !fresh {
		return err
	}
	if fresh && y.Status == store.Errored || s.tooOld(w.user, y.Started) || s.tooOld(w.skill, y.Started) {
		return s.dropBegun(t, id) // nothing is created before a first 2xx answer, or learned from before an erasure
	}
	y.Seq = sess.LastSeq + 1
	record, err := t.encodeLarge(at.place(), id, y.Seq, y, keepSession)
	if err != nil {
		return err
	}
	// From here to the marks it is one piece.
	if err := t.room(len(record)+8192, 600); err != nil {
		return err
	}
	if err := s.dropBegun(t, id); err != nil {
		return err
	}
	if err := s.dropEnded(t, id, at); err != nil {
		return err
	}
	if fresh {
		sess = store.Session{ID: y.Session, Owner: y.Owner, Started: y.Started}
	} else if sess, err = t.session(at); err != nil {
		return err
	}
	if err := t.putPlain(exchangeKey(at, y.Seq), record, 0, keepSession); err != nil {
		return err
	}
	if err := t.set(idKey(byExchange, id), append(at[:], u64(y.Seq)...), 0, keepSession); err != nil {
		return err
	}
	fold(&sess, &y)
	if err := t.putSession(at, sess, fresh); err != nil {
		return err
	}
	if err := s.ensureScope(t, w.user, w.Tenant, w.Scope()); err != nil {
		return err
	}
	if err := s.ensureScope(t, w.skill, w.Tenant, w.SkillScope()); err != nil {
		return err
	}
	t.after = append(t.after, func() { s.metrics.journalled.Inc() })
	return t.putMarks(at, &y)
}

// fold brings a session's record up to date with one more exchange.
func fold(sess *store.Session, x *store.Exchange) {
	seen := x.Finished
	if seen.IsZero() {
		seen = x.Started
	}
	sess.LastSeq = x.Seq
	sess.NewTokens += x.Tokens
	sess.Turns = max(sess.Turns, x.Turn)
	if seen.After(sess.LastSeen) {
		sess.LastSeen = seen
	}
	sess.State = store.Open
	if x.SessionInfo.End {
		sess.State = store.Closed
	}
	set := func(to *string, v string) {
		if v != "" {
			*to = v
		}
	}
	set(&sess.ExternalID, x.SessionInfo.ExternalID)
	set(&sess.Parent, x.SessionInfo.Parent)
	set(&sess.Dialect, x.Dialect)
	set(&sess.Model, x.Model)
	set(&sess.Zone, x.Zone)
	if !x.Cred.IsZero() {
		sess.Cred = x.Cred
	}
}

// dropEnded removes the earlier form of an exchange that ended before, with
// what it counted for in its session.
func (s *Store) dropEnded(t *tx, id store.Hash, at conversation) error {
	ref, err := t.raw(idKey(byExchange, id))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	old, seq := conversation(ref), seqOf(ref)
	if old.place() != at.place() {
		return fmt.Errorf("write exchange: its id is another owner's")
	}
	var was store.Exchange
	if err := t.getLarge(exchangeKey(old, seq), seq, &was); errors.Is(err, store.ErrNotFound) {
		return nil // past its retention
	} else if err != nil {
		return err
	}
	if err := t.delLarge(exchangeKey(old, seq), seq); err != nil {
		return err
	}
	sess, err := t.session(old)
	if err != nil || seq <= sess.Cursor {
		return err
	}
	sess.NewTokens = max(0, sess.NewTokens-was.Tokens)
	return t.putSession(old, sess, false)
}
