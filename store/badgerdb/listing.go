package badgerdb

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sort"
	"time"

	"hindsight/store"
)

// listing walks one of the indices in order of time, newest first. A page's
// cursor is the place of its last row, so that what is written meanwhile moves
// nothing.
type listing[T any] struct {
	family byte
	limit  int
	cursor string
	only   store.Scope // the one scope to look at, if not empty
	mark   byte        // the one mark to look at, if not 0
	// read fetches a row and says whether it is wanted.
	read func(v view, p place, id store.Hash) (T, bool, error)
	made func(*T) (time.Time, string)
	hash func(h *handle, id string) store.Hash
}

// run gives one page of a tenant, or of all tenants together where it is "".
func run[T any](ctx context.Context, s *Store, tenant string, l listing[T]) ([]T, string, error) {
	if l.limit <= 0 {
		l.limit = 100
	}
	var after []byte
	if l.cursor != "" {
		b, err := base64.RawURLEncoding.DecodeString(l.cursor)
		if err != nil || len(b) != 8+hashLen {
			return nil, "", fmt.Errorf("%w %q", store.ErrCursor, l.cursor)
		}
		after = b
	}
	out := []T{}
	next := ""
	err := s.view(func(v view) error {
		tenants := []string{tenant}
		if tenant == "" {
			var err error
			if tenants, err = v.tenants(); err != nil {
				return err
			}
		}
		for _, t := range tenants {
			page, err := l.page(ctx, v, t, after)
			if err != nil {
				return err
			}
			out = append(out, page...)
		}
		key := func(x *T) []byte {
			at, id := l.made(x)
			h := l.hash(v.h, id)
			return append(descending(at), h[:]...)
		}
		if len(tenants) > 1 {
			sort.Slice(out, func(i, j int) bool { return bytes.Compare(key(&out[i]), key(&out[j])) < 0 })
		}
		if len(out) > l.limit {
			out = out[:l.limit]
			next = base64.RawURLEncoding.EncodeToString(key(&out[l.limit-1]))
		}
		return nil
	})
	return out, next, err
}

// page reads one row more than the limit, which tells whether there is a next
// page.
func (l listing[T]) page(ctx context.Context, v view, tenant string, after []byte) ([]T, error) {
	only := v.h.at(tenant, l.only)
	prefix := join(l.family, only.tenant())
	seek := prefix
	if after != nil {
		seek = join(l.family, only.tenant(), after, []byte{0})
	}
	var out []T
	for r := range v.rows(prefix, seek) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if l.mark != 0 && r.meta() != l.mark {
			continue
		}
		sc, err := r.raw()
		if err != nil {
			return nil, err
		}
		if l.only != "" && !bytes.Equal(sc, only.scope()) {
			continue
		}
		k := r.key()
		x, ok, err := l.read(v, place(join(0, only.tenant(), sc)[1:]), store.Hash(k[len(k)-hashLen:]))
		if errors.Is(err, store.ErrNotFound) {
			continue // past its retention
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if out = append(out, x); len(out) > l.limit {
			break
		}
	}
	return out, nil
}
