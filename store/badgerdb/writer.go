package badgerdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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
	keepOffered   = 35 * 24 * time.Hour // inject counts 30 days
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
	s.screen(items, last)
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
	s.journal.reuse(items)
	return nil
}

// screen takes out of what was said what must not be kept. It is done before the
// write lock is taken: a large text takes its time.
func (s *Store) screen(items []item, last map[string]int) {
	if s.cfg.Screen == nil {
		return
	}
	for i, it := range items {
		switch it.kind {
		case itemBegin, itemFinish:
			if it.kind == itemBegin && last[it.x.ID] > i {
				continue
			}
			x := *it.x // what has begun is still looked at where it came from
			x.Events = slices.Clone(x.Events)
			for n := range x.Events {
				e := &x.Events[n]
				e.Text, e.ThirdParty = s.cfg.Screen(e.Text), s.cfg.Screen(e.ThirdParty)
			}
			items[i].x = &x
		case itemWhy:
			it.why.Query = s.cfg.Screen(it.why.Query)
		}
	}
}

// lastEnds tells at which index an exchange ends in the batch.
func lastEnds(items []item) map[string]int {
	ends := make(map[string]int, len(items)/2)
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
	if tooOld(y.Started, w.erasedAtUsers) {
		return nil
	}
	at, id := w.user, t.h.exchange(y.ID)
	record, err := t.encodeLarge(at, id, 0, &y, nil)
	if err != nil {
		return err
	}
	if err := t.room(len(record)+256, 1); err != nil {
		return err
	}
	if err := t.putPlain(append(t.key(famBegun, at[:], hashLen), id[:]...), record, 0, keepSession); err != nil {
		return err
	}
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { st.begun[id] = at })
	})
	return nil
}

// dropBegun removes the begun form of an exchange, if one was written.
func (s *Store) dropBegun(t *tx, exchange string) error {
	if len(s.mem.begun) == 0 { // it only changes under the write lock
		return nil
	}
	id := t.h.exchange(exchange)
	at, ok := s.mem.begun[id]
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
	return tooOld(began, s.mem.erased[at])
}

// writeEnded puts an ended exchange behind the others of its session and brings
// the session's record up to date. One that was there under the same id goes.
func (s *Store) writeEnded(t *tx, x *store.Exchange) error {
	y := *x
	w := t.owned(x.Owner)
	y.Owner = w.Owner
	at := t.conversation(w, y.Session)
	sess, fresh, err := t.sessionOf(at, &y)
	if err != nil {
		return err
	}
	if fresh && y.Status == store.Errored || tooOld(y.Started, w.erased) {
		return s.dropBegun(t, y.ID) // nothing is created before a first 2xx answer, or learned from before an erasure
	}
	old, err := t.earlier(at, &y, &sess, fresh)
	if err != nil {
		return err
	}
	if old != nil {
		y.Places = joinPlaces(old.Places, y.Places)
		y.Anchors = append(y.Anchors, old.Anchors...) // a shared directory keeps them there
	}
	y.Seq = sess.LastSeq + 1
	record, err := t.encodeLarge(at.place(), store.Hash{}, y.Seq, &y, &sess)
	if err != nil {
		return err
	}
	// From here to the anchors it is one piece.
	if err := t.room(len(record)+8192, 600); err != nil {
		return err
	}
	if err := s.dropBegun(t, y.ID); err != nil {
		return err
	}
	if old != nil {
		if err := t.replace(at, old, &sess); err != nil {
			return err
		}
	}
	key := binary.BigEndian.AppendUint64(t.key(famExchange, at[:], 8), y.Seq)
	if err := t.putPlain(key, record, 0, keepSession); err != nil {
		return err
	}
	if err := s.shipExchange(t, at, y.Seq); err != nil {
		return err
	}
	if _, own := store.OwnExchange(y.ID, y.Session); !own {
		if err := t.set(idKey(byExchange, t.h.exchange(y.ID)), key[1:], 0, keepSession); err != nil {
			return err
		}
	}
	fold(&sess, &y)
	t.putSession(at, sess)
	if fresh {
		if err := t.enterSession(at, &sess); err != nil {
			return err
		}
	}
	if !w.ensured {
		if err := s.ensureScope(t, w.user, w.Tenant, w.Scope()); err != nil {
			return err
		}
		if err := s.ensureScope(t, w.skill, w.Tenant, w.SkillScope()); err != nil {
			return err
		}
		w.ensured = true
	}
	t.journalled++
	return t.putAnchors(at, &y)
}

// sessionOf is the session that an exchange ends in; fresh, and then not in
// any index, where there was none.
func (t *tx) sessionOf(at conversation, x *store.Exchange) (sess store.Session, fresh bool, err error) {
	if known, ok := t.inMemory(at); ok {
		return *known, false, nil
	}
	if !x.SessionInfo.New {
		sess, err = t.view.session(at)
		if !errors.Is(err, store.ErrNotFound) {
			return sess, false, err
		}
	}
	sess = store.Session{ID: x.Session, Owner: x.Owner, Started: x.Started}
	if at, ok := store.DrawnAt(x.Session); ok {
		sess.Started = at
	}
	return sess, true, nil
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
	if x.Dialect != "" {
		sess.Dialect, sess.Path = x.Dialect, x.Path
	}
	set(&sess.Model, x.Model)
	set(&sess.Zone, x.Zone)
	if !x.Cred.IsZero() {
		sess.Cred = x.Cred
	}
	if sess.Trial == "" {
		sess.Trial = x.SessionInfo.Trial
	}
	compared(sess, x, 1)
}

// compared adds what an exchange counts for to a session that is compared with
// others, or takes it away again.
func compared(sess *store.Session, x *store.Exchange, sign int) {
	if sess.Trial == "" {
		return
	}
	add := func(to *int, n int) { *to = max(0, *to+sign*n) }
	add(&sess.Corrections, x.SessionInfo.Corrections)
	add(&sess.Usage.Input, x.Usage.Input)
	add(&sess.Usage.Output, x.Usage.Output)
	add(&sess.Usage.Cached, x.Usage.Cached)
}

// earlier finds the form of an exchange that ended before under the same id,
// nil if there is none. An id that names its session is looked for there, and
// only if it can have ended before.
func (t *tx) earlier(at conversation, x *store.Exchange, home *store.Session, fresh bool) (*store.Exchange, error) {
	if _, own := store.OwnExchange(x.ID, x.Session); own {
		_, made := t.s.aborted[x.ID]
		if fresh || !x.Again && !made {
			return nil, nil
		}
		return t.endedIn(at, x.ID, home)
	}
	ref, err := t.raw(idKey(byExchange, t.h.exchange(x.ID)))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if conversation(ref).place() != at.place() {
		return nil, fmt.Errorf("write exchange: its id is another owner's")
	}
	was, err := t.session(conversation(ref))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // past its retention
	}
	if err != nil {
		return nil, err
	}
	return t.endedAt(conversation(ref), seqOf(ref), &was)
}

// replace removes the earlier form of an exchange, with what it counted for in
// its session. at and sess are where the new one goes.
func (t *tx) replace(at conversation, old *store.Exchange, sess *store.Session) error {
	from := t.h.conversation(old.Owner, old.Session)
	if err := t.delLarge(exchangeKey(from, old.Seq), old.Seq); err != nil {
		return err
	}
	if from == at {
		compared(sess, old, -1)
		if old.Seq > sess.Cursor {
			sess.NewTokens = max(0, sess.NewTokens-old.Tokens)
		}
		return nil
	}
	was, err := t.session(from)
	if err != nil || old.Seq <= was.Cursor {
		return err
	}
	was.NewTokens = max(0, was.NewTokens-old.Tokens)
	t.putSession(from, was)
	return nil
}

// joinPlaces adds to some places those of others that aren't there.
func joinPlaces(have, more []store.Place) []store.Place {
	seen := map[store.Hash]bool{}
	out := []store.Place{}
	for _, p := range slices.Concat(more, have) {
		if !seen[p.Key] {
			seen[p.Key] = true
			out = append(out, p)
		}
	}
	return out
}
