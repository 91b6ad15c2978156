package session

import (
	"context"
	"strings"
	"time"
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
		w.form = ""
		if w.recorded != nil {
			close(w.recorded)
		}
	}
}

// Settle waits until every exchange of the session whose answer is with its
// client has been finished and handed to the journal; of all sessions where
// session is empty. The error is ctx's.
func (k *Tracker) Settle(ctx context.Context, session string) error {
	for _, w := range k.endingNow(func(w *work) bool { return session == "" || w.live.id == session }) {
		if err := w.handedOver(ctx); err != nil {
			return err
		}
	}
	return nil
}

// handedOver waits until an exchange has been finished and handed to the
// journal.
func (w *work) handedOver(ctx context.Context) error {
	select {
	case <-w.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-w.recorded:
		return nil
	default:
	}
	late := time.NewTimer(handOver)
	defer late.Stop()
	select {
	case <-w.recorded:
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// await waits for what the owner's finished exchanges teach; without it, the
// next request of a conversation could come before its anchors are known, and
// reach the journal before the one that it answers. If ctx ends first, the
// request goes on with what is known. A single message that names no session
// answers nothing: for it only what it repeats or goes on with counts.
func (k *Tracker) await(ctx context.Context, t *Turn, sig signals, r *reading) {
	_, text, single := r.single()
	alone := single && r.opens() && !sig.named()
	for _, w := range k.endingNow(func(w *work) bool {
		return w.tenant == t.Owner.Tenant && w.user == t.Owner.User &&
			(!alone || w.body == t.BodyHash || w.form != "" && strings.HasPrefix(text, w.form))
	}) {
		if w.handedOver(ctx) != nil {
			return
		}
	}
}

// waitable makes the channels on which an exchange is waited for: few are. The
// caller holds mu.
func (w *work) waitable() {
	if w.recorded != nil {
		return
	}
	w.recorded, w.done = make(chan struct{}), make(chan struct{})
	if w.finished {
		close(w.done)
	}
}

// endingNow lists the exchanges between Ended and Recorded that f picks.
func (k *Tracker) endingNow(f func(*work) bool) []*work {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*work
	for w := range k.ending {
		if f(w) {
			w.waitable()
			out = append(out, w)
		}
	}
	return out
}
