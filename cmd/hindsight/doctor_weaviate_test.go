//go:build weaviate

package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hindsight/internal/weaviatetest"
)

// TestDoctorLooksAtWeaviate asks about a server that is there, under another key,
// over a wrong gRPC port, and gone.
func TestDoctorLooksAtWeaviate(t *testing.T) {
	server := weaviatetest.New(t)
	s := newShell(t)
	keys := t.TempDir()
	for _, k := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(keys, k), []byte(hex.EncodeToString([]byte(strings.Repeat(k, 32)))+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.env["VECTOR_DB_URL"], s.env["HINDSIGHT_WEAVIATE_GRPC"] = server.URL, server.GRPC
	s.env["HINDSIGHT_IDENTITY_KEY_FILE"] = filepath.Join(keys, "1")
	s.env["LLM_API_BASE"] = server.URL // something that answers
	line := func() string {
		t.Helper()
		_, out, errs := s.run("doctor")
		l := lineWith(out, " weaviate ")
		if l == "" {
			t.Fatalf("nothing about Weaviate in %s%s", out, errs)
		}
		return l
	}
	if l := line(); !strings.HasPrefix(l, "ok") || !strings.Contains(l, "will be made") {
		t.Errorf("fresh: %s", l)
	}
	s.must("migrate", "--to", "weaviate")
	if l := line(); !strings.HasPrefix(l, "ok") || strings.Contains(l, "will be made") || !strings.Contains(l, "AgentMemory") {
		t.Errorf("in use: %s", l)
	}
	s.env["HINDSIGHT_IDENTITY_KEY_FILE"] = filepath.Join(keys, "2")
	if l := line(); !strings.HasPrefix(l, "fail") || !strings.Contains(l, "fingerprint") {
		t.Errorf("another key: %s", l)
	}
	s.env["HINDSIGHT_WEAVIATE_GRPC"] = "127.0.0.1:1"
	if l := line(); !strings.HasPrefix(l, "fail") || !strings.Contains(l, "gRPC at 127.0.0.1:1") {
		t.Errorf("wrong gRPC port: %s", l)
	}
	server.Kill()
	if l := line(); !strings.HasPrefix(l, "fail") || !strings.Contains(l, "can't be reached") {
		t.Errorf("gone: %s", l)
	}
}
