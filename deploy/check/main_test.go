// Package check holds what is under deploy, the Dockerfile and the compose file
// against the programs that read them, as far as that goes without a container
// engine or a cluster: it parses with their own libraries, decodes strictly into
// their own types, runs the image's steps by hand, and asks a real server for
// its settings and metrics. It is a module of its own, so that the product's
// doesn't carry Helm, Kubernetes and Prometheus.
package check

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// root is the repository.
const root = "../.."

// fakellmd is the scripted model server, set by TestMain.
var fakellmd string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hindsight-deploy")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fakellmd = filepath.Join(dir, "fakellmd")
	code := 1
	if build("make", "-s", "build") && build("go", "build", "-o", fakellmd, "./internal/fakellm/fakellmd") {
		code = m.Run()
	}
	_ = os.RemoveAll(dir) // it is temporary
	os.Exit(code)
}

func build(name string, args ...string) bool {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return err == nil
}

// binary is bin/hindsight as `make build` has just made it.
func binary(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "bin", "hindsight"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// freeAddress is below the ports that the kernel gives to outgoing connections.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 200 {
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(10000+rand.IntN(20000))))
		if err == nil {
			defer ln.Close()
			return ln.Addr().String()
		}
	}
	t.Fatal("no free port in 200 tries")
	return ""
}

// until polls a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 30 s: %s", what)
		}
	}
}

// scripted starts the scripted model and returns its base URL.
func scripted(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(fakellmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // its sign to stop
		_ = cmd.Wait()
	})
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(base)
}

// process is a started command whose output is kept.
type process struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// start runs cmd until the test ends; it must stop on SIGTERM with code 0.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd}
	cmd.Stdout, cmd.Stderr = p, p
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s ended with %v:\n%s", cmd.Path, err, p.output())
			}
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			t.Errorf("%s doesn't stop:\n%s", cmd.Path, p.output())
		}
	})
	return p
}

func get(t *testing.T, url string) (int, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, b
}

// settings are the environment variables that `hindsight serve` has.
func settings(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.Command(binary(t), "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$([A-Z][A-Z0-9_]+)`).FindAllSubmatch(out, -1) {
		known[string(m[1])] = true
	}
	known["HINDSIGHT_CONFIG"] = true
	if len(known) < 40 || !known["LLM_API_BASE"] || !known["HINDSIGHT_TENANT"] {
		t.Fatalf("serve --help shows %d settings: %v", len(known), known)
	}
	return known
}

// ours says whether a variable is meant for Hindsight.
func ours(name string) bool {
	for _, p := range []string{"HINDSIGHT_", "LLM_", "VECTOR_DB_", "MEMORY_", "WEAVIATE_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
