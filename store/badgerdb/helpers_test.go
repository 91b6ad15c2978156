package badgerdb

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// clock is a wall clock that tests move by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// running is a store whose Run goroutine the test ends.
type running struct {
	*Store
	stop func()
}

// start runs a store and doesn't wait for it to open.
func start(t testing.TB, cfg Config) running {
	t.Helper()
	if cfg.Linger == 0 {
		cfg.Linger = 5 * time.Millisecond
	}
	s, err := New(asTested(t.Name(), cfg))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return running{s, stop}
}

// asTested encrypts a test's store where the environment asks for it: CI runs
// all of them once like this. Those of encryption bring keys of their own.
func asTested(test string, cfg Config) Config {
	if cfg.EncryptionKeyFile == "" && !strings.Contains(test, "Encrypt") {
		cfg.EncryptionKeyFile = os.Getenv("HINDSIGHT_TEST_ENCRYPTED")
	}
	return cfg
}

// open runs a store that must open.
func open(t testing.TB, cfg Config) running {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	r := start(t, cfg)
	if r.Ready(t.Context()) == nil {
		return r
	}
	// A process that another test is just starting holds our descriptors between
	// its fork and its exec, the last store's lock among them. Run tries again.
	until(t, "the store to open", func() bool { on, _ := r.State(); return on })
	return r
}

// until polls for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

var (
	ann = store.Owner{Tenant: "acme", User: "ann"}
	bob = store.Owner{Tenant: "acme", User: "bob"}
)

// said makes an ended exchange of one user input.
func said(o store.Owner, session, id, text string, at time.Time) *store.Exchange {
	return &store.Exchange{
		ID: id, Session: session, Owner: o, Status: store.Complete, HTTP: 200,
		Started: at, Finished: at.Add(time.Second), Dialect: "chat", Model: "m", Turn: 1,
		Events: []store.Event{{Kind: store.UserInput, Time: at, Turn: 1, Text: text}},
		Tokens: store.Tokens(text),
	}
}

// tell hands an ended exchange over and waits until it is on disk.
func tell(t testing.TB, s *Store, x *store.Exchange) {
	t.Helper()
	s.Finish(x)
	flush(t, s)
}

func flush(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// must returns v or ends the test.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// written makes a memory as a person writes it.
func written(text string) store.Memory {
	return store.Memory{Tenant: "acme", Scope: store.UserScope("ann"), Type: store.UserFact, Text: text, Importance: 0.7, Confidence: 1}
}

func put(t testing.TB, s *Store, m store.Memory) store.Memory {
	t.Helper()
	m, created, err := s.PutMemory(t.Context(), m)
	if err != nil || !created {
		t.Fatalf("PutMemory(%q) = created %v, %v", m.Text, created, err)
	}
	return m
}

func ids(list []store.Exchange) string {
	out := ""
	for _, x := range list {
		out += fmt.Sprintf("%d:%s ", x.Seq, x.ID)
	}
	return out
}

// metric reads one counter or gauge by name and label values.
func metric(t testing.TB, reg *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	fams, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fams {
		if f.GetName() != name {
			continue
		}
	next:
		for _, m := range f.GetMetric() {
			for i, l := range m.GetLabel() {
				if i < len(labels) && l.GetValue() != labels[i] {
					continue next
				}
			}
			if c := m.GetCounter(); c != nil {
				return c.GetValue()
			}
			return m.GetGauge().GetValue()
		}
	}
	return 0
}
