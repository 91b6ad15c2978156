package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hindsight/internal/freeport"
)

// benchProcess is a server of the benchmark, in a process of its own.
type benchProcess struct {
	cmd    *exec.Cmd // nil: none was started for it
	url    string
	admin  string // Hindsight's management API
	dir    string // made for it, goes with it
	gentle bool   // it ends by itself when it is asked to
}

func (p *benchProcess) pid() int {
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// own starts this binary once more, listening on a free port.
func (b *benchStack) own(ctx context.Context, env []string, args ...string) (*benchProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	return b.run(ctx, address, env, append([]string{self}, append(args, "--listen", address)...)...)
}

// run starts a server and waits until it accepts connections.
func (b *benchStack) run(ctx context.Context, address string, env []string, command ...string) (*benchProcess, error) {
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // stop ends it
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	p := &benchProcess{cmd: cmd, url: "http://" + address}
	b.running = append(b.running, p)
	var d net.Dialer
	return p, until(ctx, command[0]+" accepts no connection", func() bool {
		c, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = c.Close() // nothing was said on it
		}
		return err == nil
	})
}

// stop ends the process; more than once is as good as once.
func (p *benchProcess) stop() {
	if p.cmd == nil || p.cmd.ProcessState != nil {
		return
	}
	if p.gentle {
		late := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
		defer late.Stop()
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
	} else {
		_ = p.cmd.Process.Kill()
	}
	_ = p.cmd.Wait() // its exit code says nothing
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// journalled is how many exchanges the server has written, by its own metric,
// once that stands still.
func (p *benchProcess) journalled(ctx context.Context) (int, error) {
	last := -1
	for {
		n, err := p.metric(ctx, journalledMetric)
		if err != nil {
			return 0, err
		}
		if n == last {
			return n, nil
		}
		last = n
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return n, err
		}
	}
}

// journalledMetric counts the ended exchanges that are on disk.
const journalledMetric = "hindsight_journal_exchanges_total"

// metric is one of the server's figures.
func (p *benchProcess) metric(ctx context.Context, name string) (int, error) {
	v, n, err := p.metrics(ctx, name+" ")
	if err == nil && n == 0 {
		err = fmt.Errorf("no metric %s", name)
	}
	return int(v), err
}

// metrics sums the server's figures whose lines begin so, and counts them.
func (p *benchProcess) metrics(ctx context.Context, begin string) (sum float64, n int, err error) {
	raw, err := fetch(ctx, http.MethodGet, p.admin+"/metrics", benchToken)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, begin) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read the metrics: %w", err)
		}
		sum, n = sum+v, n+1
	}
	return sum, n, nil
}
