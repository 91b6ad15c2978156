package badgerdb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hindsight/store"
)

// EraseMemory removes a memory for good, with its revisions and every block and
// why record that shows it, counts what went, and follows it: the sources that a
// consolidation hid behind it, the exchanges that it rests on, the quotes and
// contexts of other memories that hold its sentences, and what was made of it.
// A memory that was made of it alone, or by a consolidation, goes too, and the
// other sources come back; one with a source or evidence of its own loses what
// it had from here. What was promoted of it is made anew in another author's
// words, or goes.
//
// The exchanges go first, each by itself: killed in between, the memory is still
// there to be erased again.
func (s *Store) EraseMemory(ctx context.Context, id string) (store.Receipt, error) {
	var m store.Memory
	var hidden, derived []store.Memory
	err := s.view(func(v view) (err error) {
		if m, _, err = v.memory(id); err != nil {
			return err
		}
		if hidden, err = v.hidden(&m); err != nil {
			return err
		}
		derived, err = v.touched(ctx, append(hidden, m))
		return err
	})
	if err != nil {
		return store.Receipt{}, wrap("erase memory", err)
	}
	gone := traces{exchanges: map[string]bool{}}
	rec := &gone.rec
	rec.Tenant, rec.Scope, rec.Memory, rec.Erased = m.Tenant, m.Scope, id, []store.Scope{}
	for _, x := range append(hidden, m) {
		gone.add(&x)
	}
	for session := range gone.quotes {
		if err := s.retireEvidence(session, &gone); err != nil {
			return *rec, wrap("erase memory", err)
		}
	}
	rec.Exchanges = len(gone.exchanges)
	err = s.change(func(t *tx) error {
		is, at, err := t.memory(id)
		if err != nil {
			return err
		}
		if is.Revision != m.Revision {
			return store.ErrStale
		}
		if err := s.buryAll(t, at, &is); err != nil {
			return err
		}
		if rec.Promoted, err = s.unshare(t, is.Tenant, nil, func(id string, _ place) bool { return slices.Contains(gone.ids, id) }); err != nil {
			return err
		}
		for i := range derived {
			if err := s.followInto(t, derived[i].ID, &gone); err != nil {
				return err
			}
		}
		for i := range hidden {
			if err := s.eraseMemory(t, at, &hidden[i], &gone); err != nil {
				return err
			}
		}
		if err := s.eraseMemory(t, at, &is, &gone); err != nil {
			return err
		}
		// The scope's key stays: a copy from before opens whole, encrypted or not.
		rec.ErasedAt, rec.State, rec.OutOfReach = s.now(), store.ErasureSweeping, store.BeyondMemory(s.cfg.Share)
		if rec.Outbox = len(t.shipped); rec.Outbox > 0 {
			rec.Shared = store.ErasureWaiting
		}
		kept := receipt{Receipt: *rec}
		for thing := range t.shipped {
			kept.Waits = append(kept.Waits, []byte(thing))
		}
		return s.putReceipt(t, kept)
	})
	if err == nil {
		s.squeezeSoon()
	}
	return *rec, wrap("erase memory", err)
}

// traces are what erased memories leave elsewhere.
type traces struct {
	ids       []string
	quotes    map[string][]string // folded, by session
	texts     []string            // folded
	exchanges map[string]bool     // that held them
	rec       store.Receipt       // what went with them
}

func (g *traces) add(m *store.Memory) {
	g.ids = append(g.ids, m.ID)
	g.texts = append(g.texts, store.Fold(m.Text))
	if g.quotes == nil {
		g.quotes = map[string][]string{}
	}
	for _, e := range m.Evidence {
		if q := store.Fold(e.Quote); q != "" {
			g.quotes[e.Session] = append(g.quotes[e.Session], q)
		}
	}
}

// in says whether a text of a session holds one of the sentences.
func (g *traces) in(session, text string) bool {
	text = store.Fold(text)
	return slices.ContainsFunc(g.quotes[session], func(q string) bool { return strings.Contains(text, q) })
}

// proves says whether a quote is one of the sentences, or a part of one.
func (g *traces) proves(e store.Evidence) bool {
	quote := store.Fold(e.Quote)
	return quote != "" && slices.ContainsFunc(g.quotes[e.Session], func(q string) bool {
		return strings.Contains(quote, q) || strings.Contains(q, quote)
	})
}

// touched lists the memories of the tenant, other than those that go, that were
// made of one of them or hold its sentences.
func (v view) touched(ctx context.Context, going []store.Memory) ([]store.Memory, error) {
	var g traces
	for i := range going {
		g.add(&going[i])
	}
	var out []store.Memory
	t := v.h.tenant(going[0].Tenant)
	for r := range v.rows(join(famMemory, t[:]), nil) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var m store.Memory
		if err := r.into(&m); err != nil {
			return nil, err
		}
		if slices.Contains(g.ids, m.ID) {
			continue
		}
		if _, changed := g.without(m); changed || g.madeOf(&m) {
			out = append(out, m)
		}
	}
	return out, nil
}

func (g *traces) madeOf(m *store.Memory) bool {
	return slices.ContainsFunc(m.SourceIDs, func(id string) bool { return slices.Contains(g.ids, id) })
}

// without is a memory without the evidence, contexts and sources that go.
func (g *traces) without(m store.Memory) (out store.Memory, changed bool) {
	out = m
	out.Evidence, out.SourceIDs = []store.Evidence{}, []string{}
	for _, e := range m.Evidence {
		switch {
		case g.proves(e):
			changed = true
			continue
		case g.in(e.Session, e.Context):
			changed = true
			e.Context = ""
		}
		out.Evidence = append(out.Evidence, e)
	}
	for _, id := range m.SourceIDs {
		if slices.Contains(g.ids, id) {
			changed = true
			continue
		}
		out.SourceIDs = append(out.SourceIDs, id)
	}
	return out, changed
}

// followInto takes the traces out of another memory, or that memory with them.
func (s *Store) followInto(t *tx, id string, g *traces) error {
	m, at, err := t.memory(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if g.madeOf(&m) {
		mine, err := t.madeFrom(&m, func(*store.Memory) bool { return true })
		if err != nil {
			return err
		}
		left, _ := g.without(m)
		if len(mine) > 0 || len(left.Evidence) == 0 { // its words are those of all its sources
			if _, _, err := s.part(t, m, ""); err != nil {
				return err
			}
			if err := s.setGone(t, t.h.memory(m.ID)); err != nil {
				return err
			}
			return s.eraseMemory(t, at, &m, g)
		}
	}
	g.rec.Remade++
	return s.rewriteWithout(t, at, m, g)
}

// rewriteWithout writes a memory and its older forms anew without the traces.
// It makes no revision: that would keep them.
func (s *Store) rewriteWithout(t *tx, at place, m store.Memory, g *traces) error {
	h := t.h.memory(m.ID)
	var older []store.Memory
	var keys [][]byte
	for r := range t.rows(join(famRevision, at[:], h[:]), nil) {
		var was store.Memory
		if err := r.into(&was); err != nil {
			return err
		}
		if left, changed := g.without(was); changed {
			older, keys = append(older, left), append(keys, r.key())
		}
	}
	for i := range older {
		if err := t.put(keys[i], older[i], 0, 0); err != nil {
			return err
		}
	}
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	left, _ := g.without(m)
	left.Loses(&m)
	left.UpdatedAt = s.now()
	return s.storeMemory(t, at, &left)
}

// retireEvidence removes the reflected exchanges of a session that hold the
// sentences; their places stay, so that they aren't learned again.
func (s *Store) retireEvidence(session string, g *traces) error {
	return s.change(func(t *tx) error {
		at, err := t.locate(session)
		if errors.Is(err, store.ErrNotFound) {
			return nil // past its retention
		}
		if err != nil {
			return err
		}
		home, err := t.session(at)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var dead []uint64
		for r := range t.rows(join(famExchange, at[:]), nil) {
			seq := seqOf(r.item.Key()[1:])
			if seq > home.Cursor {
				break
			}
			x, err := r.exchange(seq, &home)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(x.Events, func(e store.Event) bool { return g.in(session, e.Text) || g.in(session, e.ThirdParty) }) {
				dead = append(dead, seq)
				g.exchanges[x.ID] = true
			}
		}
		for _, seq := range dead {
			if err := s.retireOne(t, at, seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// eraseMemory removes a memory with everything of its user that shows its
// words. What other users saw of a shared one is never replayed and goes with
// the retention of ledger and why.
func (s *Store) eraseMemory(t *tx, at place, m *store.Memory, g *traces) error {
	seen := at
	if user, ok := m.Scope.UserOf(); ok {
		seen = t.h.at(m.Tenant, store.UserScope(user))
	}
	var keys [][]byte
	var blocks []store.LedgerEntry
	for r := range t.rows(join(famLedger, seen[:]), nil) {
		var e store.LedgerEntry
		if err := r.into(&e); err != nil {
			return err
		}
		if slices.ContainsFunc(e.Refs, func(ref store.Ref) bool { return ref.ID == m.ID }) {
			keys, blocks = append(keys, r.key()), append(blocks, e)
		}
	}
	for r := range t.rows(join(famWhy, seen[:]), nil) {
		var w store.Why
		if err := r.into(&w); err != nil {
			return err
		}
		if g.exchanges[w.Exchange] || slices.ContainsFunc(w.Considered, func(c store.Candidate) bool { return c.ID == m.ID }) {
			keys = append(keys, r.key())
		}
	}
	g.rec.Ledger += len(blocks)
	g.rec.Why += len(keys) - len(blocks)
	for _, k := range keys {
		if err := t.del(k); err != nil {
			return err
		}
	}
	if err := s.emptyBlocks(t, blocks); err != nil {
		return err
	}
	if err := s.scrubJobs(t, seen, g); err != nil {
		return err
	}
	return s.dropMemory(t, at, m, &g.rec)
}

// dropMemory removes the records of a memory and of its older forms, and counts
// them.
func (s *Store) dropMemory(t *tx, at place, m *store.Memory, rec *store.Receipt) error {
	id := t.h.memory(m.ID)
	switch _, err := t.row(vectorKey(at, id)); {
	case err == nil:
		rec.Vectors++
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	for _, k := range [][]byte{memoryKey(at, id), memoryIndex(at, m.CreatedAt, id), idKey(byMemory, id), vectorKey(at, id)} {
		if err := t.del(k); err != nil {
			return err
		}
	}
	older, err := t.delAll(join(famRevision, at[:], id[:]))
	if err != nil {
		return err
	}
	rec.Memories++
	rec.Revisions += older
	rec.Evidence += len(m.Evidence)
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	if err := s.setErased(t, at, m); err != nil {
		return err
	}
	s.feed.later(t, m.Tenant, m.Scope, m.ID)
	return t.dropText(at, m)
}

// delAll deletes the few rows that begin with prefix, and counts them.
func (t *tx) delAll(prefix []byte) (int, error) {
	var keys [][]byte
	for r := range t.rows(prefix, nil) {
		keys = append(keys, r.key())
	}
	for _, k := range keys {
		if err := t.del(k); err != nil {
			return 0, err
		}
	}
	return len(keys), nil
}
