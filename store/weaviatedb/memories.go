package weaviatedb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"hindsight/store"
	"hindsight/store/index"
)

// batch is how many objects are written in one call.
const batch = 200

// PutMemories writes memories of one tenant, each whole, over what was there. One
// without a vector keeps the vector that is there, as long as it is that of the
// same text: Weaviate would drop it. failed has what Weaviate refused, by id; err
// says that nothing more was tried.
func (d *DB) PutMemories(ctx context.Context, tenant string, ms []store.SharedMemory) (failed map[string]error, err error) {
	ctx, done, err := d.begin(ctx, "put_memories", 10*d.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer func() { done(&err) }()
	if ms, err = d.keepVectors(ctx, tenant, ms); err != nil {
		return nil, fmt.Errorf("write memories: %w", err)
	}
	failed = map[string]error{}
	for len(ms) > 0 {
		part := ms[:min(batch, len(ms))]
		ms = ms[len(part):]
		objects, ids := make([]*pb.BatchObject, 0, len(part)), make([]string, 0, len(part))
		for i := range part {
			o, err := d.memoryObject(tenant, &part[i])
			if err != nil {
				failed[part[i].Memory.ID] = err
				continue
			}
			objects, ids = append(objects, o), append(ids, part[i].Memory.ID)
			d.used.touch(o.Tenant)
		}
		refused, err := d.put(ctx, objects)
		if err != nil {
			return failed, fmt.Errorf("write memories: %w", err)
		}
		for i, err := range refused {
			failed[ids[i]] = err
		}
		if d.cfg.Layout == LayoutIsolated && d.used.count() > d.cfg.Open {
			d.cool(ctx) // before the next look: filling is faster
		}
	}
	return failed, nil
}

// keepVectors gives memories without a vector the one that is in Weaviate.
func (d *DB) keepVectors(ctx context.Context, tenant string, ms []store.SharedMemory) ([]store.SharedMemory, error) {
	bare := map[store.Scope][]string{}
	for i := range ms {
		if m := &ms[i].Memory; len(ms[i].Vector) == 0 {
			bare[m.Scope] = append(bare[m.Scope], m.ID)
		}
	}
	if len(bare) == 0 {
		return ms, nil
	}
	known := map[string]store.SharedMemory{}
	for sc, ids := range bare {
		have, err := d.byID(ctx, tenant, sc, ids)
		if err != nil {
			return nil, err
		}
		for _, m := range have {
			known[m.Memory.ID] = m
		}
	}
	out := append([]store.SharedMemory(nil), ms...)
	for i := range out {
		m := &out[i].Memory
		if was, ok := known[m.ID]; ok && len(out[i].Vector) == 0 && was.Memory.Text == m.Text && was.Memory.Subject == m.Subject {
			out[i].Vector = was.Vector
		}
	}
	return out, nil
}

func (d *DB) memoryObject(tenant string, sm *store.SharedMemory) (*pb.BatchObject, error) {
	m := &sm.Memory
	data, err := sealMemory(m)
	if err != nil {
		return nil, err
	}
	fields := map[string]*structpb.Value{
		propPlace: str(d.place(tenant, m.Scope)), propState: str(string(m.State)),
		propStanding: structpb.NewBoolValue(m.Standing), propWords: str(strings.Join(index.MemoryTerms(m), " ")),
		propMemory: str(m.ID), propRevision: structpb.NewNumberValue(float64(m.Revision)), propDigest: str(m.Digest()),
		"scope": str(string(m.Scope)), "layer": str(string(m.Layer)), "type": str(string(m.Type)),
		"text": str(m.Text), "subject": str(m.Subject), "scenario": str(m.Scenario),
		"importance": structpb.NewNumberValue(m.Importance), "confidence": structpb.NewNumberValue(m.Confidence),
		"created": date(m.CreatedAt), "updated": date(m.UpdatedAt),
		propData: str(data),
	}
	// What is empty is left out: it would be a value of its own.
	if len(m.Evidence) > 0 && m.Evidence[0].Session != "" {
		fields[propSession] = str(m.Evidence[0].Session)
	}
	if m.About != "" {
		fields[propAbout] = str(m.About)
	}
	for i, n := range index.LengthsOf(m) {
		if n > 0 {
			fields[lengthProps[i]] = structpb.NewNumberValue(n)
		}
	}
	return &pb.BatchObject{
		Uuid: d.memoryID(tenant, m.ID), Collection: d.memories(), Tenant: d.memoryTenant(tenant, m.Scope), VectorBytes: bytesOf(sm.Vector),
		Properties: &pb.BatchObject_Properties{NonRefProperties: &structpb.Struct{Fields: fields}},
	}, nil
}

func str(s string) *structpb.Value { return structpb.NewStringValue(readable(s)) }

func date(t time.Time) *structpb.Value {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return structpb.NewStringValue(t.UTC().Format(time.RFC3339Nano))
}

// Memories returns those of the ids that are there, with their vectors.
func (d *DB) Memories(ctx context.Context, tenant string, sc store.Scope, ids []string) (ms []store.SharedMemory, err error) {
	ctx, done, err := d.begin(ctx, "memories", d.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer func() { done(&err) }()
	if ms, err = d.byID(ctx, tenant, sc, ids); err != nil {
		return nil, fmt.Errorf("read memories: %w", err)
	}
	return ms, nil
}

func (d *DB) byID(ctx context.Context, tenant string, sc store.Scope, ids []string) ([]store.SharedMemory, error) {
	var out []store.SharedMemory
	for len(ids) > 0 {
		part := ids[:min(batch, len(ids))]
		ids = ids[len(part):]
		got, err := d.list(ctx, d.memoriesOf(tenant, sc).and(anyOf("_id", d.memoryIDs(tenant, part))), whole(len(part)))
		if err != nil {
			return nil, err
		}
		if out, err = appendMemories(out, got); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *DB) memoryIDs(tenant string, ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = d.memoryID(tenant, id)
	}
	return out
}

// whole asks for memories as they are read back.
func whole(limit int) want {
	return want{props: []string{propData}, vector: true, limit: limit}
}

func appendMemories(out []store.SharedMemory, got []found) ([]store.SharedMemory, error) {
	for i := range got {
		m, err := openMemory(got[i].text(propData))
		if err != nil {
			return nil, err
		}
		out = append(out, store.SharedMemory{Memory: m, Vector: got[i].vector})
	}
	return out, nil
}

// DeleteMemories takes memories away for good; those that aren't there are no
// error.
func (d *DB) DeleteMemories(ctx context.Context, tenant string, sc store.Scope, ids []string) (err error) {
	ctx, done, err := d.begin(ctx, "delete_memories", 10*d.cfg.Timeout)
	if err != nil {
		return err
	}
	defer func() { done(&err) }()
	for len(ids) > 0 {
		part := ids[:min(batch, len(ids))]
		ids = ids[len(part):]
		if _, err := d.remove(ctx, d.memoriesOf(tenant, sc).and(anyOf("_id", d.memoryIDs(tenant, part)))); err != nil {
			return fmt.Errorf("delete memories: %w", err)
		}
	}
	return nil
}

// EraseScope deletes all of a scope, its memories and its records, and says how
// many memories there were.
func (d *DB) EraseScope(ctx context.Context, tenant string, sc store.Scope) (n int, err error) {
	ctx, done, err := d.begin(ctx, "erase_scope", 30*d.cfg.Timeout)
	if err != nil {
		return 0, err
	}
	defer func() { done(&err) }()
	if n, err = d.remove(ctx, d.memoriesOf(tenant, sc)); err != nil {
		return n, fmt.Errorf("erase a scope's memories: %w", err)
	}
	w, err := d.recordsOf(tenant, store.RecordQuery{Scopes: []store.Scope{sc}})
	if err != nil {
		return n, err
	}
	if _, err := d.remove(ctx, w); err != nil {
		return n, fmt.Errorf("erase a scope's records: %w", err)
	}
	if d.cfg.Layout == LayoutIsolated {
		client, err := d.ready()
		if err != nil {
			return n, err
		}
		if err := client.Schema().TenantsDeleter().WithClassName(d.memories()).WithTenants(d.memoryTenant(tenant, sc)).Do(ctx); err != nil {
			return n, fmt.Errorf("delete a scope's tenant: %w", plain(err))
		}
		d.used.forget(d.memoryTenant(tenant, sc))
	}
	return n, nil
}

// Changed tells of the memories that Weaviate took in at or after since, by its
// own clock.
func (d *DB) Changed(ctx context.Context, tenant string, scopes []store.Scope, from time.Time) (out []store.Stamp, err error) {
	ctx, done, err := d.begin(ctx, "changed", 5*d.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer func() { done(&err) }()
	var mu sync.Mutex
	err = d.each(tenant, scopes, func(w where, names map[string]store.Scope) error {
		if !from.IsZero() {
			w = w.and(since(from))
		}
		asked := want{props: []string{propMemory, propPlace, propRevision, propDigest}, limit: most}
		return d.scan(ctx, w, asked, 0, idEnd, func(got []found) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range got {
				f := &got[i]
				out = append(out, store.Stamp{
					ID: f.text(propMemory), Scope: names[f.text(propPlace)], Revision: int(f.props[propRevision].GetIntValue()),
					Digest: f.text(propDigest), Changed: f.changed,
				})
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	return out, nil
}

// atOnce is how many scopes one question names, and how many questions go side by
// side.
const (
	scopesAtOnce = 500
	asksAtOnce   = 8
)

// each calls f for wheres that together are all of the scopes, some at a time.
func (d *DB) each(tenant string, scopes []store.Scope, f func(w where, names map[string]store.Scope) error) error {
	size := scopesAtOnce
	if d.cfg.Layout == LayoutIsolated {
		size = 1
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, asksAtOnce)
	errs := make([]error, (len(scopes)+size-1)/size)
	for i := range errs {
		part := scopes[i*size : min(len(scopes), (i+1)*size)]
		names := make(map[string]store.Scope, len(part))
		for _, sc := range part {
			names[d.place(tenant, sc)] = sc
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			w := d.memoriesOf(tenant, part...)
			d.used.touch(w.tenant)
			errs[i] = f(w, names)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Count counts the memories of a scope, in any state.
func (d *DB) Count(ctx context.Context, tenant string, sc store.Scope) (n int, err error) {
	ctx, done, err := d.begin(ctx, "count", d.cfg.Timeout)
	if err != nil {
		return 0, err
	}
	defer func() { done(&err) }()
	list, err := d.counts(ctx, d.memoriesOf(tenant, sc))
	if err != nil {
		return 0, err
	}
	return list[0], nil
}

// Load reads a scope page by page: each has about limit memories, in no order, and
// the cursor of the next, which is empty at the end. What changes meanwhile may
// be in the old form or in the new, but nothing that stays is left out.
func (d *DB) Load(ctx context.Context, tenant string, sc store.Scope, after string, limit int) (page []store.SharedMemory, next string, err error) {
	ctx, done, err := d.begin(ctx, "load", 5*d.cfg.Timeout)
	if err != nil {
		return nil, "", err
	}
	defer func() { done(&err) }()
	w := d.memoriesOf(tenant, sc)
	d.used.touch(w.tenant)
	lo, step, err := d.span(ctx, w, after, max(limit, 1))
	if err != nil {
		return nil, "", fmt.Errorf("load memories: %w", err)
	}
	hi := min(lo+step, idEnd)
	err = d.scan(ctx, w, whole(most), lo, hi, func(got []found) error {
		page, err = appendMemories(page, got)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("load memories: %w", err)
	}
	if hi < idEnd {
		next = strconv.FormatUint(hi, 16) + "+" + strconv.FormatUint(step, 16)
	}
	return page, next, nil
}

// span is the range of ids of a page: the one that the cursor names, or the
// first of so many that each has about limit memories.
func (d *DB) span(ctx context.Context, w where, after string, limit int) (lo, step uint64, err error) {
	if after == "" {
		n, err := d.counts(ctx, w)
		if err != nil {
			return 0, 0, err
		}
		return 0, idEnd / uint64(n[0]/limit+1), nil
	}
	a, b, _ := strings.Cut(after, "+")
	lo, err1 := strconv.ParseUint(a, 16, 64)
	step, err2 := strconv.ParseUint(b, 16, 64)
	if err1 != nil || err2 != nil || step == 0 || lo >= idEnd {
		return 0, 0, store.ErrCursor
	}
	return lo, step, nil
}
