package weaviatedb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"hindsight/store"
)

// Mend makes sure that memories which were written are found, and says how many
// weren't. After a crash of the server the last batch that it acknowledged may be
// stored and yet invisible to a search, and writing it again does nothing, because
// Weaviate passes over what it has: only deleting and inserting helps. So whoever
// has written in the minutes before the server went away calls this when it is
// back, with what was written, vectors included.
func (d *DB) Mend(ctx context.Context, tenant string, ms []store.SharedMemory) (mended int, err error) {
	ctx, done, err := d.begin(ctx, "mend", 10*d.cfg.Timeout)
	if err != nil {
		return 0, err
	}
	defer func() { done(&err) }()
	hidden := make([]bool, len(ms))
	errs := make([]error, len(ms))
	room := make(chan struct{}, asksAtOnce)
	var wg sync.WaitGroup
	for i := range ms {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			hidden[i], errs[i] = d.hidden(ctx, tenant, &ms[i])
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("look for memories: %w", err)
	}
	for i := range ms {
		if !hidden[i] {
			continue
		}
		if err := d.again(ctx, tenant, &ms[i]); err != nil {
			return mended, fmt.Errorf("mend memories: %w", err)
		}
		mended++
	}
	return mended, nil
}

// hidden says whether a memory isn't found where it should be: by its vector, or
// where it has none, by its scope and id.
func (d *DB) hidden(ctx context.Context, tenant string, sm *store.SharedMemory) (bool, error) {
	m := &sm.Memory
	w := d.memoriesOf(tenant, m.Scope).and(anyOf("_id", []string{d.memoryID(tenant, m.ID)}))
	asked := want{props: []string{propMemory}, limit: 1}
	var got []found
	var err error
	if len(sm.Vector) > 0 {
		got, err = d.near(ctx, w, asked, sm.Vector)
	} else {
		got, err = d.list(ctx, w, asked)
	}
	return len(got) == 0, err
}

// again deletes an object by its own id, which needs no index, and inserts it.
func (d *DB) again(ctx context.Context, tenant string, sm *store.SharedMemory) error {
	client, err := d.ready()
	if err != nil {
		return err
	}
	o, err := d.memoryObject(tenant, sm)
	if err != nil {
		return err
	}
	err = client.Data().Deleter().WithClassName(o.Collection).WithID(o.Uuid).WithTenant(o.Tenant).Do(ctx)
	if err != nil && refused(err) != http.StatusNotFound && !unknownTenant(plain(err)) {
		return plain(err)
	}
	failed, err := d.put(ctx, []*pb.BatchObject{o})
	if err == nil {
		err = failed[0]
	}
	return err
}
