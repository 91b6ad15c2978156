//go:build weaviate

package weaviatedb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/weaviatedb"
)

// TestAnotherForm finds collections that another program made, or auto-schema, and
// leaves them alone.
func TestAnotherForm(t *testing.T) {
	s := harmless(t)
	body, _ := json.Marshal(map[string]any{"class": "Taken", "vectorizer": "none", "properties": []map[string]any{{"name": "words", "dataType": []string{"text"}}}})
	res, err := http.Post(s.URL+"/v1/schema", "application/json", bytes.NewReader(body))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("make a collection: %v, %v", res, err)
	}
	_ = res.Body.Close()
	d := start(t, s, func(c *weaviatedb.Config) { c.Collection = "taken" })
	awaitReason(t, d, "multi-tenancy is false, want true")
	_, reason := d.State()
	for _, part := range []string{"collection Taken has another form", "property place is missing", "the tokenisation of words is word, want whitespace", "MEMORY_COLLECTION"} {
		if !strings.Contains(reason, part) {
			t.Errorf("%q says nothing of %q", reason, part)
		}
	}
	if _, err := d.PutMemories(t.Context(), "acme", some(ann, 0, 1)); err == nil {
		t.Error("it was written to")
	}
	open(t, s, func(c *weaviatedb.Config) { c.Collection = "flat_one" })
	other := start(t, s, func(c *weaviatedb.Config) { c.Collection, c.VectorIndex = "flat_one", weaviatedb.IndexHNSW })
	awaitReason(t, other, "the vector index is flat, want hnsw")
}

// TestAnotherKey names both fingerprints.
func TestAnotherKey(t *testing.T) {
	s := harmless(t)
	first := open(t, s)
	second := start(t, s, func(c *weaviatedb.Config) { c.Key = store.IdentityKey{9} })
	awaitReason(t, second, "HINDSIGHT_IDENTITY_KEY_FILE")
	_, reason := second.State()
	if !strings.Contains(reason, first.Fingerprint()) || !strings.Contains(reason, second.Fingerprint()) || first.Fingerprint() == second.Fingerprint() {
		t.Errorf("reason %q", reason)
	}
	model := store.EmbeddingModel{Name: "a", Dim: 2, Fingerprint: []float32{1, 0}}
	if err := first.Model(t.Context(), model); err != nil {
		t.Fatal(err)
	}
	model.Fingerprint = []float32{1, 0.0005}
	if err := first.Model(t.Context(), model); err != nil {
		t.Errorf("the same model: %v", err)
	}
	model.Name = "b"
	other := new(store.OtherModel)
	if err := first.Model(t.Context(), model); !errors.As(err, &other) || other.Stored.Name != "a" {
		t.Errorf("another model: %v", err)
	}
}

func awaitReason(t *testing.T, d *weaviatedb.DB, part string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		on, reason := d.State()
		if !on && strings.Contains(reason, part) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("on = %v, reason %q; want %q", on, reason, part)
		}
	}
}
