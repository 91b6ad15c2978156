package weaviatedb

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"hindsight/store"
)

// PutRecords writes records of one tenant, each over what was there. failed has
// what Weaviate refused, by the record's id; err says that nothing more was tried.
func (d *DB) PutRecords(ctx context.Context, tenant string, rs []store.SharedRecord) (failed map[string]error, err error) {
	ctx, done, err := d.begin(ctx, "put_records", 10*d.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer func() { done(&err) }()
	failed = map[string]error{}
	for len(rs) > 0 {
		part := rs[:min(batch, len(rs))]
		rs = rs[len(part):]
		objects := make([]*pb.BatchObject, len(part))
		for i := range part {
			if objects[i], err = d.recordObject(tenant, d.tenantName(tenant), &part[i]); err != nil {
				return failed, err
			}
		}
		refused, err := d.put(ctx, objects)
		if err != nil {
			return failed, fmt.Errorf("write shared records: %w", err)
		}
		for i, err := range refused {
			failed[part[i].ID] = err
		}
	}
	return failed, nil
}

func (d *DB) recordObject(tenant, in string, r *store.SharedRecord) (*pb.BatchObject, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write shared record %s: %w", r.ID, err)
	}
	keys := make([]string, len(r.Keys))
	for i, k := range r.Keys {
		keys[i] = readable(k)
	}
	p := &pb.BatchObject_Properties{NonRefProperties: &structpb.Struct{Fields: map[string]*structpb.Value{
		propPlace: str(d.place(tenant, r.Scope)), propKind: str(string(r.Kind)), propRecord: str(r.ID), propSession: str(r.Session),
		"scope": str(string(r.Scope)), propTime: date(r.Time), propReflected: structpb.NewBoolValue(r.Reflected), propData: str(seal(data)),
	}}}
	if len(keys) > 0 {
		p.TextArrayProperties = []*pb.TextArrayProperties{{PropName: propKeys, Values: keys}}
	}
	return &pb.BatchObject{Uuid: d.recordID(tenant, r.Kind, r.ID), Collection: d.state(), Tenant: in, Properties: p}, nil
}

// Records returns what a query selects, what Weaviate took in first before what
// it took in later.
func (d *DB) Records(ctx context.Context, tenant string, q store.RecordQuery) (out []store.SharedRecord, err error) {
	w, err := d.recordsOf(tenant, q)
	if err != nil {
		return nil, err
	}
	ctx, done, err := d.begin(ctx, "records", d.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer func() { done(&err) }()
	if out, err = d.records(ctx, w); err != nil {
		return nil, fmt.Errorf("read shared records: %w", err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 1000
	}
	return out[:min(limit, len(out))], nil
}

func (d *DB) records(ctx context.Context, w where) (out []store.SharedRecord, err error) {
	err = d.scan(ctx, w, want{props: []string{propData}, limit: most}, 0, idEnd, func(got []found) error {
		for i := range got {
			plain, err := open(got[i].text(propData))
			if err != nil {
				return err
			}
			var r store.SharedRecord
			if err := json.Unmarshal(plain, &r); err != nil {
				return fmt.Errorf("read a shared record: %w", err)
			}
			r.Changed = got[i].changed
			out = append(out, r)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b store.SharedRecord) int {
		return cmp.Or(a.Changed.Compare(b.Changed), a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return out, err
}

// DeleteRecords takes records of a tenant away, of whichever kind has such an id;
// those that aren't there are no error.
func (d *DB) DeleteRecords(ctx context.Context, tenant string, ids []string) (err error) {
	ctx, done, err := d.begin(ctx, "delete_records", 10*d.cfg.Timeout)
	if err != nil {
		return err
	}
	defer func() { done(&err) }()
	for len(ids) > 0 {
		part := ids[:min(batch, len(ids))]
		ids = ids[len(part):]
		w, err := d.recordsOf(tenant, store.RecordQuery{AllScopes: true, IDs: part})
		if err != nil {
			return err
		}
		if _, err := d.remove(ctx, w); err != nil {
			return fmt.Errorf("delete shared records: %w", err)
		}
	}
	return nil
}
