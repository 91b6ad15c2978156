package weaviatedb

import (
	"fmt"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"hindsight/store"
)

// where is what a question to Weaviate is about: a collection, a tenant of it and
// a filter. Nothing can be searched, counted or deleted without one, and the only
// makers of one are memoriesOf, recordsOf, meta and wholeTenant below. The first two
// put the scopes into the filter, the last serves the move of everything alone. So no
// question of one scope sees another's.
type where struct {
	collection string
	tenant     string
	all        []*pb.Filters // all must hold
}

// memoriesOf is all memories of some scopes, which lie in one tenant of Weaviate.
func (d *DB) memoriesOf(tenant string, scopes ...store.Scope) where {
	if len(scopes) == 0 {
		panic("weaviatedb: a question about memories of no scope")
	}
	return where{
		collection: d.memories(), tenant: d.memoryTenant(tenant, scopes[0]),
		all: []*pb.Filters{anyOf(propPlace, d.places(tenant, scopes))},
	}
}

// recordsOf is what a query selects of the records, or the error of one that
// forgot to say whose.
func (d *DB) recordsOf(tenant string, q store.RecordQuery) (where, error) {
	w := where{collection: d.state(), tenant: d.tenantName(tenant)}
	switch {
	case len(q.Scopes) > 0:
		w = w.and(anyOf(propPlace, d.places(tenant, q.Scopes)))
	case !q.AllScopes:
		return where{}, fmt.Errorf("query shared records: no scope is named")
	}
	if len(q.Kinds) > 0 {
		w = w.and(anyOf(propKind, texts(q.Kinds)))
	}
	if len(q.IDs) > 0 {
		w = w.and(anyOf(propRecord, q.IDs))
	}
	if len(q.Keys) > 0 {
		w = w.and(anyOf(propKeys, q.Keys))
	}
	if len(q.Sessions) > 0 {
		w = w.and(anyOf(propSession, q.Sessions))
	}
	if !q.Since.IsZero() {
		w = w.and(since(q.Since))
	}
	if q.Pending {
		w = w.and(&pb.Filters{Operator: pb.Filters_OPERATOR_EQUAL, Target: on(propReflected), TestValue: &pb.Filters_ValueBoolean{}})
	}
	return w, nil
}

// wholeTenant is all of a tenant of Weaviate, whoever's: for Everything alone.
func (d *DB) wholeTenant(collection, name string) where {
	return where{collection: collection, tenant: name}
}

// meta is what the collection says of itself.
func (d *DB) meta() where { return where{collection: d.state(), tenant: metaTenant} }

func (d *DB) places(tenant string, scopes []store.Scope) []string {
	out := make([]string, len(scopes))
	for i, sc := range scopes {
		out[i] = d.place(tenant, sc)
	}
	return out
}

// and narrows a question.
func (w where) and(f *pb.Filters) where {
	w.all = append(w.all[:len(w.all):len(w.all)], f)
	return w
}

func (w where) filter() *pb.Filters {
	switch len(w.all) {
	case 0:
		return nil
	case 1:
		return w.all[0]
	}
	return &pb.Filters{Operator: pb.Filters_OPERATOR_AND, Filters: w.all}
}

func on(property string) *pb.FilterTarget {
	return &pb.FilterTarget{Target: &pb.FilterTarget_Property{Property: property}}
}

func anyOf(property string, values []string) *pb.Filters {
	if len(values) == 1 {
		return is(property, pb.Filters_OPERATOR_EQUAL, values[0])
	}
	return &pb.Filters{
		Operator: pb.Filters_OPERATOR_CONTAINS_ANY, Target: on(property),
		TestValue: &pb.Filters_ValueTextArray{ValueTextArray: &pb.TextArray{Values: values}},
	}
}

func is(property string, op pb.Filters_Operator, value string) *pb.Filters {
	return &pb.Filters{Operator: op, Target: on(property), TestValue: &pb.Filters_ValueText{ValueText: value}}
}

func either(a, b *pb.Filters) *pb.Filters {
	return &pb.Filters{Operator: pb.Filters_OPERATOR_OR, Filters: []*pb.Filters{a, b}}
}

// since selects what Weaviate took in at or after a moment of its own clock.
func since(t time.Time) *pb.Filters {
	return is("_lastUpdateTimeUnix", pb.Filters_OPERATOR_GREATER_THAN_EQUAL, t.UTC().Format(time.RFC3339Nano))
}

// between selects what has an id from one UUID up to another, the latter left out.
func between(lo, hi string) *pb.Filters {
	f := is("_id", pb.Filters_OPERATOR_GREATER_THAN_EQUAL, lo)
	if hi == "" {
		return f
	}
	return &pb.Filters{Operator: pb.Filters_OPERATOR_AND, Filters: []*pb.Filters{f, is("_id", pb.Filters_OPERATOR_LESS_THAN, hi)}}
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
