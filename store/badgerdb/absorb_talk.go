package badgerdb

import (
	"errors"

	"hindsight/store"
)

// absorbed takes exchanges of other sidecars into their sessions.
type absorbed struct {
	s        *Store
	t        *tx
	sessions map[conversation]map[string]uint64 // by id: the numbers of those that are here
}

// exchange takes one in, if it isn't here, or what the other side knows of it.
func (a *absorbed) exchange(r *store.SharedRecord) error {
	if len(r.Data) == 0 || r.Data[0] != recordForm {
		return errShared
	}
	x, err := readExchange(r.Data[1:], nil)
	if err != nil || x.ID == "" || x.ID != r.ID || x.Session == "" || x.Owner.Tenant != r.Tenant {
		return errShared
	}
	w := a.t.owned(x.Owner)
	if tooOld(x.Started, w.erased) {
		return nil
	}
	at := a.t.conversation(w, x.Session)
	known, err := a.known(at)
	if err != nil {
		return err
	}
	seq, here := known[x.ID]
	if !here {
		return a.add(at, known, &x, r.Reflected)
	}
	home, err := a.t.session(at)
	if err != nil {
		return err
	}
	row, err := a.t.row(exchangeKey(at, seq))
	if err != nil {
		return err
	}
	done := seq <= home.Cursor || row.meta() == markReflected
	switch {
	case r.Reflected && !done:
		return a.markReflected(at, seq)
	case done && !r.Reflected:
		return a.s.enrol(a.t, at.place(), exchangeRow(at, seq))
	}
	return nil
}

// known lists the exchanges of a session that are here.
func (a *absorbed) known(at conversation) (map[string]uint64, error) {
	if ids, ok := a.sessions[at]; ok {
		return ids, nil
	}
	ids := map[string]uint64{}
	home, err := a.t.session(at)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	for r := range a.t.rows(join(famExchange, at[:]), nil) {
		seq := seqOf(r.item.Key()[1:])
		x, err := r.exchange(seq, &home)
		if err != nil {
			return nil, err
		}
		ids[x.ID] = seq
	}
	a.sessions[at] = ids
	return ids, nil
}

// add puts an exchange behind those of its session. One that isn't the latest
// changes nothing of what the session is like now.
func (a *absorbed) add(at conversation, known map[string]uint64, x *store.Exchange, reflected bool) error {
	was, err := a.t.session(at)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	old := err == nil && seenAt(x).Before(was.LastSeen)
	if reflected {
		x.Events, x.Tokens = []store.Event{}, 0
	}
	if err := a.s.writeEnded(a.t, x); err != nil {
		return err
	}
	is, err := a.t.session(at)
	if errors.Is(err, store.ErrNotFound) || err == nil && is.LastSeq == was.LastSeq {
		return nil // it made no session, or belongs to what was erased
	}
	if err != nil {
		return err
	}
	known[x.ID] = is.LastSeq
	if old {
		is.State, is.ExternalID, is.Parent, is.Dialect, is.Path, is.Model, is.Zone, is.Cred = was.State, was.ExternalID, was.Parent, was.Dialect, was.Path, was.Model, was.Zone, was.Cred
		a.t.putSession(at, is)
	}
	if reflected {
		return a.markReflected(at, is.LastSeq)
	}
	return nil
}

func (a *absorbed) markReflected(at conversation, seq uint64) error {
	key := exchangeKey(at, seq)
	r, err := a.t.row(key)
	if err != nil {
		return err
	}
	b, err := r.raw()
	if err != nil {
		return err
	}
	return a.t.set(key, b, markReflected, keepSession)
}

// pass moves the cursors over what was reflected elsewhere.
func (a *absorbed) pass() error {
	for at := range a.sessions {
		x, err := a.t.session(at)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		from, to := x.Cursor, x.Cursor
		for r := range a.t.rows(join(famExchange, at[:]), exchangeKey(at, from+1)) {
			if r.meta() != markReflected {
				break
			}
			to = seqOf(r.item.Key()[1:])
		}
		was := x.NewTokens
		if err := a.s.passCursor(a.t, at, &x, to); err != nil {
			return err
		}
		if to == from && x.NewTokens == was {
			continue
		}
		a.t.putSession(at, x)
		if to == from {
			continue
		}
		if err := a.s.noteReflected(a.t, at, from, to); err != nil {
			return err
		}
		for _, j := range a.s.jobsOf(a.t.h, &store.Job{Owner: x.Owner, Session: x.ID}) {
			if j.From < from || j.From >= to {
				continue
			}
			j.State, j.Reason, j.Claim = store.Done, "reflected by another sidecar", ""
			if err := a.s.putJob(a.t, &j); err != nil {
				return err
			}
		}
	}
	return nil
}
