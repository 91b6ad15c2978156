package badgerdb

import (
	"context"
	"errors"
	"testing"
	"time"

	"hindsight/store"
)

// A read that a request waits for ends with the request's patience, whatever the
// disk does, and those that hang stay within their bound.
func TestReadsOfRequestsEndInTime(t *testing.T) {
	s := open(t, Config{}).Store
	free := make(chan struct{})
	defer close(free)
	hanging := func(view) (string, error) { <-free; return "late", nil }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range readsAtOnce {
		if got, err := within(ctx, s, hanging); got != "" || !errors.Is(err, context.Canceled) {
			t.Fatalf("a read that hangs: %q, %v", got, err)
		}
	}
	// A read picks a free place or the end of its context by chance: fill up.
	for len(s.reads) < readsAtOnce {
		within(ctx, s, hanging)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for name, read := range map[string]func() error{
		"fact":    func() error { _, _, err := s.Fact(short, "f"); return err },
		"session": func() error { _, err := s.Session(short, store.Owner{Tenant: "t", User: "u"}, "s"); return err },
		"places":  func() error { _, err := s.Places(short, store.Owner{Tenant: "t", User: "u"}, "s"); return err },
		"anchors": func() error {
			_, err := s.Anchors(short, store.Owner{Tenant: "t", User: "u"}, make([]store.Hash, 1))
			return err
		},
		"ledger": func() error { _, err := s.LoadLedger(short, store.Owner{Tenant: "t", User: "u"}, "s"); return err },
	} {
		if err := read(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s with every place taken: %v", name, err)
		}
	}
	// What memory answers needs no place.
	if _, err := s.Key(); err != nil {
		t.Errorf("key: %v", err)
	}
	if to, err := s.TenantAlias(short, "t"); to != "t" || err != nil {
		t.Errorf("tenant: %q, %v", to, err)
	}
}

// A read that panics panics where it is waited for, which is where panics of
// memory are caught.
func TestAPanicOfAReadIsItsCallers(t *testing.T) {
	s := open(t, Config{}).Store
	defer func() {
		if recover() == nil {
			t.Error("no panic came")
		}
	}()
	within(t.Context(), s, func(view) (int, error) { panic("boom") })
}

// Nobody waits for a store that is being closed: it is off.
func TestAClosingStoreIsOff(t *testing.T) {
	s := open(t, Config{}).Store
	s.life.RLock() // a read that hangs
	closing := make(chan struct{})
	go func() {
		defer close(closing)
		s.life.Lock()
		defer s.life.Unlock()
	}()
	var off *store.Off
	until(t, "the close waits", func() bool { _, err := s.Key(); return errors.As(err, &off) })
	s.life.RUnlock()
	<-closing
	if _, err := s.Key(); err != nil {
		t.Errorf("open again: %v", err)
	}
}
