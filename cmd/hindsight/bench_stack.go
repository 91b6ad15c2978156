package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"hindsight/store"
	"hindsight/store/badgerdb"
)

const (
	benchUser  = "bench"
	benchToken = "benchmark-admin-token"
)

// What the benchmark's memories and questions are made of.
var (
	benchThings = []string{"billing", "search", "login", "report", "mail", "upload", "invoice", "gateway", "queue", "export", "metrics", "backup"}
	benchPlaces = []string{"staging", "production", "Oslo", "Berlin", "the lab", "the test cluster", "Shanghai", "the old data centre"}
)

// benchStack is the processes of one benchmark.
type benchStack struct {
	procs                           []*exec.Cmd
	dir                             string
	upstream, reverse, proxy, admin string
}

func startBench(ctx context.Context, memories int) (_ *benchStack, err error) {
	b := &benchStack{}
	defer func() {
		if err != nil {
			b.stop()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "hindsight-bench"); err != nil {
		return nil, fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	if err := fillBench(ctx, b.dir, memories); err != nil {
		return nil, err
	}
	var up, rev, proxy, admin string
	for _, a := range []*string{&up, &rev, &proxy, &admin} {
		if *a, err = anyAddress(); err != nil {
			return nil, err
		}
	}
	b.upstream, b.reverse, b.proxy, b.admin = "http://"+up, "http://"+rev, "http://"+proxy, "http://"+admin
	if err := b.run(nil, "bench", "upstream", "--listen", up); err != nil {
		return nil, err
	}
	if err := b.run(nil, "bench", "reverse-proxy", "--listen", rev, "--to", b.upstream); err != nil {
		return nil, err
	}
	if err := b.run([]string{
		"LLM_API_BASE=" + b.upstream + "/v1", "HINDSIGHT_REFLECT_MODEL=rules", "HINDSIGHT_DATA_DIR=" + b.dir, "HINDSIGHT_TENANT=bench",
		"HINDSIGHT_LISTEN=" + proxy, "HINDSIGHT_ADMIN_LISTEN=" + admin, "HINDSIGHT_ADMIN_TOKEN=" + benchToken, "HINDSIGHT_LOG_LEVEL=error",
	}, "serve"); err != nil {
		return nil, err
	}
	return b, b.ready(ctx, up, rev)
}

// run starts this binary once more.
func (b *benchStack) run(env []string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	cmd := exec.Command(self, args...) //nolint:noctx // stop ends it
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	b.procs = append(b.procs, cmd)
	return nil
}

func (b *benchStack) stop() {
	for _, p := range b.procs {
		_ = p.Process.Kill() // gone already is as good
		_ = p.Wait()         // killed: its exit code says nothing
	}
	_ = os.RemoveAll(b.dir)
}

func (b *benchStack) ready(ctx context.Context, listeners ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var d net.Dialer
	up := func() bool {
		for _, a := range listeners {
			c, err := d.DialContext(ctx, "tcp", a)
			if err != nil {
				return false
			}
			_ = c.Close()
		}
		body, err := fetch(ctx, http.MethodGet, b.admin+"/readyz", "")
		return err == nil && strings.Contains(string(body), `"memory":"on"`)
	}
	for !up() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the benchmark's servers aren't up after 20 s")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// journalled is how many exchanges `serve` has written, by its own metric,
// once that stands still.
func (b *benchStack) journalled(ctx context.Context) (int, error) {
	last := -1
	for {
		n, err := b.metric(ctx, journalledMetric)
		if err != nil {
			return 0, err
		}
		if n == last {
			return n, nil
		}
		last = n
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (b *benchStack) metric(ctx context.Context, name string) (int, error) {
	body, err := fetch(ctx, http.MethodGet, b.admin+"/metrics", benchToken)
	if err != nil {
		return 0, err
	}
	for sc := bufio.NewScanner(strings.NewReader(string(body))); sc.Scan(); {
		if v, ok := strings.CutPrefix(sc.Text(), name+" "); ok {
			f, err := strconv.ParseFloat(v, 64)
			return int(f), err
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// journalledMetric counts the ended exchanges that are on disk.
const journalledMetric = "hindsight_journal_exchanges_total"

// anyAddress is a loopback address with a port that is free now.
func anyAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// fillBench writes the memories that recall will look through.
func fillBench(ctx context.Context, dir string, n int) error {
	st, err := badgerdb.New(badgerdb.Config{Dir: dir})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- st.Run(ctx) }()
	defer func() { cancel(); <-done }()
	if err := st.Ready(ctx); err != nil {
		return err
	}
	for i := range n {
		text := fmt.Sprintf("The %s service in %s listens on port %d and is restarted by script %d.",
			benchThings[i%len(benchThings)], benchPlaces[i/len(benchThings)%len(benchPlaces)], 1024+i, i)
		if _, _, err := st.PutMemory(ctx, store.Memory{
			Tenant: "bench", Scope: store.UserScope(benchUser), Type: store.UserFact, Text: text,
			Importance: 0.7, Confidence: 1, AttributedTo: store.ByUser,
		}); err != nil {
			return fmt.Errorf("write the benchmark's memories: %w", err)
		}
	}
	return nil
}
