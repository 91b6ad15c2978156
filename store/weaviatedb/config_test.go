package weaviatedb

import (
	"strings"
	"testing"

	"hindsight/store"
)

func TestConfigIsChecked(t *testing.T) {
	bad := Config{URL: "weaviate:8080", GRPC: "x", Collection: "1 a", Layout: "both", VectorIndex: "tree"}
	err := bad.Validate()
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"weaviate:8080", `"x"`, `"1 a"`, `"both"`, `"tree"`, "HINDSIGHT_IDENTITY_KEY_FILE"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v names no %s", err, want)
		}
	}
	for _, url := range []string{"http://h:1/path", "http://user:secret@h:1", "ftp://h", ""} {
		if err := (Config{URL: url, Key: store.IdentityKey{1}}).Validate(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, grpc := range map[string]string{"http://h:8080": "h:50051", "https://h": "h:443"} {
		c := Config{URL: url, Key: store.IdentityKey{1}, Collection: "agent_memory"}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if c = c.filled(); c.GRPC != grpc || c.Collection != "Agent_memory" || (c.TLS != nil) != (url[:5] == "https") {
			t.Errorf("%s: %+v", url, c)
		}
	}
}

func TestFormsAreCompared(t *testing.T) {
	want := memoryForm("M", IndexFlat)
	have := memoryForm("M", IndexFlat)
	have.Properties[5].Tokenization = "word"
	have.Properties = append(have.Properties[:1], have.Properties[2:]...)
	have.MultiTenancyConfig.Enabled = false
	have.VectorIndexType = "hnsw"
	diff := strings.Join(differs(have, want), "; ")
	for _, part := range []string{"multi-tenancy is false", "the vector index is hnsw, want flat", "property state is missing", "the tokenisation of words is word, want whitespace"} {
		if !strings.Contains(diff, part) {
			t.Errorf("%q says nothing of %q", diff, part)
		}
	}
	if diff := differs(memoryForm("M", IndexHNSW), memoryForm("M", IndexHNSW)); len(diff) > 0 {
		t.Errorf("the same: %v", diff)
	}
}
