package main

import (
	"context"
	"fmt"

	"hindsight/proxy/admin"
	"hindsight/proxy/session"
	hreflect "hindsight/reflect"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// life is what the management API can ask of memories' lives.
type life struct {
	*hreflect.Runner
	*hreflect.Sweeper
}

var _ admin.Life = life{}

// closer ends sessions for the management API.
type closer struct{ s *stack }

var _ admin.Closer = closer{}

// Settle waits until every answer that a client has read is on disk.
func (c closer) Settle(ctx context.Context) error {
	if err := c.s.tracker.Settle(ctx, ""); err != nil {
		return fmt.Errorf("wait for the last answers: %w", err)
	}
	return c.s.store.Flush(ctx)
}

// Close ends a session and has it reflected.
func (c closer) Close(ctx context.Context, id string) (store.Job, error) {
	c.s.shared.join(ctx, c.s.store, id)
	job, err := enqueuer{c.s.store}.Close(ctx, id)
	if err == nil {
		c.s.runner.Wake()
	}
	return job, err
}

// lent gives reflection the credential with which a session was recorded, as
// long as the tracker holds it.
type lent struct {
	tracker *session.Tracker
	store   *badgerdb.Store
}

var _ hreflect.Credentials = lent{}

func (l lent) Credential(id string) (header, value string, ok bool) {
	c, ok := l.tracker.Credential(id)
	if !ok {
		// A session from before our start: its record knows the credential's hash.
		found, err := l.store.FindSession(context.Background(), id)
		if err != nil || found.Cred.IsZero() {
			return "", "", false
		}
		if c, ok = l.tracker.CredentialOf(found.Cred); !ok {
			return "", "", false
		}
	}
	return c.Header, c.Value, true
}
