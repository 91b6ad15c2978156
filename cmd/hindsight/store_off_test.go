package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// health is what readyz says.
type health struct {
	Ready          bool
	Memory, Reason string
}

func (w *world) health() (h health) {
	w.t.Helper()
	w.decode(w.admin(http.MethodGet, "/readyz", ""), &h)
	return h
}

// bystander checks that requests are forwarded within two seconds of from,
// with memory off for the reason that has these words in it.
func (w *world) bystander(from time.Time, words string) {
	w.t.Helper()
	const body = `{"model":"scripted-1",  "messages":[{"role":"user","content":"What is my cat called?"}]}`
	r := w.send(body)
	if took := time.Since(from); took > 2*time.Second {
		w.t.Errorf("the first answer came %s after the start", took)
	}
	if r.status != http.StatusOK || r.memory() != "off;reason=store" || string(w.last().body) != body {
		w.t.Errorf("%d %s, the upstream got %s", r.status, r.memory(), w.last().body)
	}
	w.until("the store is looked at", func() bool { return w.health().Reason != "starting" })
	if h := w.health(); !h.Ready || h.Memory != "off" || !strings.Contains(h.Reason, words) {
		w.t.Errorf("readyz: %+v, want a reason with %q", h, words)
	}
	if code, problem := w.tryAdmin(http.MethodGet, "/api/v1/memories", ""); code != http.StatusServiceUnavailable || !strings.Contains(string(problem), words) {
		w.t.Errorf("the management API answers %d: %s", code, problem)
	}
}

// refusesStrictly checks that with --strict the server doesn't start, for the
// reason that has these words in it.
func (w *world) refusesStrictly(words string) {
	w.t.Helper()
	env := maps.Clone(w.env)
	env["HINDSIGHT_STRICT"] = "true"
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second) // should it start
	defer cancel()
	var errs bytes.Buffer
	if code := run(ctx, &app{env: fakeEnv(env), out: io.Discard, err: &errs}, []string{"serve"}); code != 1 || !strings.Contains(errs.String(), words) {
		w.t.Errorf("serve --strict: exit code %d, %s; want %q", code, errs.String(), words)
	}
}

// A directory that can't be used turns memory off and nothing else; with
// --strict it is the end.
func TestUnusableDirectory(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	put := func(t *testing.T, dir, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The directory is that of a server that has stopped.
	for name, c := range map[string]struct {
		spoil func(t *testing.T, w *world, dir string)
		words string
	}{
		"somebody else's files": {func(t *testing.T, w *world, _ string) {
			w.env["HINDSIGHT_DATA_DIR"] = t.TempDir()
			put(t, w.env["HINDSIGHT_DATA_DIR"], "thesis.tex", "x")
		}, "thesis.tex"},
		"a file in its place": {func(t *testing.T, w *world, dir string) {
			w.env["HINDSIGHT_DATA_DIR"] = filepath.Join(dir, "file")
			put(t, dir, "file", "x")
		}, "HINDSIGHT_DATA_DIR"},
		"garbage in place of the manifest": {func(t *testing.T, _ *world, dir string) {
			put(t, dir, "MANIFEST", strings.Repeat("garbage", 100))
		}, "move the directory away"},
		"an empty manifest": {func(t *testing.T, _ *world, dir string) {
			put(t, dir, "MANIFEST", "")
		}, "move the directory away"},
		"another identity key": {func(t *testing.T, w *world, _ string) {
			dir := t.TempDir()
			w.env["HINDSIGHT_IDENTITY_KEY_FILE"] = filepath.Join(dir, "key")
			put(t, dir, "key", strings.Repeat("ab", 32))
		}, "isn't the one"},
		"the identity key is lost": {func(t *testing.T, _ *world, dir string) {
			if err := os.Remove(filepath.Join(dir, "identity.key")); err != nil {
				t.Fatal(err)
			}
		}, "put it back"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.stop()
			c.spoil(t, w, w.env["HINDSIGHT_DATA_DIR"])
			w.env["MEMORY"] = "off"
			from := time.Now()
			w.start()
			w.bystander(from, c.words)
			w.stop()
			w.refusesStrictly(c.words)
		})
	}
}

// A second process on a directory forwards, and takes over when the first has
// gone: it knows what that one knew.
func TestSecondOwnerTakesOver(t *testing.T) {
	t.Parallel()
	first := newWorld(t)
	first.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	from := time.Now()
	second := newWorld(t, "MEMORY=off", "HINDSIGHT_DATA_DIR="+first.env["HINDSIGHT_DATA_DIR"])
	second.bystander(from, "another hindsight owns")
	if r := first.conversation().say("What is my cat called?"); r.memory() != "injected" {
		t.Errorf("the first: %s", r.memory())
	}
	second.refusesStrictly("another hindsight owns")
	first.stop()
	second.until("memory is on", func() bool { return second.health().Memory == "on" })
	if r := second.conversation().say("What is my cat called?"); r.memory() != "injected" || !strings.Contains(r.text(), "Mitzi") {
		t.Errorf("the second: %s, %s", r.memory(), r.text())
	}
}

// A full disk turns memory off at the start, and stops recording under load;
// recall goes on then. Room brings both back.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	var full atomic.Bool
	w.adjust = func(c *Config) {
		c.Store.Free = func(string) (uint64, error) {
			if full.Load() {
				return 5 << 20, nil
			}
			return 5 << 30, nil
		}
	}
	full.Store(true)
	w.env["MEMORY"] = "off"
	w.stop()
	from := time.Now()
	w.start()
	w.bystander(from, "make room")
	full.Store(false)
	w.until("memory is on", func() bool { return w.health().Memory == "on" })
	before := len(w.sessions())

	full.Store(true)
	c := w.conversation()
	for _, want := range []string{"injected", "replayed"} { // the first is where it shows
		if r := c.say("What is my cat called?"); r.status != http.StatusOK || r.memory() != want {
			t.Errorf("under load: %d %s, want %s", r.status, r.memory(), want)
		}
		w.flush()
	}
	if h := w.health(); !h.Ready || h.Memory != "degraded" || !strings.Contains(h.Reason, "nothing is recorded: only 5 MiB") {
		t.Errorf("readyz: %+v", h)
	}
	if code, body := w.tryAdmin(http.MethodPost, "/api/v1/memories", `{"text":"x y z","type":"user_fact"}`); code/100 != 5 {
		t.Errorf("a write answers %d: %s", code, body)
	}
	if n := len(w.sessions()); n != before {
		t.Errorf("%d sessions were recorded", n-before)
	}
	full.Store(false)
	kept, _ := w.learn("My badge is B4411.")
	if len(kept) != 1 || w.health().Memory != "on" {
		t.Errorf("with room: kept %q, %+v", texts(kept), w.health())
	}
}
