package badgerdb

import (
	"context"
	"errors"
	"time"

	"hindsight/store"
)

// The marks beside a job's record.
const (
	jobLive = 1
	jobDone = 2
)

// keepDead is for dead jobs, which wait for a person.
const keepDead = keepSession

func jobKey(at place, id store.Hash) []byte { return join(famJob, at[:], id[:]) }

// job finds a job by id.
func (v view) job(id string) (store.Job, error) {
	var j store.Job
	h := v.h.job(id)
	at, err := v.raw(idKey(byJob, h))
	if err != nil {
		return j, err
	}
	err = v.get(join(famJob, at, h[:]), &j)
	return j, err
}

// putJob writes a job and mirrors it.
func (s *Store) putJob(t *tx, j *store.Job) error {
	at, mark, ttl := t.h.conversation(j.Owner, j.Session), byte(jobLive), time.Duration(0)
	switch j.State {
	case store.Done:
		mark, ttl = jobDone, keepDone
	case store.Dead:
		ttl = keepDead
	}
	j.Updated = s.now()
	p, h := at.place(), t.h.job(j.ID)
	if j.Consolidates() {
		p = t.h.at(j.Owner.Tenant, j.Scope)
	}
	if err := t.put(jobKey(p, h), j, mark, ttl); err != nil {
		return err
	}
	if err := t.set(idKey(byJob, h), p[:], 0, ttl); err != nil {
		return err
	}
	y := *j
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { st.job(at, &y) })
		if y.State == store.Done || y.State == store.Dead {
			s.turn()
		}
	})
	return nil
}

// turn wakes everybody in WaitJob.
func (s *Store) turn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.turned)
	s.turned = make(chan struct{})
}

// Enqueue asks for the reflection of what a session has beyond its cursor. An
// explicit trigger first waits until everything handed over is on disk; it and
// idle close the session. Asking again raises the To of the job that is queued;
// behind one that runs a second is queued, or, where that one covers everything,
// itself returned. A dead job is queued again by new material or an explicit
// trigger. False: there is nothing to do.
func (s *Store) Enqueue(ctx context.Context, o store.Owner, session string, trigger store.Trigger) (store.Job, bool, error) {
	if trigger == store.TriggerExplicit {
		if err := s.Flush(ctx); err != nil {
			return store.Job{}, false, wrap("enqueue reflection", err)
		}
	}
	var j store.Job
	ok := false
	err := s.change(func(t *tx) (err error) {
		j, ok, err = s.enqueueSession(t, store.Due{Owner: o, Session: session, Trigger: trigger})
		return err
	})
	if err != nil {
		return store.Job{}, false, wrap("enqueue reflection", err)
	}
	return j, ok, nil
}

// EnqueueDue is Enqueue for sessions that [Store.Due] has listed, in one commit.
// Those that have gone meanwhile are passed over.
func (s *Store) EnqueueDue(_ context.Context, due []store.Due) error {
	if len(due) == 0 {
		return nil
	}
	err := s.change(func(t *tx) error {
		for _, d := range due {
			if _, _, err := s.enqueueSession(t, d); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	return wrap("enqueue reflections", err)
}

func (s *Store) enqueueSession(t *tx, d store.Due) (store.Job, bool, error) {
	at := t.h.conversation(s.owner(d.Owner), d.Session)
	x, err := t.session(at)
	if err != nil {
		return store.Job{}, false, err
	}
	if x.State == store.Open && (d.Trigger == store.TriggerExplicit || d.Trigger == store.TriggerIdle) {
		x.State = store.Closed
		t.putSession(at, x)
	}
	return s.enqueue(t, at, &x, d.Trigger)
}

func (s *Store) enqueue(t *tx, at conversation, x *store.Session, trigger store.Trigger) (store.Job, bool, error) {
	from, running := s.behindRunning(at, x.Cursor)
	if x.LastSeq <= from {
		if running != nil {
			return *running, true, nil
		}
		return store.Job{}, false, nil
	}
	now := s.now()
	id := "j" + t.h.id.Hash("job of", x.Owner.Tenant, x.ID, string(u64(from))).String()
	j, err := t.job(id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && j.State == store.Done:
		j = store.Job{ID: id, Session: x.ID, Owner: x.Owner, From: from, Trigger: trigger, State: store.Queued, Created: now}
	case err != nil:
		return j, false, err
	case j.State == store.Dead:
		if x.LastSeq <= j.To && trigger != store.TriggerExplicit {
			return store.Job{}, false, nil
		}
		j.State, j.Attempts, j.Answered, j.Reason, j.NotBefore, j.Trigger = store.Queued, 0, 0, "", time.Time{}, trigger
	case trigger == store.TriggerExplicit && j.State == store.Queued:
		j.NotBefore, j.Trigger = time.Time{}, trigger
	}
	j.To = x.LastSeq
	return j, true, s.putJob(t, &j)
}

// behindRunning follows the jobs of a session that run from its cursor on, and
// tells from where the next one would start and the last of them.
func (s *Store) behindRunning(at conversation, cursor uint64) (uint64, *store.Job) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.mem.sessions[at]
	if l == nil {
		return cursor, nil
	}
	for _, j := range l.jobs {
		if j.State == store.Running && j.From == cursor {
			y := *j
			return j.To, &y
		}
	}
	return cursor, nil
}

// Claim takes the oldest job that is due for the given holder until the lease
// ends: a queued or waiting one whose time has come, or one whose lease has run
// out. A job behind another of its session is due when that one is done. False:
// none is due.
func (s *Store) Claim(_ context.Context, claim string, lease time.Duration) (store.Job, bool, error) {
	var j store.Job
	ok := false
	err := s.change(func(t *tx) error {
		now := s.now()
		best := s.oldestDue(t.h, now)
		if best == nil {
			return nil
		}
		j, ok = *best, true
		j.State, j.Claim, j.Lease, j.NotBefore = store.Running, claim, now.Add(lease), time.Time{}
		j.Attempts++
		return s.putJob(t, &j)
	})
	if err != nil {
		return store.Job{}, false, wrap("claim job", err)
	}
	return j, ok, nil
}

func (s *Store) oldestDue(h *handle, now time.Time) *store.Job {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var best *store.Job
	for _, j := range s.mem.jobs {
		due := false
		switch j.State {
		case store.Queued, store.WaitingForKey:
			due = !j.NotBefore.After(now)
		case store.Running:
			due = !j.Lease.After(now)
		}
		if !due || best != nil && !older(j, best) {
			continue
		}
		if j.Consolidates() {
			best = j
			continue
		}
		if l := s.mem.sessions[h.conversation(j.Owner, j.Session)]; l != nil && (l.Cursor == j.From || covered(l.Session, j)) {
			best = j
		}
	}
	if best == nil {
		return nil
	}
	y := *best
	return &y
}

func older(a, b *store.Job) bool {
	if !a.Created.Equal(b.Created) {
		return a.Created.Before(b.Created)
	}
	return a.ID < b.ID
}

// held changes a job that its holder still has. The error is store.ErrStale
// where another claimed it meanwhile.
func (s *Store) held(j store.Job, what string, fn func(t *tx, j *store.Job) error) error {
	return wrap(what, s.change(func(t *tx) error {
		is, err := t.held(j)
		if err != nil {
			return err
		}
		if err := fn(t, &is); err != nil {
			return err
		}
		return s.putJob(t, &is)
	}))
}

func (v view) held(j store.Job) (store.Job, error) {
	is, err := v.job(j.ID)
	if errors.Is(err, store.ErrNotFound) {
		return is, store.ErrStale
	}
	if err == nil && (is.State != store.Running || is.Claim != j.Claim) {
		return is, store.ErrStale
	}
	return is, err
}

// RetryJob gives a claimed job back, due again at a time.
func (s *Store) RetryJob(_ context.Context, j store.Job, at time.Time, reason string) error {
	return s.held(j, "retry job", func(_ *tx, is *store.Job) error {
		is.State, is.NotBefore, is.Reason, is.Claim, is.Lease = store.Queued, at, reason, "", time.Time{}
		is.Answered = j.Answered
		return nil
	})
}

// WaitForKey puts a claimed job aside until the caller's credential may be
// there again. It doesn't count as an attempt.
func (s *Store) WaitForKey(_ context.Context, j store.Job, until time.Time, reason string) error {
	return s.held(j, "put job aside", func(_ *tx, is *store.Job) error {
		is.State, is.NotBefore, is.Reason, is.Claim, is.Lease = store.WaitingForKey, until, reason, "", time.Time{}
		is.Attempts--
		return nil
	})
}

// BuryJob makes a claimed job a dead letter, and those behind it too: they
// can't run before it.
func (s *Store) BuryJob(_ context.Context, j store.Job, reason string) error {
	return s.held(j, "bury job", func(t *tx, is *store.Job) error {
		is.State, is.Reason, is.Claim, is.Lease = store.Dead, reason, "", time.Time{}
		for _, behind := range s.jobsOf(t.h, is) {
			if behind.From < is.To || behind.State == store.Dead {
				continue
			}
			behind.State, behind.Reason = store.Dead, reason
			if err := s.putJob(t, &behind); err != nil {
				return err
			}
		}
		return nil
	})
}

// jobsOf lists the other jobs of a job's session that aren't done. Nothing
// stands behind a consolidation.
func (s *Store) jobsOf(h *handle, j *store.Job) []store.Job {
	if j.Consolidates() {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []store.Job
	if l := s.mem.sessions[h.conversation(j.Owner, j.Session)]; l != nil {
		for _, o := range l.jobs {
			if o.ID != j.ID {
				out = append(out, *o)
			}
		}
	}
	return out
}

// Requeue brings a dead or waiting job back, due at once. Jobs in other states
// are returned as they are.
func (s *Store) Requeue(_ context.Context, id string) (store.Job, error) {
	var j store.Job
	err := s.change(func(t *tx) (err error) {
		if j, err = t.job(id); err != nil || j.State != store.Dead && j.State != store.WaitingForKey {
			return err
		}
		j.State, j.Attempts, j.Answered, j.Reason, j.NotBefore = store.Queued, 0, 0, "", time.Time{}
		return s.putJob(t, &j)
	})
	return j, wrap("requeue job", err)
}

// Job finds a job by id.
func (s *Store) Job(_ context.Context, id string) (store.Job, error) {
	var j store.Job
	err := s.view(func(v view) (err error) {
		j, err = v.job(id)
		return err
	})
	return j, wrap("find job", err)
}

// WaitJob returns a job when it is done or dead. When the context ends first
// it returns the job as it is, and the context's error.
func (s *Store) WaitJob(ctx context.Context, id string) (store.Job, error) {
	for {
		s.mu.RLock()
		turned := s.turned
		s.mu.RUnlock()
		j, err := s.Job(ctx, id)
		if err != nil || j.State == store.Done || j.State == store.Dead {
			return j, err
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return j, context.Cause(ctx)
		}
	}
}
