package admin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokenIsMadeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data", TokenName)
	first, err := Token(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 64 {
		t.Errorf("token %q has %d characters", first, len(first))
	}
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", st.Mode().Perm())
	}
	b, _ := os.ReadFile(file)
	if string(b) != first+"\n" {
		t.Errorf("the file holds %q", b)
	}
	again, err := Token(file)
	if err != nil || again != first {
		t.Errorf("second call: %q, %v", again, err)
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestEmptyTokenFileIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), TokenName)
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Token(file); err != nil || len(got) != 64 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWithoutTokenThePortIsShut(t *testing.T) {
	dir := t.TempDir()
	block := filepath.Join(dir, "data")
	if err := os.WriteFile(block, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := guarded(t, Config{TokenFile: filepath.Join(block, TokenName)})
	if w := get(h, "/openapi.json", nil); w.Code != 503 || !strings.Contains(w.Body.String(), "HINDSIGHT_ADMIN_TOKEN") {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if w := get(h, "/healthz", nil); w.Code != 200 {
		t.Errorf("health: status %d", w.Code)
	}
	// The file can be made now: the port opens without a restart.
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	if w := get(h, "/openapi.json", nil); w.Code != 401 {
		t.Errorf("after mending: status %d", w.Code)
	}
}
