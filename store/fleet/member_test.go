package fleet

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

// member is one sidecar's store and its part in the fleet.
type member struct {
	t    *testing.T
	st   *badgerdb.Store
	f    *Fleet
	idx  *index.Index
	find *Searcher
	stop func() // ends the fleet, then the store

	leave func() // ends the fleet
}

var ann = store.Owner{Tenant: "acme", User: "ann"}

// join starts a sidecar on a shared store.
func join(t *testing.T, c *cloud, cfg Config) *member {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(t.TempDir(), "identity.key")
	if err := os.WriteFile(key, make([]byte, 32), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := badgerdb.New(badgerdb.Config{Dir: dir, IdentityKeyFile: key, Share: true, Linger: time.Millisecond, Now: cfg.Now})
	if err != nil {
		t.Fatal(err)
	}
	storing, closeStore := context.WithCancel(context.Background())
	stored := make(chan error, 1)
	go func() { stored <- st.Run(storing) }()
	if err := st.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cfg.Poll == 0 {
		cfg.Poll = 10 * time.Millisecond
	}
	m := &member{t: t, st: st, idx: index.New(index.Config{}, st)}
	m.enter(c, cfg)
	m.stop = sync1(func() {
		m.leave()
		m.idx.Close()
		closeStore()
		if err := <-stored; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(m.stop)
	return m
}

// enter begins a life of the member's part in the fleet.
func (m *member) enter(c *cloud, cfg Config) {
	m.f = New(cfg, m.st, c)
	m.find = m.f.Searcher(m.idx)
	running, cancel := context.WithCancel(context.Background())
	left := make(chan struct{})
	go func() { m.f.Run(running); close(left) }()
	m.leave = func() { cancel(); <-left }
}

// sync1 lets a function be called again, for nothing.
func sync1(f func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			f()
		}
	}
}

func (m *member) write(text string) store.Memory {
	m.t.Helper()
	kept, _, err := m.st.PutMemory(m.t.Context(), store.Memory{
		ID: store.MemoryID(ann.Tenant, ann.Scope(), "", 0, 0, "", store.Fold(text)), Tenant: ann.Tenant, Scope: ann.Scope(), Type: store.UserFact, Layer: store.Semantic,
		Text: text, State: store.Active, Importance: 0.8, Confidence: 0.9, AttributedTo: store.ByUser,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return kept
}

// search is a search of the owner's scope with so much time.
func (m *member) search(within time.Duration) (texts []string, degraded string, err error) {
	ctx, cancel := context.WithTimeout(m.t.Context(), within)
	defer cancel()
	res, err := m.find.Search(ctx, index.Query{
		Tenant: ann.Tenant, Scopes: []store.Scope{ann.Scope()}, Terms: []index.Term{{Text: "port", Weight: 1}}, Now: time.Now(),
	})
	for _, h := range res.Hits {
		texts = append(texts, h.Memory.Text)
	}
	slices.Sort(texts)
	return texts, res.Degraded, err
}

func (m *member) texts() (out []string) {
	m.t.Helper()
	ms, _, err := m.st.ScopeMemories(m.t.Context(), ann.Tenant, ann.Scope())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, x := range ms {
		if x.State == store.Active {
			out = append(out, x.Text)
		}
	}
	slices.Sort(out)
	return out
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("not after 20 s: %s", what)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the test has ended")
		}
	}
}

func (m *member) delivered() bool { rows, _ := m.st.OutboxDepth(); return rows == 0 }

// fresh says whether scopes are held and as the shared store has them.
func (f *Fleet) fresh(tenant string, scopes []store.Scope) bool {
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants[tenant]
	if t == nil || f.cfg.Now().Sub(t.good) >= f.cfg.Fresh {
		return false
	}
	for _, sc := range scopes {
		if s := c.scopes[scopeKey{tenant, sc}]; s == nil || !s.whole {
			return false
		}
	}
	return true
}
