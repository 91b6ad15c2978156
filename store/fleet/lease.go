package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"hindsight/store"
)

// One sidecar at a time reflects for a user: it saves money, and lets small
// sessions share a call. The lease is a record in the shared store, which has no
// lock: two that ask in the same moment can both get it, in rare cases.
const (
	leaseTime  = 2 * time.Minute
	leaseRest  = 3 * time.Second        // a lease without work is given back after this
	settling   = 150 * time.Millisecond // between writing a lease and reading it back
	askAgain   = 2 * time.Second        // after a lease was another's
	takeTime   = 15 * time.Second       // one attempt, reading included
	takeAtOnce = 32                     // users
)

// leases are those that this process holds.
type leases struct {
	mu     sync.Mutex
	held   map[scopeKey]*lease
	denied map[scopeKey]time.Time // another's; not asked for again before
}

type lease struct {
	until   time.Time
	running int
	rested  time.Time // since when nothing runs
}

func newLeases() leases {
	return leases{held: map[scopeKey]*lease{}, denied: map[scopeKey]time.Time{}}
}

// note is what a session record says: who reflects for a user and until when, or
// that a sidecar that stops has left a session to others.
type note struct {
	Holder string    `json:"holder,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Left   bool      `json:"left,omitempty"`
}

func noteOf(r store.SharedRecord) (n note) {
	_ = json.Unmarshal(r.Data, &n) // what can't be read says nothing
	return n
}

func left(r store.SharedRecord) bool { return noteOf(r).Left }

func leaseID(k scopeKey) string { return "lease-" + hashOf(k) }

// hashOf names a scope in the id of a record.
func hashOf(k scopeKey) string {
	sum := sha256.Sum256([]byte(k.tenant + "\x00" + string(k.scope)))
	return hex.EncodeToString(sum[:16])
}

// userOf is the key of an owner's lease.
func userOf(o store.Owner) scopeKey { return scopeKey{o.Tenant, o.Scope()} }

// Take asks for the right to reflect for the owners of sessions, and reads what
// others know of those sessions and of what is known about their owners. It
// returns the owners' users for whom that has come off, by tenant and scope. While
// the shared store has been away or has taken nothing for long, everybody goes on
// alone.
func (f *Fleet) Take(ctx context.Context, sessions []store.Session) func(store.Owner) bool {
	ctx, cancel := context.WithTimeout(ctx, takeTime)
	defer cancel()
	if !f.up() {
		alone := f.health.away() > f.cfg.Patience
		return func(store.Owner) bool { return alone }
	}
	wanted := f.wanted(sessions)
	mine := map[scopeKey]bool{}
	for tenant, keys := range byTenant(wanted) {
		got, err := f.takeOf(ctx, tenant, keys)
		if _, lasts := f.Refused(); lasts > f.cfg.Patience && isRefused(err) {
			got, err = keys, nil // nobody can sign a lease
		}
		if err != nil {
			f.log.Debug("leases can't be taken", "error", err)
			continue
		}
		for _, k := range got {
			if err := f.gather(ctx, k, wanted[k]); err != nil {
				f.log.Debug("a user's sessions can't be read from the shared memory", "error", err)
				continue
			}
			mine[k] = true
		}
	}
	return func(o store.Owner) bool { return mine[userOf(o)] }
}

// wanted groups sessions by user, without those who are another's for now.
func (f *Fleet) wanted(sessions []store.Session) map[scopeKey][]store.Session {
	now := f.cfg.Now()
	out := map[scopeKey][]store.Session{}
	f.leases.mu.Lock()
	defer f.leases.mu.Unlock()
	for _, s := range sessions {
		k := userOf(s.Owner)
		if now.Before(f.leases.denied[k]) {
			continue
		}
		if _, ok := out[k]; !ok && len(out) == takeAtOnce {
			continue
		}
		out[k] = append(out[k], s)
	}
	return out
}

func byTenant(wanted map[scopeKey][]store.Session) map[string][]scopeKey {
	out := map[string][]scopeKey{}
	for k := range wanted {
		out[k.tenant] = append(out[k.tenant], k)
	}
	return out
}

// takeOf takes the leases of users of a tenant that aren't another's.
func (f *Fleet) takeOf(ctx context.Context, tenant string, keys []scopeKey) (got []scopeKey, err error) {
	now := f.cfg.Now()
	var ask []scopeKey
	f.leases.mu.Lock()
	for _, k := range keys {
		if l := f.leases.held[k]; l != nil && l.until.Sub(now) > leaseTime/4 {
			l.rested = now
			got = append(got, k)
		} else {
			ask = append(ask, k)
		}
	}
	f.leases.mu.Unlock()
	if len(ask) == 0 {
		return got, nil
	}
	holders, err := f.holders(ctx, tenant, ask)
	if err != nil {
		return nil, err
	}
	ask = slices.DeleteFunc(ask, func(k scopeKey) bool {
		n := holders[k]
		taken := n.Holder != "" && n.Holder != f.cfg.Name && now.Before(n.Until)
		if taken {
			f.deny(k, now)
		}
		return taken
	})
	if len(ask) == 0 {
		return got, nil
	}
	if err := f.sign(ctx, tenant, ask, now.Add(leaseTime)); err != nil {
		return nil, err
	}
	select {
	case <-time.After(settling):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if holders, err = f.holders(ctx, tenant, ask); err != nil {
		return nil, err
	}
	for _, k := range ask {
		if holders[k].Holder != f.cfg.Name {
			f.deny(k, now)
			continue
		}
		f.leases.mu.Lock()
		if f.leases.held[k] == nil {
			f.leases.held[k] = &lease{rested: now}
		}
		f.leases.held[k].until = now.Add(leaseTime)
		f.leases.mu.Unlock()
		got = append(got, k)
	}
	return got, nil
}

func (f *Fleet) deny(k scopeKey, now time.Time) {
	f.leases.mu.Lock()
	defer f.leases.mu.Unlock()
	f.leases.denied[k] = now.Add(askAgain)
	for k, at := range f.leases.denied {
		if now.Sub(at) > leaseTime {
			delete(f.leases.denied, k)
		}
	}
}

// holders reads who holds leases now.
func (f *Fleet) holders(ctx context.Context, tenant string, keys []scopeKey) (map[scopeKey]note, error) {
	q := store.RecordQuery{Kinds: []store.RecordKind{store.RecordSession}, Limit: len(keys)}
	by := map[string]scopeKey{}
	for _, k := range keys {
		id := leaseID(k)
		by[id] = k
		q.IDs, q.Scopes = append(q.IDs, id), append(q.Scopes, k.scope)
	}
	rs, err := f.remote.Records(ctx, tenant, q)
	if err != nil {
		return nil, err
	}
	out := map[scopeKey]note{}
	for _, r := range rs {
		out[by[r.ID]] = noteOf(r)
	}
	return out, nil
}

// sign writes leases; a zero time gives them back.
func (f *Fleet) sign(ctx context.Context, tenant string, keys []scopeKey, until time.Time) error {
	var rs []store.SharedRecord
	for _, k := range keys {
		data, err := json.Marshal(note{Holder: f.cfg.Name, Until: until.UTC()})
		if err != nil {
			return err
		}
		rs = append(rs, store.SharedRecord{
			Kind: store.RecordSession, ID: leaseID(k), Tenant: tenant, Scope: k.scope, Time: f.cfg.Now().UTC(), Data: data,
		})
	}
	failed, err := f.remote.PutRecords(ctx, tenant, rs)
	for _, e := range failed {
		err = errors.Join(err, refused{e})
	}
	return err
}

// gather reads what others know of a user's sessions, and the user's memories as
// they are: what is known already isn't to be learned again.
func (f *Fleet) gather(ctx context.Context, k scopeKey, sessions []store.Session) error {
	var ids []string
	scopes := []store.Scope{k.scope}
	for _, s := range sessions {
		ids = append(ids, s.ID)
		for _, sc := range s.Owner.OwnScopes() {
			if !slices.Contains(scopes, sc) {
				scopes = append(scopes, sc)
			}
		}
	}
	for _, q := range []store.RecordQuery{
		{Sessions: ids, Kinds: []store.RecordKind{store.RecordExchange, store.RecordLedger}},
		{Pending: true, Kinds: []store.RecordKind{store.RecordExchange}},
	} {
		q.Scopes = scopes
		if _, err := f.takeIn(ctx, k.tenant, q); err != nil {
			return err
		}
	}
	if !f.bring(ctx, k.tenant, scopes) {
		if _, direct := f.wholly(k.tenant, scopes); !direct { // one too large to be held is compared with what is here
			return errAway
		}
	}
	return nil
}

// Began notes that a job of a user runs here, Ended that it doesn't any more.
func (f *Fleet) Began(o store.Owner) { f.count(o, 1) }

// Ended is the counterpart of Began.
func (f *Fleet) Ended(o store.Owner) { f.count(o, -1) }

func (f *Fleet) count(o store.Owner, by int) {
	f.leases.mu.Lock()
	defer f.leases.mu.Unlock()
	k := userOf(o)
	l := f.leases.held[k]
	if l == nil {
		return // it runs without one: the shared store is away
	}
	l.running = max(0, l.running+by)
	l.rested = f.cfg.Now()
}

// Holds says whether this process reflects for an owner's user.
func (f *Fleet) Holds(o store.Owner) bool {
	f.leases.mu.Lock()
	defer f.leases.mu.Unlock()
	l := f.leases.held[userOf(o)]
	return l != nil && f.cfg.Now().Before(l.until)
}

// tend renews the leases under which something runs and gives back those of
// which nothing has come for a while.
func (f *Fleet) tend(ctx context.Context) {
	now := f.cfg.Now()
	renew, back := map[string][]scopeKey{}, map[string][]scopeKey{}
	rows, oldest := f.local.OutboxDepth()
	f.leases.mu.Lock()
	for k, l := range f.leases.held {
		switch {
		case (l.running > 0 || rows > 0) && l.until.Sub(now) < leaseTime/2:
			l.until = now.Add(leaseTime)
			renew[k.tenant] = append(renew[k.tenant], k)
		case l.running == 0 && now.Sub(l.rested) > leaseRest && (rows == 0 || oldest.After(l.rested)):
			// What was done under it has been delivered: who has it next sees that.
			delete(f.leases.held, k)
			back[k.tenant] = append(back[k.tenant], k)
		}
	}
	f.leases.mu.Unlock()
	f.signAll(ctx, renew, now.Add(leaseTime))
	f.signAll(ctx, back, time.Time{})
}

// signAll writes leases of several tenants. What isn't written runs out.
func (f *Fleet) signAll(ctx context.Context, by map[string][]scopeKey, until time.Time) {
	for tenant, keys := range by {
		for some := range slices.Chunk(keys, batch) {
			if err := f.sign(ctx, tenant, some, until); err != nil {
				f.log.Debug("leases can't be written", "error", err)
			}
		}
	}
}
