package weaviatedb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"hindsight/store"
)

// What the collection says of itself lies in a tenant of its own: which identity
// key its hashes are under and which model made its vectors.
const (
	metaIdentity = store.RecordKind("identity")
	metaModel    = store.RecordKind("model")
)

// errForeign is the error of a collection that isn't this fleet's: of another form
// or under another identity key. Waiting doesn't mend it.
type errForeign struct{ reason string }

func (e *errForeign) Error() string { return e.reason }

func foreign(format string, args ...any) error {
	return &errForeign{fmt.Sprintf(format, args...)}
}

// Foreign says why the collection can't be this fleet's; empty while nothing is
// wrong with it, or nobody knows yet.
func (d *DB) Foreign() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.strange
}

// Fingerprint tells identity keys apart and says nothing about them.
func (d *DB) Fingerprint() string { return d.cfg.Key.Hash("fingerprint", "identity").String() }

// sameFleet compares the identity key with the collection's, which is that of the
// first who came.
func (d *DB) sameFleet(ctx context.Context) error {
	mine := d.Fingerprint()
	var theirs string
	found, err := d.fact(ctx, metaIdentity, &theirs)
	if err == nil && !found {
		if err = d.setFact(ctx, metaIdentity, mine); err == nil {
			// Of two who come first at once the last write stays: read it.
			_, err = d.fact(ctx, metaIdentity, &theirs)
		}
	}
	if err != nil {
		return err
	}
	if theirs != mine {
		return d.otherFleet(theirs)
	}
	return nil
}

func (d *DB) otherFleet(theirs string) error {
	return foreign("collection %s belongs to the identity key with fingerprint %s, the configured one has %s: set HINDSIGHT_IDENTITY_KEY_FILE to the fleet's key", d.memories(), theirs, d.Fingerprint())
}

// Model compares the embedding model in use with that of the collection's
// vectors, which is the first that anybody told. The error is a
// [store.OtherModel] where they differ.
func (d *DB) Model(ctx context.Context, m store.EmbeddingModel) (err error) {
	ctx, done, err := d.begin(ctx, "model", d.cfg.Timeout)
	if err != nil {
		return err
	}
	defer func() { done(&err) }()
	var theirs store.EmbeddingModel
	found, err := d.fact(ctx, metaModel, &theirs)
	if err != nil {
		return err
	}
	if !found {
		return d.setFact(ctx, metaModel, m)
	}
	if !theirs.Same(m) {
		return &store.OtherModel{Stored: theirs, Configured: m}
	}
	return nil
}

// StoredModel is the model of the collection's vectors, and false where nobody has
// told one yet.
func (d *DB) StoredModel(ctx context.Context) (m store.EmbeddingModel, ok bool, err error) {
	ctx, done, err := d.begin(ctx, "model", d.cfg.Timeout)
	if err != nil {
		return m, false, err
	}
	defer func() { done(&err) }()
	ok, err = d.fact(ctx, metaModel, &m)
	return m, ok, err
}

func (d *DB) fact(ctx context.Context, kind store.RecordKind, to any) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	list, err := d.records(ctx, d.meta().and(anyOf(propKind, []string{string(kind)})))
	if err != nil {
		return false, fmt.Errorf("read what collection %s says of itself over gRPC at %s: %w", d.memories(), d.cfg.GRPC, err)
	}
	if len(list) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(list[0].Data, to); err != nil {
		return false, fmt.Errorf("read what collection %s says of itself: %w", d.memories(), err)
	}
	return true, nil
}

func (d *DB) setFact(ctx context.Context, kind store.RecordKind, v any) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write what the collection says of itself: %w", err)
	}
	o, err := d.recordObject("", metaTenant, &store.SharedRecord{Kind: kind, ID: string(kind), Time: time.Now(), Data: data})
	if err != nil {
		return err
	}
	failed, err := d.put(ctx, []*pb.BatchObject{o})
	if err == nil {
		err = failed[0]
	}
	if err != nil {
		return fmt.Errorf("write what collection %s says of itself: %w", d.memories(), err)
	}
	return nil
}
