//go:build weaviate

package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hindsight/internal/weaviatetest"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/storetest"
)

// filled makes a directory with the memories of two tenants, one of them edited,
// one forgotten and some archived, under an identity key.
func filled(t *testing.T, dir, key string, n int) {
	t.Helper()
	st, err := badgerdb.New(badgerdb.Config{Dir: dir, IdentityKeyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = st.Run(ctx) }()
	defer func() { cancel(); <-done }()
	if err := st.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	for i, sc := range []store.Scope{store.UserScope("ann"), store.UserScope("bob"), store.UserAgentScope("ann", "coder")} {
		tenant := []string{"acme", "acme", "other"}[i]
		ms, _ := storetest.Corpus(tenant, sc, n)
		kept, err := st.PutMemories(ctx, ms)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.EditMemory(ctx, kept[1].ID, func(m *store.Memory) error { m.Text += ", as she said again"; return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := st.EraseMemory(ctx, kept[2].ID); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMigrate moves a directory into Weaviate, is interrupted, goes on, and moves
// all of it into a new directory, which must answer as the first did.
func TestMigrate(t *testing.T) {
	server := weaviatetest.New(t)
	key := filepath.Join(t.TempDir(), "identity.key")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(bytes.Repeat([]byte{7}, 32))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"shared", "isolated"} {
		s := newShell(t)
		const n = 400
		filled(t, s.dir(), key, n)
		maps.Copy(s.env, map[string]string{
			"VECTOR_DB_URL": server.URL, "HINDSIGHT_WEAVIATE_GRPC": server.GRPC, "HINDSIGHT_IDENTITY_KEY_FILE": key,
			"HINDSIGHT_STORE_LAYOUT": layout, "MEMORY_COLLECTION": "moved_" + layout,
		})
		if layout == "isolated" {
			// Interrupted somewhere in the middle; where doesn't matter.
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			var errs bytes.Buffer
			code := run(ctx, &app{env: fakeEnv(maps.Clone(s.env)), out: &bytes.Buffer{}, err: &errs}, []string{"migrate", "--to", "weaviate"})
			cancel()
			if code != 0 && !strings.Contains(errs.String(), "Run it again") {
				t.Errorf("interrupted: %d, %s", code, &errs)
			}
		}
		there := movedBy(t, s.must("migrate", "--to", "weaviate", "--json"))
		if there.Memories != 3*n-3 || there.Scopes != 3 {
			t.Errorf("%s: moved %+v", layout, there)
		}
		if again := movedBy(t, s.must("migrate", "--to", "weaviate", "--json")); again.Checksum != there.Checksum {
			t.Errorf("%s: again %+v, before %+v", layout, again, there)
		}
		before := s.must("memories", "list", "--tenant", "acme", "--limit", "1000", "--json")

		home := s.dir()
		s.env["HINDSIGHT_DATA_DIR"] = t.TempDir()
		back := movedBy(t, s.must("migrate", "--to", "directory", "--json"))
		if back.Memories != there.Memories || back.Checksum != there.Checksum || back.Scopes != there.Scopes {
			t.Errorf("%s: back %+v, there %+v", layout, back, there)
		}
		if again := movedBy(t, s.must("migrate", "--to", "directory", "--json")); again.Checksum != back.Checksum {
			t.Errorf("%s: back again %+v", layout, again)
		}
		for _, name := range []string{"VECTOR_DB_URL", "HINDSIGHT_WEAVIATE_GRPC", "HINDSIGHT_STORE_LAYOUT"} {
			delete(s.env, name)
		}
		if after := s.must("memories", "list", "--tenant", "acme", "--limit", "1000", "--json"); count(after) != count(before) {
			t.Errorf("%s: %d memories are listed, before %d (%s)", layout, count(after), count(before), home)
		}
	}
}

func movedBy(t *testing.T, out string) (m moved) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, out))
	}
	return m
}

func count(list string) int { return strings.Count(list, `"revision"`) }

// TestMigrateSaysWhatIsMissing has no Weaviate to go to.
func TestMigrateSaysWhatIsMissing(t *testing.T) {
	s := newShell(t)
	s.fails(2, []string{"VECTOR_DB_URL"}, "migrate", "--to", "weaviate")
	s.fails(2, []string{"--to"}, "migrate")
}
