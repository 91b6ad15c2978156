package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"hindsight/internal/freeport"
)

// served is `hindsight serve` as a process of its own, in front of an upstream
// whose streams go on step by step.
type served struct {
	t            *testing.T
	cmd          *exec.Cmd
	proxy, admin string
	step         chan struct{}
	ended        chan error
}

const (
	drainFirst = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hel"}}]}` + "\n\n"
	drainRest  = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

func serveProcess(t *testing.T, env ...string) *served {
	t.Helper()
	return serveProcessTo(t, os.Stderr, env...)
}

// serveProcessTo is serveProcess with another standard error.
func serveProcessTo(t *testing.T, stderr io.Writer, env ...string) *served {
	t.Helper()
	s := &served{t: t, step: make(chan struct{}), ended: make(chan error, 1)}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, drainFirst)
		w.(http.Flusher).Flush()
		select {
		case <-s.step:
			_, _ = io.WriteString(w, drainRest)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(up.Close)
	for _, a := range []*string{&s.proxy, &s.admin} {
		var err error
		if *a, err = freeport.Address(); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self, "serve")
	s.cmd.Args[0] = "hindsight" // what the test binary is then
	s.cmd.Env = append(append(os.Environ(), "LLM_API_BASE="+up.URL+"/v1", "HINDSIGHT_DATA_DIR="+t.TempDir(), "HINDSIGHT_REFLECT_MODEL=rules",
		"HINDSIGHT_LISTEN="+s.proxy, "HINDSIGHT_ADMIN_LISTEN="+s.admin, "HINDSIGHT_LOG_LEVEL=error"), env...)
	s.cmd.Stderr = stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.until("serving", func() bool { return s.readyz() == http.StatusOK })
	return s
}

// readyz is what the management port answers to a probe, 0 for nothing.
func (s *served) readyz() int {
	resp, err := http.Get("http://" + s.admin + "/readyz")
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

func (s *served) until(what string, done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("not after 20 s: %s", what)
		}
	}
}

// stream opens a stream and reads its first event.
func (s *served) stream() *bufio.Reader {
	s.t.Helper()
	resp, err := http.Post("http://"+s.proxy+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"Hello."}]}`))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	br := bufio.NewReader(resp.Body)
	got := make([]byte, len(drainFirst))
	if _, err := io.ReadFull(br, got); err != nil || string(got) != drainFirst {
		s.t.Fatalf("the stream began as %q %v", got, err)
	}
	return br
}

func (s *served) signal() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
}

// draining waits until the process says so: not ready, nobody let in.
func (s *served) draining() {
	s.t.Helper()
	s.until("not ready", func() bool { return s.readyz() == http.StatusServiceUnavailable })
	s.until("new connections refused", func() bool {
		c, err := net.Dial("tcp", s.proxy)
		if err == nil {
			c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}

func (s *served) exit() error {
	s.t.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(20 * time.Second):
		s.t.Fatal("the process didn't end")
		return nil
	}
}

func TestStreamsEndAfterSIGTERM(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	s := serveProcess(t)
	one, two := s.stream(), s.stream()
	s.signal()
	s.draining()
	select {
	case err := <-s.ended:
		t.Fatalf("the process ended in the middle of a stream: %v", err)
	default:
	}
	for _, br := range []*bufio.Reader{one, two} {
		s.step <- struct{}{}
		if rest, err := io.ReadAll(br); err != nil || string(rest) != drainRest {
			t.Errorf("the stream ended as %q %v", rest, err)
		}
	}
	if err := s.exit(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func TestSecondSignalCuts(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	s := serveProcess(t)
	br := s.stream()
	s.signal()
	s.draining()
	s.signal()
	if rest, err := io.ReadAll(br); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended as %q %v", rest, err)
	}
	if err := s.exit(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func TestGraceIsConfigured(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	s := serveProcess(t, "HINDSIGHT_DRAIN_GRACE=1s")
	br := s.stream()
	began := time.Now()
	s.signal()
	if _, err := io.ReadAll(br); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with %v", err)
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("cut after %s", took)
	}
	if err := s.exit(); err != nil {
		t.Errorf("exit: %v", err)
	}
}
