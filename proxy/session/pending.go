package session

import (
	"context"
	"time"

	"hindsight/store"
)

// handOver is how long Settle waits for a finished exchange to be reported as
// recorded. It takes microseconds, unless the caller died in between.
const handOver = time.Second

// Ended says that the answer's last byte is about to be handed to the client,
// who may answer it at once. From now on Identify of the same owner waits for
// Finish of this turn. It may be left out, and called more than once.
func (k *Tracker) Ended(t *Turn) {
	w, now := t.work, k.cfg.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	for old := range k.ending {
		if old.finished && now.Sub(old.finishedAt) > handOver {
			delete(k.ending, old)
		}
	}
	if w.live != nil && !w.finished {
		k.ending[w] = struct{}{}
	}
}

// Recorded says that what Finish returned is in the journal's hands: Settle
// waits for it. Call it after Finish, also when that returned nil.
func (k *Tracker) Recorded(t *Turn) {
	w := t.work
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.ending[w]; ok {
		delete(k.ending, w)
		close(w.recorded)
	}
}

// Settle waits until every exchange of the session whose answer is with its
// client has been finished and handed to the journal; of all sessions where
// session is empty. The error is ctx's.
func (k *Tracker) Settle(ctx context.Context, session string) error {
	for _, w := range k.endingNow(func(w *work) bool { return session == "" || w.live.id == session }) {
		select {
		case <-w.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		late := time.NewTimer(handOver)
		defer late.Stop()
		select {
		case <-w.recorded:
		case <-late.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// await waits for what the owner's finished exchanges teach; without it, the
// next request of a conversation could come before its anchors are known. If
// ctx ends first, the request goes on with what is known.
func (k *Tracker) await(ctx context.Context, o store.Owner) {
	for _, w := range k.endingNow(func(w *work) bool {
		return !w.finished && w.tenant == o.Tenant && w.user == o.User
	}) {
		select {
		case <-w.done:
		case <-ctx.Done():
			return
		}
	}
}

// endingNow lists the exchanges between Ended and Recorded that f picks.
func (k *Tracker) endingNow(f func(*work) bool) []*work {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*work
	for w := range k.ending {
		if f(w) {
			out = append(out, w)
		}
	}
	return out
}
