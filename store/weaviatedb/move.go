package weaviatedb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
)

// moving is how long one call of a move may take.
const moving = time.Minute

// Everything gives all memories of all tenants, page by page, and then all records,
// for the operator who moves them elsewhere. It is the one reader that isn't bound
// to a scope, and nothing but `hindsight migrate` calls it. total is asked first
// and told once; take's errors end it.
func (d *DB) Everything(ctx context.Context, total func(memories int), memories func([]store.SharedMemory) error, records func([]store.SharedRecord) error) error {
	if _, err := d.ready(); err != nil {
		return err
	}
	names, err := d.tenants(ctx, d.memories())
	if err != nil {
		return err
	}
	sum := 0
	for part := range slices.Chunk(names, 100) {
		wheres := make([]where, len(part))
		for i, name := range part {
			wheres[i] = d.wholeTenant(d.memories(), name)
		}
		counted, err := d.counts(ctx, wheres...)
		if err != nil {
			return fmt.Errorf("count the shared memories: %w", err)
		}
		for _, n := range counted {
			sum += n
		}
	}
	total(sum)
	for _, name := range names {
		if err := d.allMemories(ctx, name, memories); err != nil {
			return fmt.Errorf("read the shared memories: %w", err)
		}
	}
	if names, err = d.tenants(ctx, d.state()); err != nil {
		return err
	}
	for _, name := range names {
		if name == metaTenant {
			continue
		}
		call, cancel := context.WithTimeout(ctx, moving)
		list, err := d.records(call, d.wholeTenant(d.state(), name))
		cancel()
		if err != nil {
			return fmt.Errorf("read the shared records: %w", err)
		}
		if err := records(list); err != nil {
			return err
		}
	}
	return nil
}

// pageOf is about how many memories a page of Everything has.
const pageOf = 500

func (d *DB) allMemories(ctx context.Context, name string, take func([]store.SharedMemory) error) error {
	w := d.wholeTenant(d.memories(), name)
	n, err := d.counts(ctx, w)
	if err != nil {
		return err
	}
	step := uint64(idEnd) / uint64(n[0]/pageOf+1)
	for lo := uint64(0); lo < idEnd; lo += step {
		var page []store.SharedMemory
		call, cancel := context.WithTimeout(ctx, moving)
		err := d.scan(call, w, whole(most), lo, min(lo+step, idEnd), func(got []found) (err error) {
			page, err = appendMemories(page, got)
			return err
		})
		cancel()
		if err != nil {
			return err
		}
		if err := take(page); err != nil {
			return err
		}
	}
	return nil
}

// tenants lists those of a collection.
func (d *DB) tenants(ctx context.Context, collection string) ([]string, error) {
	client, err := d.ready()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, moving)
	defer cancel()
	list, err := client.Schema().TenantsGetter().WithClassName(collection).Do(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tenants of %s: %w", collection, plain(err))
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	slices.Sort(names)
	return names, nil
}
