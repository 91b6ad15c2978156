//go:build weaviate

package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	"hindsight/store"
	"hindsight/store/index"
	"hindsight/store/weaviatedb"
	"hindsight/store/weaviatedb/weaviatetest"
)

// sidecar is one `hindsight serve` in a process of its own.
type sidecar struct {
	t            *testing.T
	env          []string
	proxy, admin string
	cmd          *exec.Cmd
	ended        chan struct{}

	mu sync.Mutex
	up bool
}

// newSidecar starts one with a directory of its own.
func newSidecar(t *testing.T, env ...string) *sidecar {
	t.Helper()
	s := &sidecar{t: t}
	for _, a := range []*string{&s.proxy, &s.admin} {
		var err error
		if *a, err = anyAddress(); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(os.Environ(), append(env,
		"HINDSIGHT_DATA_DIR="+t.TempDir(), "HINDSIGHT_LISTEN="+s.proxy, "HINDSIGHT_ADMIN_LISTEN="+s.admin, "HINDSIGHT_ADMIN_TOKEN="+worldToken, "HINDSIGHT_LOG_LEVEL=error")...)
	s.start()
	t.Cleanup(func() { s.end(os.Kill) })
	return s
}

func (s *sidecar) start() {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(self, "serve")
	s.cmd.Args[0] = "hindsight" // what the test binary is then
	s.cmd.Env, s.cmd.Stderr = s.env, os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan struct{})
	cmd, ended := s.cmd, s.ended
	go func() { _ = cmd.Wait(); close(ended) }()
	s.until("memory is on", func() bool { return strings.Contains(s.get("/readyz"), `"memory":"on"`) })
	s.set(true)
}

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

// Ten kills of Weaviate and ten of a sidecar under load (one of each in the short
// form): what was committed is learned once, everywhere, and found by its vector.
func TestFleetSurvivesKills(t *testing.T) {
	kills, n, each := size(1, 10), size(24, 200), 4
	server := weaviatetest.New(t)
	model := fakellm.New(fakellm.Config{})
	up := httptest.NewServer(model)
	t.Cleanup(up.Close)
	key := filepath.Join(t.TempDir(), "identity.key")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(make([]byte, 31))+"07\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"VECTOR_DB_URL=" + server.URL, "HINDSIGHT_WEAVIATE_GRPC=" + server.GRPC, "HINDSIGHT_IDENTITY_KEY_FILE=" + key, "HINDSIGHT_TENANT=acme",
		"LLM_API_BASE=" + up.URL + "/v1", "LLM_API_KEY=sk-reflection", "HINDSIGHT_REFLECT_MODEL=" + fakellm.Model, "HINDSIGHT_IDENTITY_TRUST_HEADERS=true",
		"HINDSIGHT_SESSION_IDLE=6s", "HINDSIGHT_EMBEDDER=hashes", "HINDSIGHT_EMBEDDING_API_BASE=" + embeddings(t),
	}
	var crew []*sidecar
	for range 3 {
		crew = append(crew, newSidecar(t, env...))
	}

	var mu sync.Mutex
	var at []time.Time // of the sidecars' kills
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		pause := func() bool {
			select {
			case <-time.After(4 * time.Second):
				return true
			case <-stop:
				return false
			}
		}
		for i := range kills {
			if !pause() {
				return
			}
			s := crew[i%len(crew)]
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
			s.end(os.Kill)
			s.start()
			if !pause() {
				return
			}
			server.Kill()
			if err := server.Start(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	all := chats(n, 4, each)
	traffic{
		to: func() string {
			for {
				if s := crew[rand.IntN(len(crew))]; s.isUp() {
					return "http://" + s.proxy
				}
			}
		},
		rate: 100 * time.Millisecond, pause: 1100 * time.Millisecond, until: over,
	}.run(t, all)
	close(stop)
	<-over

	for _, s := range crew {
		s.until("everything is delivered", s.delivered)
	}
	doubled, spared := 0, 0
	for u := range (n + each - 1) / each {
		user := fmt.Sprintf("user-%d", u)
		want := map[string]bool{}
		for _, c := range all {
			if c.user != user || c.said == 0 {
				continue
			}
			// What a sidecar was told in its last quarter of a second isn't committed.
			if slices.ContainsFunc(at, func(kill time.Time) bool { d := kill.Sub(c.first); return d > -time.Second && d < time.Second }) {
				spared++
				continue
			}
			name := strings.TrimSuffix(strings.TrimPrefix(c.turns[0], "Hello. My "), ".")
			want["The user's "+name+"."] = true
		}
		for _, s := range crew {
			var got []string
			s.until("what "+user+" said is learned", func() bool {
				got = active(s.memories(user))
				for text := range want {
					if !slices.Contains(got, text) {
						return false
					}
				}
				return true
			})
			if len(slices.Compact(slices.Clone(got))) != len(got) {
				doubled++
				t.Errorf("%s is remembered twice: %q", user, got)
			}
		}
	}
	unseen := 0
	for end := time.Now().Add(time.Minute); ; <-time.After(time.Second) { // the last kill's mending takes a moment
		if unseen = unseenBy(t, server, key, crew[0], n, each); unseen == 0 || time.Now().After(end) {
			break
		}
	}
	t.Logf("%d kills of each, %d conversations, %d doubled, %d not found by vector, %d weren't committed", kills, n, doubled, unseen, spared)
	if unseen > 0 {
		t.Errorf("%d memories aren't found by their vector", unseen)
	}
}

// unseenBy counts the memories that Weaviate has and doesn't find by vector.
func unseenBy(t *testing.T, server *weaviatetest.Server, keyFile string, s *sidecar, n, each int) (unseen int) {
	t.Helper()
	b, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	var key store.IdentityKey
	if _, err := hex.Decode(key[:], []byte(strings.TrimSpace(string(b)))); err != nil {
		t.Fatal(err)
	}
	db, err := weaviatedb.New(weaviatedb.Config{URL: server.URL, GRPC: server.GRPC, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = db.Run(t.Context()) }()
	s.until("Weaviate is on", func() bool { on, _ := db.State(); return on })
	for u := range (n + each - 1) / each {
		sc := store.UserScope(fmt.Sprintf("user-%d", u))
		ms, _, err := db.Load(t.Context(), "acme", sc, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if m.Memory.State != store.Active {
				continue
			}
			if len(m.Vector) == 0 {
				t.Errorf("%q has no vector", m.Memory.Text)
				continue
			}
			res, err := db.Search(t.Context(), index.Query{Tenant: "acme", Scopes: []store.Scope{sc}, Vector: m.Vector, Now: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(res.Hits, func(h index.Hit) bool { return h.Memory.ID == m.Memory.ID && h.Embedded }) {
				unseen++
			}
		}
	}
	return unseen
}
