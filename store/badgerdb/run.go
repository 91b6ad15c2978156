package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hindsight/store"
)

// Run opens the directory and keeps it: it writes the journal, sweeps what is
// past its time, and opens anew after a failure, at most Retry apart. When the
// context ends it commits what is queued and closes. Call it once. The error is
// that of the last commit or of closing.
func (s *Store) Run(ctx context.Context) error {
	var once sync.Once
	wait := min(s.cfg.Retry, 250*time.Millisecond)
	for {
		err := s.open()
		for s.cfg.Ask != nil && heldByAnother(err) && s.cfg.Ask(ctx) {
			err = s.open() // at once, before a third one comes
		}
		if err != nil {
			s.setOff(whyOff(err)) // before anybody who waits for the outcome asks
		}
		once.Do(func() { close(s.first) })
		if err == nil {
			wait = min(s.cfg.Retry, 250*time.Millisecond)
			err = s.serve(ctx)
			err = errors.Join(err, s.close(err))
		} else if ctx.Err() != nil {
			err = nil // there was nothing to lose
		}
		if ctx.Err() != nil {
			s.setOff(store.Off{Reason: closed})
			return err
		}
		s.setOff(whyOff(err))
		select {
		case <-time.After(wait):
			wait = min(s.cfg.Retry, 2*wait)
		case <-ctx.Done():
			s.setOff(store.Off{Reason: closed})
			return nil
		}
	}
}

// Ready waits for the first attempt to open and tells its outcome, nil or a
// *store.Off; or the context's error.
func (s *Store) Ready(ctx context.Context) error {
	select {
	case <-s.first:
		return s.with(func(*handle) error { return nil })
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// heldByAnother says that another process has the directory open.
func heldByAnother(err error) bool {
	var o *store.Off
	return errors.As(err, &o) && o.Held
}

// closed is why a store that has ended is off.
const closed = "closed"

func whyOff(err error) store.Off {
	var o *store.Off
	if errors.As(err, &o) {
		return *o
	}
	return store.Off{Reason: "the data can't be written (" + oneLine(err) + "): look at the disk"}
}

// setOff notes why the store is closed; the log hears of changes only.
func (s *Store) setOff(why store.Off) {
	s.mu.Lock()
	was := s.off
	s.off = why
	s.mu.Unlock()
	if was != why && why.Reason != closed {
		s.log.Warn("memory is off", "reason", why.Reason)
	}
}

// open opens the directory, reads the state and ends what an earlier life left
// begun.
func (s *Store) open() error {
	h, err := s.openDir()
	if err != nil {
		return err
	}
	if err := s.revive(h); err != nil {
		return errors.Join(s.unreadable(err), h.close())
	}
	s.feed.reset()
	s.vectors.reset()
	s.reserved.Store(nil) // the logs' names begin anew
	select {
	case _ = <-s.broken: // of the time before
	default:
	}
	s.life.Lock()
	s.h = h
	s.life.Unlock()
	s.mu.Lock()
	s.off, s.low = store.Off{}, ""
	s.mu.Unlock()
	s.journal.setOpen(true)
	s.log.Info("memory is on", "dir", s.cfg.Dir)
	return nil
}

func (s *Store) revive(h *handle) error {
	if err := s.loadHidden(h); err != nil {
		return err
	}
	if err := s.dropDestroyed(h); err != nil {
		return fmt.Errorf("remove erased scopes: %w", err)
	}
	if err := s.reload(h); err != nil {
		return err
	}
	s.write.Lock()
	err := s.destroyDoomed(h)
	s.write.Unlock()
	if err != nil {
		return fmt.Errorf("destroy the keys of erased scopes: %w", err)
	}
	if err := s.finishLinks(h); err != nil {
		return fmt.Errorf("finish linking tenants: %w", err)
	}
	if err := s.beginSharing(h); err != nil {
		return fmt.Errorf("fill the outbox: %w", err)
	}
	return s.endBegun(h)
}

// reload reads the state in memory anew.
func (s *Store) reload(h *handle) error {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	st, err := s.load(view{h, txn})
	if err != nil {
		return err
	}
	if err := s.loadOutbox(view{h, txn}); err != nil {
		return err
	}
	s.mirror(func(was *state) {
		for at, c := range was.copies { // what is known of their use isn't all on disk
			if is, ok := st.copies[at]; ok {
				is.Used, is.fresh = latest(is.Used, c.Used), c.fresh
				st.copies[at] = is
			}
		}
		*was = st
	})
	return nil
}

// endBegun makes aborted exchanges of those that were begun when the process
// died. One that ended under the same id stays as it ended.
func (s *Store) endBegun(h *handle) error {
	var ids []store.Hash
	s.mu.RLock()
	for id := range s.mem.begun {
		ids = append(ids, id)
	}
	s.mu.RUnlock()
	s.write.Lock()
	defer s.write.Unlock()
	for _, id := range ids {
		err := s.apply(h, &tx{}, func(t *tx) error {
			at := s.mem.begun[id]
			r, err := t.row(join(famBegun, at[:], id[:]))
			if err != nil {
				return err
			}
			x, err := r.exchange(0, nil)
			if err != nil {
				return err
			}
			if is, err := t.ended(x.ID); err != nil {
				return err
			} else if is != nil {
				return s.dropBegun(t, x.ID)
			}
			s.aborted[x.ID] = struct{}{}
			x.Status = store.Aborted
			return s.writeEnded(t, &x)
		})
		if err != nil {
			return fmt.Errorf("end a begun exchange: %w", err)
		}
	}
	return nil
}

// close closes the directory. After a failure what is queued waits for the
// next opening.
func (s *Store) close(failed error) error {
	s.journal.setOpen(false)
	why := store.Off{Reason: closed}
	if failed != nil {
		why = whyOff(failed)
	}
	s.setOff(why)
	s.life.Lock()
	h := s.h
	s.h = nil
	s.life.Unlock()
	s.turn()
	if err := h.close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// serve is the one loop while the store is open. It returns nil when the
// context has ended and all is committed, else what failed.
func (s *Store) serve(ctx context.Context) error {
	h := s.h // only this goroutine changes it
	keeping, stop := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { s.keep(keeping, h) })
	defer keeper.Wait()
	defer stop()

	linger := time.NewTimer(0)
	defer linger.Stop()
	check := time.NewTicker(s.cfg.Retry)
	defer check.Stop()
	for {
		select {
		case <-s.journal.wake:
			if s.journal.hurry() {
				if err := s.commitQueued(h); err != nil {
					return err
				}
				continue
			}
			linger.Reset(s.cfg.Linger)
		case <-linger.C:
			if err := s.commitQueued(h); err != nil {
				return err
			}
		case <-check.C:
			s.checkSpace()
		case err := <-s.broken:
			return err
		case <-ctx.Done():
			s.journal.setOpen(false)
			return s.commitQueued(h)
		}
	}
}
