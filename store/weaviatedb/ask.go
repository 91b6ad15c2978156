package weaviatedb

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc/status"
)

// What goes to Weaviate about objects goes through this file, and each function
// that reads, counts or deletes takes a where.

// most is how many objects a search or a deletion takes at most in one call
// (Weaviate's QUERY_MAXIMUM_RESULTS, by default).
const most = 10000

// found is one object of an answer.
type found struct {
	id      string
	props   map[string]*pb.Value
	vector  []float32
	changed time.Time
}

func (f *found) text(name string) string { return f.props[name].GetTextValue() }

// want says what of the found objects is wanted.
type want struct {
	props  []string
	vector bool
	limit  int
}

func (w want) request(about where) *pb.SearchRequest {
	return &pb.SearchRequest{
		Collection: about.collection, Tenant: about.tenant, Filters: about.filter(),
		Limit: uint32(min(w.limit, most)), Uses_127Api: true,
		Properties: &pb.PropertiesRequest{NonRefProperties: w.props},
		Metadata:   &pb.MetadataRequest{Uuid: true, Vector: w.vector, LastUpdateTimeUnix: true},
	}
}

// list returns what a where selects, up to the limit, in no order.
func (d *DB) list(ctx context.Context, about where, w want) ([]found, error) {
	return d.send(ctx, w.request(about))
}

// near returns the nearest to a vector, byWords what holds most of the words.
func (d *DB) near(ctx context.Context, about where, w want, vector []float32) ([]found, error) {
	req := w.request(about)
	req.NearVector = &pb.NearVector{VectorBytes: bytesOf(vector)}
	return d.send(ctx, req)
}

func (d *DB) byWords(ctx context.Context, about where, w want, words []string) ([]found, error) {
	req := w.request(about)
	req.Bm25Search = &pb.BM25{Query: strings.Join(words, " "), Properties: []string{propWords}}
	return d.send(ctx, req)
}

func (d *DB) send(ctx context.Context, req *pb.SearchRequest) ([]found, error) {
	reply, err := d.calls.Search(ctx, req)
	if unknownTenant(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]found, 0, len(reply.Results))
	for _, r := range reply.Results {
		m := r.GetMetadata()
		out = append(out, found{
			id: m.GetId(), props: r.GetProperties().GetNonRefProps().GetFields(), vector: floats(m.GetVectorBytes()),
			changed: time.UnixMilli(m.GetLastUpdateTimeUnix()).UTC(),
		})
	}
	return out, nil
}

// unknownTenant says whether an error means that nothing was ever written there:
// Weaviate has no empty tenants.
func unknownTenant(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	if s, ok := status.FromError(err); ok {
		text = s.Message()
	}
	return strings.Contains(text, "tenant not found") || strings.Contains(text, "tenant") && strings.Contains(text, "not found")
}

// scan gives everything that a where selects, however much it is: where an answer
// is full, the ids are cut in halves and each is asked for.
func (d *DB) scan(ctx context.Context, about where, w want, lo, hi uint64, take func([]found) error) error {
	part := about
	if lo > 0 || hi < idEnd {
		end := ""
		if hi < idEnd {
			end = idAt(hi)
		}
		part = about.and(between(idAt(lo), end))
	}
	got, err := d.list(ctx, part, w)
	if err != nil {
		return err
	}
	if len(got) < w.limit || hi-lo < 2 {
		return take(got)
	}
	mid := lo + (hi-lo)/2
	if err := d.scan(ctx, about, w, lo, mid, take); err != nil {
		return err
	}
	return d.scan(ctx, about, w, mid, hi, take)
}

// idEnd is one more than the greatest first 32 bits of an id: ids are hashes, so
// that equal ranges of them hold equal shares.
const idEnd = 1 << 32

func idAt(first uint64) string {
	return fmt.Sprintf("%08x-0000-0000-0000-000000000000", first)
}

// remove deletes what a where selects. A call deletes at most 10,000 objects: it
// is repeated until there are none.
func (d *DB) remove(ctx context.Context, about where) (n int, err error) {
	for {
		reply, err := d.calls.BatchDelete(ctx, &pb.BatchDeleteRequest{Collection: about.collection, Tenant: &about.tenant, Filters: about.filter()})
		if unknownTenant(err) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += int(reply.Successful)
		if reply.Failed > 0 && reply.Successful == 0 {
			return n, fmt.Errorf("%w: %d objects weren't deleted", errNotTaken, reply.Failed)
		}
		if reply.Matches < most && reply.Failed == 0 {
			return n, nil
		}
	}
}

// put writes objects. What wasn't taken is in the reply, not in the error: it
// comes back by its place in the list.
func (d *DB) put(ctx context.Context, objects []*pb.BatchObject) (failed map[int]error, err error) {
	reply, err := d.calls.BatchObjects(ctx, &pb.BatchObjectsRequest{Objects: objects})
	if err != nil {
		return nil, err
	}
	for _, e := range reply.Errors {
		if failed == nil {
			failed = map[int]error{}
		}
		failed[int(e.Index)] = fmt.Errorf("%w: %s", errNotTaken, clip(e.Error))
	}
	return failed, nil
}

// counts counts what each where selects, in one request.
func (d *DB) counts(ctx context.Context, wheres ...where) ([]int, error) {
	var q strings.Builder
	q.WriteString("{Aggregate{")
	for i, w := range wheres {
		fmt.Fprintf(&q, "n%d:%s(%s){meta{count}} ", i, w.collection, w.graph())
	}
	q.WriteString("}}")
	all, err := d.aggregate(ctx, q.String())
	if err != nil {
		return nil, err
	}
	out := make([]int, len(wheres))
	for i := range out {
		list, _ := all["n"+strconv.Itoa(i)].([]any)
		if len(list) == 0 {
			continue
		}
		group, _ := list[0].(map[string]any)
		meta, _ := group["meta"].(map[string]any)
		n, _ := meta["count"].(float64)
		out[i] = int(n)
	}
	return out, nil
}

// aggregate sends a GraphQL query; empty where there is no such tenant. The
// generated gRPC package that the client brings has no aggregation yet.
func (d *DB) aggregate(ctx context.Context, query string) (map[string]any, error) {
	client, err := d.ready()
	if err != nil {
		return nil, err
	}
	res, err := client.GraphQL().Raw().WithQuery(query).Do(ctx)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	if len(res.Errors) > 0 { // they come with err == nil
		text := errors.New(clip(res.Errors[0].Message))
		if unknownTenant(text) {
			return nil, nil
		}
		return nil, fmt.Errorf("count: %w", text)
	}
	all, _ := res.Data["Aggregate"].(map[string]any)
	return all, nil
}

// graph are the arguments in GraphQL.
func (w where) graph() string {
	if len(w.all) == 0 {
		return "tenant:" + quoted(w.tenant)
	}
	return "tenant:" + quoted(w.tenant) + ",where:" + graph(w.filter())
}

// graph is a filter in GraphQL. The client's own builder quotes with %q, which
// writes control characters and invalid UTF-8 as GraphQL can't read them.
func graph(f *pb.Filters) string {
	if len(f.Filters) > 0 {
		parts := make([]string, len(f.Filters))
		for i, o := range f.Filters {
			parts[i] = graph(o)
		}
		op := "And"
		if f.Operator == pb.Filters_OPERATOR_OR {
			op = "Or"
		}
		return "{operator:" + op + ",operands:[" + strings.Join(parts, ",") + "]}"
	}
	path := quoted(f.GetTarget().GetProperty())
	switch v := f.TestValue.(type) {
	case *pb.Filters_ValueTextArray:
		list := make([]string, len(v.ValueTextArray.Values))
		for i, s := range v.ValueTextArray.Values {
			list[i] = quoted(s)
		}
		return "{operator:ContainsAny,path:[" + path + "],valueText:[" + strings.Join(list, ",") + "]}"
	case *pb.Filters_ValueBoolean:
		return fmt.Sprintf("{operator:Equal,path:[%s],valueBoolean:%t}", path, v.ValueBoolean)
	}
	return "{operator:Equal,path:[" + path + "],valueText:" + quoted(f.GetValueText()) + "}"
}

// quoted is a string in GraphQL, whose escapes are those of JSON.
func quoted(s string) string {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "�")) //nolint:errchkjson // a string can be written
	return string(b)
}

func bytesOf(v []float32) []byte {
	if len(v) == 0 {
		return nil
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func floats(b []byte) []float32 {
	if len(b) < 4 {
		return nil
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
