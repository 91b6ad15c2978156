// Package weaviateserver runs a Weaviate of one's own for tests and benchmarks: its
// own directory, its own ports, and whatever may happen to a server: it stops, is
// killed, hangs, comes back.
package weaviateserver

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hindsight/internal/freeport"
)

// Server is one Weaviate. It isn't safe for concurrent use.
type Server struct {
	URL  string // http://127.0.0.1:port
	GRPC string // 127.0.0.1:port

	program string
	dir     string
	extra   []string // environment
	ports   [6]int
	cmd     *exec.Cmd
	done    chan struct{} // closed when cmd has ended
}

// Prepare chooses ports for a server over a directory, which may hold another's
// data, and starts nothing. extra are settings of its environment, KEY=value.
func Prepare(program, dir string, extra ...string) (*Server, error) {
	s := &Server{program: program, dir: dir, extra: extra}
	base, err := freeport.Row(len(s.ports)) // its nodes find each other only where the ports lie as they do by default
	if err != nil {
		return nil, err
	}
	for i := range s.ports {
		s.ports[i] = base + i
	}
	s.URL = "http://127.0.0.1:" + strconv.Itoa(s.ports[0])
	s.GRPC = "127.0.0.1:" + strconv.Itoa(s.ports[1])
	return s, nil
}

// readyIn is how long a server may take to be ready on a busy machine.
const readyIn = 90 * time.Second

// Start runs the server and waits until it is ready.
func (s *Server) Start() error {
	if err := s.Launch(); err != nil {
		return err
	}
	for end := time.Now().Add(readyIn); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		select {
		case <-s.done:
			return fmt.Errorf("weaviate ended:\n%s", s.Log(2000))
		default:
		}
		if s.ready() {
			return nil
		}
	}
	return fmt.Errorf("weaviate wasn't ready after %s:\n%s", readyIn, s.Log(2000))
}

func (s *Server) ready() bool {
	c := http.Client{Timeout: time.Second}
	res, err := c.Get(s.URL + "/v1/.well-known/ready") //nolint:noctx // a second at most
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// Launch runs the server and doesn't wait.
func (s *Server) Launch() error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open weaviate's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	port := strconv.Itoa
	s.cmd = exec.Command(s.program, "--host", "127.0.0.1", "--port", port(s.ports[0]), "--scheme", "http") //nolint:gosec,noctx // the caller's own server
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir,
		"PERSISTENCE_DATA_PATH=" + filepath.Join(s.dir, "data"), "DEFAULT_VECTORIZER_MODULE=none", "ENABLE_MODULES=",
		"AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "AUTOSCHEMA_ENABLED=false", "DISABLE_TELEMETRY=true", "LOG_LEVEL=warning",
		"CLUSTER_HOSTNAME=node1", "CLUSTER_ADVERTISE_ADDR=127.0.0.1", "CLUSTER_IN_LOCALHOST=true", "RAFT_BOOTSTRAP_EXPECT=1",
		"GRPC_PORT=" + port(s.ports[1]), "CLUSTER_GOSSIP_BIND_PORT=" + port(s.ports[2]), "CLUSTER_DATA_BIND_PORT=" + port(s.ports[3]),
		"RAFT_PORT=" + port(s.ports[4]), "RAFT_INTERNAL_RPC_PORT=" + port(s.ports[5]), "RAFT_JOIN=node1:" + port(s.ports[4]),
	}, s.extra...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start weaviate: %w", err)
	}
	s.done = make(chan struct{})
	cmd, done := s.cmd, s.done
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	return nil
}

// Kill ends the server without a word, as a crash does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Stop has the server end in order.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

func (s *Server) end(sig syscall.Signal) {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Signal(sig)
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}

// Descriptors counts the files and connections that the server has open.
func (s *Server) Descriptors() (int, error) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	return len(list), err
}

// Resident is the server's memory in bytes.
func (s *Server) Resident() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// Pid is the server's process.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Dir is the directory that it was prepared over; its data lies there, its log
// beside it.
func (s *Server) Dir() string { return s.dir }

func (s *Server) log() string { return filepath.Join(s.dir, "weaviate.log") }

// Log is the end of what the server said.
func (s *Server) Log(n int) string {
	b, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-n):])
}
