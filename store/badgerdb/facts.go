package badgerdb

import (
	"context"
	"errors"

	"hindsight/store"
)

// Fact reads a small durable fact about the installation; false where it was
// never set.
func (s *Store) Fact(ctx context.Context, name string) (string, bool, error) {
	b, err := within(ctx, s, func(v view) ([]byte, error) { return v.raw(factKey(v.h, name)) })
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	return string(b), err == nil, wrap("read fact", err)
}

// SetFact writes one. Name and value must tell nothing about anybody.
func (s *Store) SetFact(_ context.Context, name, value string) error {
	return wrap("write fact", s.change(func(t *tx) error {
		return t.set(factKey(t.h, name), []byte(value), 0, 0)
	}))
}

func factKey(h *handle, name string) []byte {
	n := h.id.Hash("fact", name)
	return join(famFact, n[:])
}
