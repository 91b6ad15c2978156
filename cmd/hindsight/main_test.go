package main

import (
	"bytes"
	"context"
	"flag"
	"hash/fnv"
	"io"
	"maps"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hindsight/internal/innerloop"
)

// parallel is how many tests run at a time. They mostly wait: for the disk, for
// a group commit, for idle time to pass.
const parallel = "8"

// TestMain lets the test binary be the hindsight command in scripts.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400) // hundreds of short lives: collecting is a quarter of their time
	testscript.Main(innerloop.Tests{M: m}, map[string]func(){"hindsight": main})
}

// leftToWhole leaves a story of seconds to `make test`: the inner loop has others
// that go the same way.
func leftToWhole(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test has it")
	}
}

// oneInThree leaves most cases of a long table to `make test`: the inner loop takes
// those whose name falls so, the same ones every time.
func oneInThree(t *testing.T) {
	t.Helper()
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, t.Name()) // a hash takes anything
	if testing.Short() && sum.Sum32()%3 != 0 {
		t.Skip("make test has it")
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// shell runs commands in this process, over one environment.
type shell struct {
	t   testing.TB
	env map[string]string
}

// newShell has a data directory of its own.
func newShell(t *testing.T) *shell {
	return &shell{t: t, env: map[string]string{"HINDSIGHT_DATA_DIR": t.TempDir(), "HINDSIGHT_EMBEDDER": "none"}}
}

func (s *shell) dir() string { return s.env["HINDSIGHT_DATA_DIR"] }

// run runs one command and returns its exit code and what it printed.
func (s *shell) run(args ...string) (code int, out, errs string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(s.t.Context(), &app{env: fakeEnv(maps.Clone(s.env)), out: &stdout, err: &stderr}, args)
	return code, stdout.String(), stderr.String()
}

// must runs a command that has to succeed.
func (s *shell) must(args ...string) string {
	s.t.Helper()
	code, out, errs := s.run(args...)
	if code != 0 {
		s.t.Fatalf("hindsight %s: exit code %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

// fails runs a command that has to fail with a code and say all of words.
func (s *shell) fails(want int, words []string, args ...string) {
	s.t.Helper()
	code, out, errs := s.run(args...)
	if code != want {
		s.t.Errorf("hindsight %s: exit code %d, want %d: %s%s", strings.Join(args, " "), code, want, out, errs)
	}
	for _, w := range words {
		if !strings.Contains(errs, w) {
			s.t.Errorf("hindsight %s: no %q in %q", strings.Join(args, " "), w, errs)
		}
	}
}

func TestUsage(t *testing.T) {
	s := newShell(t)
	s.fails(2, []string{"frobnicate", "--help"}, "frobnicate")
	s.fails(2, []string{"--frob"}, "version", "--frob")
	s.fails(2, []string{"--type"}, "memories", "add", "some text")
	s.fails(2, []string{"LLM_API_BASE", "https://"}, "serve")
	s.env["HINDSIGHT_TOP_K"] = "many"
	s.fails(2, []string{"HINDSIGHT_TOP_K", `"many"`, "LLM_API_BASE", "--listen", "none.yaml"}, "serve", "--log-level", "info", "--listen", "nowhere", "--config", "none.yaml")
}

func TestUsageNamesTheVariable(t *testing.T) {
	s := newShell(t)
	help := s.must("serve", "--help")
	for _, w := range []string{"--top-k", "$HINDSIGHT_TOP_K", "Default 5", "$LLM_API_BASE)", "Whose memory it is"} {
		if !strings.Contains(help, w) {
			t.Errorf("the help has no %q", w)
		}
	}
}

func TestWithoutData(t *testing.T) {
	s := newShell(t)
	s.env["HINDSIGHT_DATA_DIR"] = filepath.Join(s.dir(), "none")
	s.fails(1, []string{"no server is running", s.dir(), "hindsight serve"}, "memories", "list")
	if m, _ := filepath.Glob(s.dir()); len(m) != 0 {
		t.Error("looking made the directory")
	}
}

func TestCommandsOverTheDirectory(t *testing.T) {
	leftToWhole(t)
	useCommands(t, newShell(t))
}

// TestCommandsOverTheSocket has another command hold the directory.
func TestCommandsOverTheSocket(t *testing.T) {
	s := newShell(t)
	holder := &app{env: fakeEnv(s.env)}
	cfg, err := load(settings{}, setting{}, holder.env, false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := holder.openDirectory(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	useCommands(t, s)
	if err := c.close(); err != nil {
		t.Error(err)
	}
	if out := s.must("memories", "list", "--state", "archived"); !strings.Contains(out, "Oslo") {
		t.Errorf("what was written over the socket isn't there afterwards: %s", out)
	}
}
