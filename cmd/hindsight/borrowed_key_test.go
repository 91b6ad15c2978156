package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hindsight/internal/fakellm"
)

// callers watches with which credentials reflection is asked.
type callers struct {
	mu   sync.Mutex
	seen []string
}

func (c *callers) watch(w *world) {
	w.answer = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) {
			c.mu.Lock()
			c.seen = append(c.seen, r.Header.Get("Authorization"))
			c.mu.Unlock()
		}
		return false
	}
}

// serve is another endpoint, with a model of its own.
func (c *callers) serve(t *testing.T) (base string) {
	model := fakellm.New(fakellm.Config{})
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.seen = append(c.seen, r.Header.Get("Authorization"))
		c.mu.Unlock()
		model.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func (c *callers) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.seen, ", ")
}

// Without a key of its own, reflection borrows the caller's, from memory only.
// After a restart it waits for the caller's next request.
func TestReflectionBorrowsTheCallersKey(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "LLM_API_KEY=", "HINDSIGHT_REFLECT_MODEL=", "HINDSIGHT_SESSION_IDLE=1s")
	var asked callers
	asked.watch(w)
	const key = "sk-callers-own-0123456789"
	caller := "Authorization: Bearer " + key
	first := w.conversation(caller).say("My name is Ann.")
	if kept, _ := w.close(first.session()); len(kept) != 1 || asked.all() != "Bearer "+key {
		t.Fatalf("kept %q, asked with %s", texts(kept), asked.all())
	}

	w.env["HINDSIGHT_SESSION_IDLE"] = "10m"
	w.restart()
	w.conversation(caller).say("My badge is B4411.")
	w.flush()
	w.stop()
	w.env["HINDSIGHT_SESSION_IDLE"] = "1s"
	w.start()
	w.until("the job waits for a key", func() bool { return w.reflections("waiting_for_key") == 1 })
	if asked.all() != "Bearer "+key {
		t.Errorf("asked with %s", asked.all())
	}
	// Another's credential isn't the caller's.
	w.conversation("Authorization: Bearer sk-somebody-else").say("How deep is the Mariana Trench?")
	w.conversation(caller).say("How high is Mount Everest?")
	w.until("the job is done", func() bool { return w.reflections("waiting_for_key") == 0 && len(w.memories("local")) == 2 })
	if strings.Contains(asked.all(), "somebody") && strings.Count(asked.all(), key) < 2 {
		t.Errorf("asked with %s", asked.all())
	}
	w.stop()
	for _, secret := range []string{key, "sk-somebody-else"} {
		if where := inFiles(t, w.env["HINDSIGHT_DATA_DIR"], secret); where != "" {
			t.Errorf("%s holds the credential", where)
		}
	}
	// The control: what was said is there, so the search can find.
	if inFiles(t, w.env["HINDSIGHT_DATA_DIR"], "B4411") == "" {
		t.Error("the search doesn't find what is there")
	}
}

// inFiles names the first file under dir that holds the text.
func inFiles(t *testing.T, dir, text string) (where string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && where == "" && bytes.Contains(b, []byte(text)) {
			where = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// A token that expires is never borrowed: what it said is left to wait.
func TestExpiringTokenIsNotBorrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "LLM_API_KEY=", "HINDSIGHT_REFLECT_MODEL=", "HINDSIGHT_TENANT=acme", "HINDSIGHT_DEFAULT_USER=ann")
	var asked callers
	asked.watch(w)
	r := w.send(`{"model":"`+fakellm.Model+`","messages":[{"role":"user","content":"My name is Ann."}]}`, "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x")
	w.flush()
	w.admin(http.MethodPost, "/api/v1/sessions/"+r.session()+"/close", "")
	w.until("the job waits for a key", func() bool { return w.reflections("waiting_for_key") == 1 })
	if asked.all() != "" {
		t.Errorf("asked with %s", asked.all())
	}
}
