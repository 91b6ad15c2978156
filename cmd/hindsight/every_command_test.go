package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hindsight/internal/fakellm"
	"hindsight/internal/freeport"
)

// TestEveryCommand plays the scripts of testdata/every on a directory that nobody
// holds, and with a server running on it.
func TestEveryCommand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a hundred processes")
	}
	for _, mode := range []string{"stopped", "running"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			up := httptest.NewServer(fakellm.New(fakellm.Config{}))
			t.Cleanup(up.Close)
			testscript.Run(t, testscript.Params{
				Dir: "testdata/every", RequireExplicitExec: true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("HINDSIGHT_DATA_DIR", filepath.Join(e.WorkDir, "data"))
					e.Setenv("LLM_API_BASE", up.URL+"/v1")
					e.Setenv("LLM_API_KEY", "sk-test")
					e.Setenv("HINDSIGHT_TENANT", "default") // as for a person alone, in a container too
					e.Setenv("HINDSIGHT_DEFAULT_USER", "local")
					e.Setenv("HINDSIGHT_EMBEDDER", "none")
					e.Setenv("HINDSIGHT_REFLECT_MODEL", "rules")
					e.Setenv("HINDSIGHT_TZ", "UTC")
					e.Setenv("HINDSIGHT_LISTEN", freePort(t))
					e.Setenv("HINDSIGHT_ADMIN_LISTEN", freePort(t))
					e.Setenv("HOME", e.WorkDir)
					return nil
				},
				Condition: func(cond string) (bool, error) { return cond == mode, nil },
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"ready":  ready,
					"id":     keepID,
					"damage": damage,
				},
			})
		})
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// ready waits until the server's memory is on.
func ready(ts *testscript.TestScript, _ bool, _ []string) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get("http://" + ts.Getenv("HINDSIGHT_ADMIN_LISTEN") + "/readyz")
		if err != nil {
			continue
		}
		var v struct{ Memory string }
		err = json.NewDecoder(resp.Body).Decode(&v)
		resp.Body.Close()
		if err == nil && v.Memory == "on" {
			return
		}
	}
	ts.Fatalf("the server's memory isn't on")
}

// keepID puts what a pattern's group finds in the last output into a variable.
func keepID(ts *testscript.TestScript, _ bool, args []string) {
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no %s in the output", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// damage changes a byte in the middle of a folder's last backup.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	list := backups(ts.MkAbs(args[0]))
	last := list[len(list)-1]
	b, err := os.ReadFile(last)
	ts.Check(err)
	b[len(b)/2] ^= 1
	ts.Check(os.WriteFile(last, b, 0o600))
}

// TestScriptsKnowEveryCommand names the commands that no script of testdata calls.
func TestScriptsKnowEveryCommand(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	parser, err := newParser(&commands{}, &app{out: &all, err: &all}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range leaves(parser.Model.Node) {
		path := strings.TrimSuffix(leaf.FullPath(), " now") // the default of its group
		if !strings.Contains(all.String(), "exec "+path+" ") && !strings.Contains(all.String(), "exec "+path+"\n") {
			t.Errorf("no script calls %q: add it to testdata/every or testdata/script", path)
		}
	}
}
