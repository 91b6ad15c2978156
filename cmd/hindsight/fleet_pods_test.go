//go:build weaviate

package main

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/internal/freeport"
	"hindsight/internal/weaviatetest"
	"hindsight/store"
)

// pods are sidecars in processes of their own on one real Weaviate.
type pods struct {
	t      *testing.T
	server *weaviatetest.Server
	key    store.IdentityKey
	env    []string
}

func newPods(t *testing.T, server *weaviatetest.Server, env ...string) *pods {
	t.Helper()
	p := &pods{t: t, server: server, key: store.IdentityKey{31: 7}}
	file := filepath.Join(t.TempDir(), "identity.key")
	if err := os.WriteFile(file, []byte(hex.EncodeToString(p.key[:])+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(fakellm.New(fakellm.Config{}))
	t.Cleanup(model.Close)
	p.env = append([]string{
		"VECTOR_DB_URL=" + server.URL, "HINDSIGHT_WEAVIATE_GRPC=" + server.GRPC, "HINDSIGHT_IDENTITY_KEY_FILE=" + file, "HINDSIGHT_TENANT=acme",
		"LLM_API_BASE=" + model.URL + "/v1", "LLM_API_KEY=sk-reflection", "HINDSIGHT_REFLECT_MODEL=" + fakellm.Model, "HINDSIGHT_IDENTITY_TRUST_HEADERS=true",
		"HINDSIGHT_EMBEDDER=hashes", "HINDSIGHT_EMBEDDING_API_BASE=" + embeddings(t),
	}, env...)
	return p
}

// start starts a sidecar with a directory of its own and waits until its memory
// is on.
func (p *pods) start(env ...string) *sidecar {
	p.t.Helper()
	s := p.launch(env...)
	s.isOn()
	return s
}

// launch is start that doesn't wait.
func (p *pods) launch(env ...string) *sidecar {
	p.t.Helper()
	s := &sidecar{t: p.t}
	for _, a := range []*string{&s.proxy, &s.admin} {
		var err error
		if *a, err = freeport.Address(); err != nil {
			p.t.Fatal(err)
		}
	}
	s.env = slices.Concat(os.Environ(), p.env, env, []string{
		"HINDSIGHT_DATA_DIR=" + p.t.TempDir(), "HINDSIGHT_LISTEN=" + s.proxy, "HINDSIGHT_ADMIN_LISTEN=" + s.admin, "HINDSIGHT_ADMIN_TOKEN=" + worldToken, "HINDSIGHT_LOG_LEVEL=error",
	})
	s.start()
	p.t.Cleanup(func() { s.end(os.Kill) })
	return s
}

// product is a run of the product, which this test binary is under that name.
func product(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0], cmd.Env = "hindsight", env
	return cmd
}

// sidecar is one `hindsight serve`.
type sidecar struct {
	t            *testing.T
	env          []string
	proxy, admin string
	cmd          *exec.Cmd
	ended        chan struct{}

	mu sync.Mutex
	up bool
}

func (s *sidecar) start() {
	s.t.Helper()
	s.cmd = product(s.t, s.env, "serve")
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan struct{})
	cmd, ended := s.cmd, s.ended
	go func() { _ = cmd.Wait(); close(ended) }()
}

// isOn waits until its memory is.
func (s *sidecar) isOn() {
	s.t.Helper()
	s.until("memory is on", func() bool { return strings.Contains(s.get("/readyz"), `"memory":"on"`) })
	s.set(true)
}

func (s *sidecar) url() string { return "http://" + s.proxy }

func (s *sidecar) set(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = up
}

func (s *sidecar) isUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up
}

// end ends the process with a signal and waits for it.
func (s *sidecar) end(sig os.Signal) {
	s.set(false)
	_ = s.cmd.Process.Signal(sig)
	<-s.ended
}

func (s *sidecar) until(what string, done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("not after 2 minutes: %s: %s", what, s.get("/readyz"))
		}
	}
}

// get reads a path of the management API; empty where nothing answers.
func (s *sidecar) get(path string) string {
	req, err := http.NewRequest(http.MethodGet, "http://"+s.admin+path, nil)
	if err != nil {
		return ""
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(b)
}

// memories lists a user's active memories, as this sidecar shows them.
func (s *sidecar) memories(user string) []store.Memory {
	var v struct{ Memories []store.Memory }
	_ = json.Unmarshal([]byte(s.get("/api/v1/memories?limit=100&tenant=acme&scope="+url.QueryEscape(string(store.UserScope(user))))), &v)
	return v.Memories
}

// delivered says whether nothing waits in its outbox.
func (s *sidecar) delivered() bool {
	return strings.Contains(s.get("/metrics"), "\nhindsight_outbox_depth 0\n")
}

// embeddings is an endpoint whose vectors follow from the text alone.
func embeddings(t *testing.T) string {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input json.RawMessage }
		var texts []string
		if json.NewDecoder(r.Body).Decode(&in) != nil || json.Unmarshal(in.Input, &texts) != nil {
			var one string
			_ = json.Unmarshal(in.Input, &one)
			texts = []string{one}
		}
		type row struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		}
		out := []row{}
		for i, text := range texts {
			out = append(out, row{i, vectorOf(text)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": out, "model": "hashes"})
	}))
	t.Cleanup(up.Close)
	return up.URL
}

// vectorOf is a vector of unit length that a text's words make.
func vectorOf(text string) []float64 {
	v := make([]float64, 32)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += r.NormFloat64()
		}
	}
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(max(sum, 1e-9))
	}
	return v
}
