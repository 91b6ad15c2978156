//go:build weaviate

package weaviatedb_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// TestRecords writes, finds, replaces and deletes what sidecars share of
// conversations.
func TestRecords(t *testing.T) {
	s := harmless(t)
	d := open(t, s)
	at := time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.UTC)
	bob := store.UserScope("bob")
	record := func(kind store.RecordKind, id string, sc store.Scope, session string, keys ...string) store.SharedRecord {
		return store.SharedRecord{Kind: kind, ID: id, Tenant: "acme", Scope: sc, Session: session, Keys: keys, Time: at, Data: []byte{0, 1, 0xff}}
	}
	rs := []store.SharedRecord{
		record(store.RecordExchange, "x1", ann, "s1", "k1", "k2"), record(store.RecordExchange, "x2", ann, "s1", "k3"),
		record(store.RecordLedger, "l1", ann, "s1"), record(store.RecordExchange, "x3", bob, "s2", "k1"), record(store.RecordSession, "s1", ann, "s1"),
	}
	if failed, err := d.PutRecords(t.Context(), "acme", rs); err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	find := func(q store.RecordQuery) string {
		t.Helper()
		got, err := d.Records(t.Context(), "acme", q)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		out := ""
		for _, id := range []string{"x1", "x2", "x3", "l1", "s1"} {
			for _, r := range got {
				ids[r.ID] = true
				if r.ID == id {
					out += id + " "
				}
				if !bytes.Equal(r.Data, []byte{0, 1, 0xff}) || !r.Time.Equal(at) || r.Changed.IsZero() {
					t.Errorf("read %+v", r)
				}
			}
		}
		return strings.TrimSpace(out)
	}
	own := []store.Scope{ann}
	for _, c := range []struct {
		q    store.RecordQuery
		want string
	}{
		{store.RecordQuery{Scopes: own}, "x1 x2 l1 s1"},
		{store.RecordQuery{Scopes: own, Keys: []string{"k1", "k9"}}, "x1"},
		{store.RecordQuery{Scopes: own, Sessions: []string{"s1"}, Kinds: []store.RecordKind{store.RecordExchange}}, "x1 x2"},
		{store.RecordQuery{Scopes: []store.Scope{ann, bob}, Keys: []string{"k1"}}, "x1 x3"},
		{store.RecordQuery{AllScopes: true, Kinds: []store.RecordKind{store.RecordSession}}, "s1"},
		{store.RecordQuery{Scopes: own, IDs: []string{"x2"}}, "x2"},
		{store.RecordQuery{Scopes: own, Since: time.Now().Add(time.Hour)}, ""},
	} {
		if got := find(c.q); got != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	if _, err := d.Records(t.Context(), "acme", store.RecordQuery{Keys: []string{"k1"}}); err == nil {
		t.Error("records of nobody were given")
	}
	rs[0].Reflected = true
	if _, err := d.PutRecords(t.Context(), "acme", rs[:1]); err != nil {
		t.Fatal(err)
	}
	got, err := d.Records(t.Context(), "acme", store.RecordQuery{Scopes: own, IDs: []string{"x1"}})
	if err != nil || len(got) != 1 || !got[0].Reflected {
		t.Errorf("replaced: %+v, %v", got, err)
	}
	if err := d.DeleteRecords(t.Context(), "acme", []string{"x1", "none"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.EraseScope(t.Context(), "acme", bob); err != nil {
		t.Fatal(err)
	}
	if got := find(store.RecordQuery{AllScopes: true}); got != "x2 l1 s1" {
		t.Errorf("left: %s", got)
	}
}

// TestWhatIsNotTakenComesBack: Weaviate refuses an object and says so in the reply
// of a call that succeeds.
func TestWhatIsNotTakenComesBack(t *testing.T) {
	s := harmless(t)
	d := open(t, s)
	ms := some(ann, 0, 3)
	putAll(t, d, ms[:1])
	ms[1].Vector = []float32{1, 0} // of another dimension than the first's
	failed, err := d.PutMemories(t.Context(), "acme", ms)
	if err != nil || len(failed) != 1 || failed[ms[1].Memory.ID] == nil {
		t.Errorf("failed %v, err %v", failed, err)
	}
}
