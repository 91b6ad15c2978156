package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
)

// What a fleet's sidecar holds of a scope's memories is a copy of the shared
// ones. Copies that aren't in use can be dropped.

// copyRecord says when a copy was last used.
type copyRecord struct {
	Used time.Time `json:"used,omitzero"`

	fresh bool // it is later than on disk
}

// ErrInUse refuses to drop a copy of which something waits to be shipped, or that
// a session or a request needs.
var ErrInUse = errors.New("the copy is in use")

// copyRest is how long a copy must not have been used to be dropped.
const copyRest = time.Minute

func copyKey(at place) []byte { return join(famCopy, at[:]) }

func (s *Store) putCopy(t *tx, at place, c copyRecord) error {
	t.after = append(t.after, func() {
		s.mirror(func(st *state) {
			if is := st.copies[at]; is.Used.After(c.Used) { // used while it was written
				c.Used, c.fresh = is.Used, true
			}
			st.copies[at] = c
		})
	})
	return t.put(copyKey(at), c, 0, 0)
}

// UseCopy notes that a request uses a scope. It touches memory only; the moment
// reaches the disk within minutes and when the store is closed.
func (s *Store) UseCopy(tenant string, sc store.Scope) {
	if !s.cfg.Share {
		return
	}
	_ = s.with(func(h *handle) error { // of a closed store nothing is used
		at, now := h.at(s.tenant(tenant), sc), s.now()
		s.mu.Lock()
		defer s.mu.Unlock()
		c := s.mem.copies[at]
		c.Used, c.fresh = now, true
		s.mem.copies[at] = c
		return nil
	})
}

// keepCopies writes when copies were used. The use of a scope of which nothing was
// ever kept is forgotten when it rests.
func (s *Store) keepCopies(h *handle) error {
	return s.locked(h, func(t *tx) error {
		fresh := map[place]copyRecord{}
		s.mirror(func(st *state) {
			for at, c := range st.copies {
				_, known := st.scopes[at]
				switch {
				case !known && s.now().Sub(c.Used) >= copyRest:
					delete(st.copies, at)
				case known && c.fresh:
					c.fresh = false
					fresh[at] = c
				}
			}
		})
		for at, c := range fresh {
			if err := t.room(512, 1); err != nil {
				return err
			}
			if err := s.putCopy(t, at, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// Copies lists the scopes of which memories are here, the least recently used
// first. It counts their bytes, by the keys alone.
func (s *Store) Copies(ctx context.Context) ([]store.Copy, error) {
	var out []store.Copy
	err := s.view(func(v view) error {
		tenants, err := v.tenants()
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			scopes, err := v.scopes(tenant)
			if err != nil {
				return err
			}
			for _, sc := range scopes {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				at := v.h.at(tenant, sc)
				c := store.Copy{Tenant: tenant, Scope: sc, Bytes: v.copyBytes(at)}
				s.mu.RLock()
				c.Used = s.mem.copies[at].Used
				s.mu.RUnlock()
				if c.Bytes > 0 {
					out = append(out, c)
				}
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b store.Copy) int { return a.Used.Compare(b.Used) })
	return out, wrap("list copies", err)
}

// copied are the families that make a copy. Older forms stay: they are nowhere
// else.
var copied = [...]byte{famMemory, famText, famVector, famReadyPart, famUnready}

func (v view) copyBytes(at place) int64 {
	n := int64(0)
	for _, family := range copied {
		for r := range v.rows(join(family, at[:]), nil) {
			n += r.item.EstimatedSize()
		}
	}
	return n
}

// DropCopy removes a scope's memories from this directory, and from nowhere else:
// it is taken in again when it is next needed. Killed in between, a part is left.
// Older forms, tombstones, sessions and what is known of erasures stay. The error is
// [ErrInUse] where something of the scope waits to be shipped, a session of it is
// open or to be reflected, or it was used within the last minute.
func (s *Store) DropCopy(ctx context.Context, tenant string, sc store.Scope) (freed int64, err error) {
	if !s.cfg.Share {
		return 0, fmt.Errorf("drop a copy: the directory is the only place where its memories are")
	}
	err = s.with(func(h *handle) error {
		s.write.Lock()
		defer s.write.Unlock()
		name := scopeName{s.tenant(tenant), sc}
		at := h.at(name.tenant, sc)
		if s.inUse(name, at) {
			return ErrInUse
		}
		txn := h.db.NewTransaction(false)
		freed = view{h, txn}.copyBytes(at)
		txn.Discard()
		err := s.apply(h, &tx{}, func(t *tx) error { return s.dropReady(t, at) })
		if err != nil {
			return err
		}
		e := eraser{s: s, h: h}
		for _, family := range copied {
			var also func(*tx, row) ([][]byte, error)
			if family == famMemory {
				also = listings
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := e.wipe(join(family, at[:]), nil, also); err != nil {
				return err
			}
		}
		s.feed.cut(name)
		s.vectors.feed.cut(name)
		return nil
	})
	return freed, wrap("drop a copy", err)
}

// listings are a memory's rows in the indices.
func listings(_ *tx, r row) ([][]byte, error) {
	var m store.Memory
	if err := r.into(&m); err != nil {
		return nil, err
	}
	at, id := place(r.item.Key()[1:]), tail(r)
	return [][]byte{idKey(byMemory, id), memoryIndex(at, m.CreatedAt, id)}, nil
}

// inUse says whether a copy must stay. The caller holds the write lock.
func (s *Store) inUse(name scopeName, at place) bool {
	if s.outbox.holds(at) {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.now().Sub(s.mem.copies[at].Used) < copyRest {
		return true
	}
	for _, l := range s.mem.sessions {
		if l.Owner.Tenant == name.tenant && (l.Owner.Scope() == name.scope || l.Owner.SkillScope() == name.scope) {
			return true
		}
	}
	for _, j := range s.mem.jobs {
		if j.Consolidates() && j.Owner.Tenant == name.tenant && j.Scope == name.scope {
			return true
		}
	}
	return false
}

// holds says whether something of a place waits. Where there are more rows than
// are held in memory, everything may.
func (o *outbox) holds(at place) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows > len(o.pending) {
		return true
	}
	for _, p := range o.pending {
		if p.from == at {
			return true
		}
	}
	return false
}
