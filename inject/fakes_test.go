package inject

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// now is the time of the tests.
var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var ann = store.Owner{Tenant: "t", User: "ann"}

// disk is the store of the tests: memories for a real index, the ledger, and
// what the journal was handed. Its zero value is empty and works.
type disk struct {
	mu      sync.Mutex
	mems    []store.Memory
	ledger  map[string][]store.LedgerEntry // by session
	gone    map[string]bool
	offered map[string]time.Time
	whys    []store.Why
	loads   int
	version uint64
	fail    error
}

func (d *disk) put(mems ...store.Memory) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range mems {
		if m.Scope == "" {
			m.Scope = ann.Scope()
		}
		if m.State == "" {
			m.State = store.Active
		}
		if m.CreatedAt.IsZero() {
			m.CreatedAt = now.AddDate(0, 0, -7)
		}
		if m.Importance == 0 {
			m.Importance = 0.7
		}
		i := slices.IndexFunc(d.mems, func(o store.Memory) bool { return o.ID == m.ID })
		if i < 0 {
			d.mems = append(d.mems, m)
		} else {
			d.mems[i] = m
		}
	}
	d.version++
}

func (d *disk) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone == nil {
		d.gone = map[string]bool{}
	}
	d.gone[id] = true
}

func (d *disk) ScopeVersion(string, store.Scope) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.version
}

func (d *disk) ScopeMemories(_ context.Context, _ string, sc store.Scope) ([]store.Memory, uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []store.Memory
	for _, m := range d.mems {
		if m.Scope == sc {
			out = append(out, m)
		}
	}
	return out, d.version, d.fail
}

func (d *disk) ScopeChanges(string, store.Scope, uint64) ([]store.Memory, uint64, bool) {
	return nil, 0, false
}

func (d *disk) LoadLedger(_ context.Context, _ store.Owner, session string) ([]store.LedgerEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loads++
	return slices.Clone(d.ledger[session]), d.fail
}

func (d *disk) SaveLedger(entries []store.LedgerEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ledger == nil {
		d.ledger = map[string][]store.LedgerEntry{}
	}
	for _, e := range entries {
		for _, id := range e.Checks {
			if d.offered == nil {
				d.offered = map[string]time.Time{}
			}
			d.offered[id] = e.Created
		}
		list := d.ledger[e.Session]
		i := slices.IndexFunc(list, func(o store.LedgerEntry) bool { return o.Key == e.Key })
		if i < 0 {
			d.ledger[e.Session] = append(list, e)
		} else {
			list[i] = e
		}
	}
}

func (d *disk) Gone(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone[id]
}

func (d *disk) Offered(id string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.offered[id]
}

func (d *disk) SaveWhy(w store.Why) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whys = append(d.whys, w)
}

// engine starts an engine over the disk; a second one is a restart.
func (d *disk) engine(t testing.TB, cfg Config) *Engine {
	t.Helper()
	if cfg.Deadline == 0 {
		cfg.Deadline = time.Minute // the machine may be slow; one test is about deadlines
	}
	x := index.New(index.Config{}, d)
	t.Cleanup(x.Close)
	e, err := New(cfg, x, d, d, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func key(s string) store.Hash { return store.IdentityKey{1}.Hash("test", s) }

// talk is a conversation of which the last message is fresh: user messages
// stand at the even indices.
func talk(session string, words ...string) Conversation {
	c := Conversation{Owner: ann, Session: session, Exchange: "x-" + session + fmt.Sprint(len(words)), Recall: true, Now: now, Zone: time.UTC}
	for i, w := range words {
		c.Places = append(c.Places, Place{Key: key(fmt.Sprint(session, i, w)), Message: 2 * i})
		c.Texts = append(c.Texts, w)
	}
	c.Fresh = len(words) - 1
	c.Words = words[len(words)-1]
	c.BodyHash = key(fmt.Sprint(words))
	return c
}

func fact(id, text string) store.Memory {
	return store.Memory{ID: id, Tenant: "t", Text: text, Type: store.UserFact}
}

func newIDs(p Plan) []string {
	out := []string{}
	for _, r := range p.New {
		out = append(out, r.ID)
	}
	return out
}
