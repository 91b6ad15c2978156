package badgerdb

import (
	"context"
	"errors"
	"slices"
	"time"

	"hindsight/store"
)

// Apply takes the outcome of a reflection in one transaction: memories, the
// session's cursor, the job's end, which out.Dead makes a dead letter. A dead
// letter whose range was covered so and that was requeued leaves the cursor
// where it is. The error is store.ErrStale where the claim
// was lost, the cursor isn't the job's From, or a memory to be replaced was
// changed since it was read (its Revision isn't the one that is kept); then
// nothing has changed.
//
// A memory of Revision 0 is new; where its id is there already, the one that is
// there stays. What a person has had forgotten isn't written but goes to
// Dropped, with the reason "forgotten". Verdicts count once a job and memory, the
// strongest of them: used and confirmed as a use, confirmed as a verification,
// ignored and contradicted against it; one that is contradicted and stays live
// is believed less.
func (s *Store) Apply(_ context.Context, j store.Job, out store.Outcome) (store.Job, error) {
	if err := s.roomToWrite(); err != nil {
		return j, err
	}
	err := s.change(func(t *tx) error {
		is, err := t.held(j)
		if err != nil {
			return err
		}
		at := t.h.conversation(is.Owner, is.Session)
		x, err := t.session(at)
		if errors.Is(err, store.ErrNotFound) {
			return store.ErrStale
		}
		if err != nil {
			return err
		}
		again := covered(&x, &is)
		if x.Cursor != is.From && !again || j.From != is.From || j.To > x.LastSeq {
			return store.ErrStale
		}
		t.by = store.Change{By: store.Reflection, Session: is.Session}
		if err := s.applyMemories(t, &is, out); err != nil {
			return err
		}
		if err := s.applyVerdicts(t, &is, out.Verdicts); err != nil {
			return err
		}
		is.To, is.State, is.Reason, is.Strategy = j.To, store.Done, "", out.Strategy
		if out.Dead != "" {
			is.State, is.Reason = store.Dead, out.Dead
		}
		if !again {
			if err := s.moveCursor(t, at, &x, &is); err != nil {
				return err
			}
		}
		j = is
		return s.putJob(t, &j)
	})
	return j, wrap("apply reflection", err)
}

// Note takes what a user asked to remember, as [Store.Apply] takes an outcome, but
// outside any reflection: no cursor moves and no job ends. The job that it
// returns holds what was kept and dropped, and is kept nowhere.
func (s *Store) Note(_ context.Context, o store.Owner, out store.Outcome) (store.Job, error) {
	j := store.Job{Owner: o}
	if err := s.roomToWrite(); err != nil {
		return j, err
	}
	err := s.change(func(t *tx) error {
		j.Owner.Tenant = s.tenant(o.Tenant)
		return s.applyMemories(t, &j, out)
	})
	return j, wrap("note what was asked for", err)
}

// covered says whether the cursor is past a job that isn't done.
func covered(x *store.Session, j *store.Job) bool { return x.Cursor >= j.To && j.To > j.From }

// applyMemories writes the memories and sets what the job kept and dropped. A
// memory is never retired for one that isn't live afterwards: one that a person
// has had forgotten, or whose own replacement a person undid.
func (s *Store) applyMemories(t *tx, j *store.Job, out store.Outcome) error {
	j.Kept, j.Dropped = slices.Clone(out.Kept), slices.Clone(out.Dropped)
	mark := s.vectors.used()
	ms := slices.Clone(out.Memories)
	fates := make(map[string]fate, len(ms))
	for i := range ms {
		m := &ms[i]
		m.Tenant = s.tenant(m.Tenant)
		if m.Tenant != j.Owner.Tenant {
			return errors.New("a memory belongs to another tenant than the session")
		}
		to, err := s.fate(t, m)
		if err != nil {
			return err
		}
		fates[m.ID] = to
	}
	for i := range ms {
		m := &ms[i]
		at, to := t.h.at(m.Tenant, m.Scope), fates[m.ID]
		if to.gone {
			j.Kept = slices.DeleteFunc(j.Kept, func(id string) bool { return id == m.ID })
			j.Dropped = append(j.Dropped, store.Dropped{Text: m.Text, Reason: "forgotten"})
			continue
		}
		if m.State == store.Superseded && fates[m.SupersededBy].refused {
			if m.Revision != 0 {
				continue
			}
			m.State, m.SupersededBy, m.ValidTo = store.Active, "", time.Time{}
		}
		if to.lifted {
			for _, text := range words(m) {
				if err := s.lift(t, at, m.Scope, text); err != nil {
					return err
				}
			}
		}
		if err := s.applyMemory(t, at, m, to.lifted); err != nil {
			return err
		}
		if v := out.Vectors[m.ID]; len(v) > 0 && mark != 0 {
			if err := s.putVector(t, m, v, mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// fate is what becomes of a memory that reflection wants to write: gone where a
// person had it forgotten, lifted where its user has said it anew since, and
// refused where it isn't live afterwards though it was to be.
type fate struct{ gone, lifted, refused bool }

func (s *Store) fate(t *tx, m *store.Memory) (f fate, err error) {
	if f.gone, f.lifted, err = s.forgotten(t, t.h.at(m.Tenant, m.Scope), m); err != nil || f.gone || f.lifted || m.Revision != 0 {
		f.refused = f.gone
		return f, err
	}
	old, _, err := t.memory(m.ID)
	if errors.Is(err, store.ErrNotFound) {
		return f, nil
	}
	f.refused = old.State != store.Active
	return f, err
}

func (s *Store) applyMemory(t *tx, at place, m *store.Memory, lifted bool) error {
	old, oldAt, err := t.memory(m.ID)
	switch {
	case errors.Is(err, store.ErrNotFound) && m.Revision == 0:
		return s.putMemory(t, m, nil)
	case errors.Is(err, store.ErrNotFound), err == nil && oldAt != at:
		return store.ErrStale
	case err != nil:
		return err
	case m.Revision == 0 && !lifted:
		return nil
	case m.Revision != 0 && m.Revision != old.Revision:
		return store.ErrStale
	}
	m.CreatedAt = old.CreatedAt
	return s.putMemory(t, m, &old)
}

// moveCursor marks the exchanges of a job as covered, notes when, for their
// retention, and ends the jobs that this makes pointless, with the same result.
func (s *Store) moveCursor(t *tx, at conversation, x *store.Session, j *store.Job) error {
	from, to := j.From, j.To
	if err := s.passCursor(t, at, x, to); err != nil {
		return err
	}
	if err := s.noteReflected(t, at, from, to); err != nil {
		return err
	}
	for _, o := range s.jobsOf(t.h, j) {
		if o.From < from || o.From >= to {
			continue
		}
		o.State, o.Kept, o.Dropped, o.Strategy = store.Done, j.Kept, j.Dropped, j.Strategy
		o.Reason = "covered by " + j.ID
		if err := s.putJob(t, &o); err != nil {
			return err
		}
	}
	t.putSession(at, *x)
	return nil
}

// passCursor moves a session's cursor and counts what is new behind it.
func (s *Store) passCursor(t *tx, at conversation, x *store.Session, to uint64) error {
	x.Cursor, x.NewTokens = to, 0
	for r := range t.rows(join(famExchange, at[:]), exchangeKey(at, to+1)) {
		if r.meta() == markReflected {
			continue
		}
		e, err := r.exchange(seqOf(r.item.Key()[1:]), nil)
		if err != nil {
			return err
		}
		x.NewTokens += e.Tokens
	}
	return nil
}

// noteReflected notes when a range was covered, for the retention of its
// exchanges, and ships them as such.
func (s *Store) noteReflected(t *tx, at conversation, from, to uint64) error {
	key := join(famReflected, ascending(s.now()), at[:])
	if err := t.set(key, append(u64(from), u64(to)...), 0, 0); err != nil {
		return err
	}
	if !s.cfg.Share || t.foreign {
		return nil
	}
	var seqs []uint64
	for r := range t.rows(join(famExchange, at[:]), exchangeKey(at, from+1)) {
		seq := seqOf(r.item.Key()[1:])
		if seq > to {
			break
		}
		seqs = append(seqs, seq)
	}
	for _, seq := range seqs {
		if err := s.shipExchange(t, at, seq); err != nil {
			return err
		}
	}
	return nil
}
