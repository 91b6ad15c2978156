// Package kill runs the real binary under load, kills it with -9 at random
// moments, starts it again on the same directory and checks from outside what
// survived: every exchange that had finished more than 250 ms before the kill,
// each session reflected once, no memory twice. [Run] is the whole harness;
// [Keyless] and [Life] are kills at moments of their own.
package kill

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"hindsight/internal/fakellm"
)

// Config says what to kill and how often.
type Config struct {
	Command []string // the binary and what comes before "serve"'s own flags
	Env     []string // added to the child's environment
	Dir     string   // the data directory, kept over all rounds
	Rounds  int
	Seed    uint64
	Workers int
	// Least and Most bound the random time from start of load to the kill.
	Least, Most time.Duration
	Log         io.Writer
}

// Report says what was done and what was missing. Faults are empty when
// everything held.
type Report struct {
	Seed     uint64   `json:"seed"`
	Rounds   int      `json:"rounds"`
	Finished int      `json:"finished"` // exchanges whose last byte a client had read
	Owed     int      `json:"owed"`     // of those, finished more than 250 ms before the kill
	Sessions int      `json:"sessions"` // with at least one owed exchange
	Facts    int      `json:"facts"`    // taught in owed exchanges
	Memories int      `json:"memories"` // found at the end
	Faults   []string `json:"faults"`   // what did not hold

}

// Settled is how long before a kill an exchange must have finished to be owed.
const Settled = 250 * time.Millisecond

const token = "kill-harness-token"

// Run plays the rounds. The error is for the harness's own trouble; what the
// binary did wrong stands in the report.
func Run(ctx context.Context, cfg Config) (Report, error) {
	rng := rand.New(rand.NewPCG(cfg.Seed, 1))
	model := fakellm.New(fakellm.Config{})
	upstream, stop, err := model.Start("127.0.0.1:0")
	if err != nil {
		return Report{}, fmt.Errorf("start the scripted model: %w", err)
	}
	defer stop()
	rep := Report{Seed: cfg.Seed, Rounds: cfg.Rounds, Faults: []string{}}
	all := newTold()
	for round := range cfg.Rounds {
		after := cfg.Least + time.Duration(rng.Int64N(int64(cfg.Most-cfg.Least)))
		fmt.Fprintf(cfg.Log, "round %d of %d: kill after %s\n", round+1, cfg.Rounds, after.Round(time.Millisecond))
		if err := oneRound(ctx, cfg, upstream, round, after, all); err != nil {
			return rep, fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	fmt.Fprintln(cfg.Log, "last start: every session is reflected, then everything is compared")
	child, err := start(ctx, cfg, upstream)
	if err != nil {
		return rep, err
	}
	defer child.kill()
	return rep, all.compare(ctx, child, &rep)
}

func oneRound(ctx context.Context, cfg Config, upstream string, round int, after time.Duration, all *told) error {
	child, err := start(ctx, cfg, upstream)
	if err != nil {
		return err
	}
	load, stop := context.WithCancel(ctx)
	done := make(chan error, cfg.Workers)
	for w := range cfg.Workers {
		go func() { done <- talk(load, child, fmt.Sprintf("r%dw%d", round, w), all) }()
	}
	select {
	case <-time.After(after):
	case <-ctx.Done():
	}
	killed := time.Now()
	child.kill()
	stop()
	for range cfg.Workers {
		if e := <-done; e != nil && err == nil {
			err = e
		}
	}
	all.owe(killed.Add(-Settled))
	return err
}

// child is one run of the binary.
type child struct {
	cmd          *exec.Cmd
	proxy, admin string
	exited       chan struct{}
}

func start(ctx context.Context, cfg Config, upstream string) (*child, error) {
	listen, err := freePort()
	if err != nil {
		return nil, err
	}
	admin, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(cfg.Command[0], append(cfg.Command[1:], "serve")...) //nolint:noctx // the harness kills it, at its own moment
	cmd.Env = append(os.Environ(),
		"LLM_API_BASE="+upstream, "LLM_API_KEY=sk-kill", "HINDSIGHT_TENANT=kill",
		"HINDSIGHT_DATA_DIR="+cfg.Dir, "HINDSIGHT_LISTEN="+listen, "HINDSIGHT_ADMIN_LISTEN="+admin,
		"HINDSIGHT_ADMIN_TOKEN="+token, "HINDSIGHT_SESSION_IDLE=1s", "HINDSIGHT_SESSION_PER_HOUR=0", "HINDSIGHT_LOG_LEVEL=error",
		"HINDSIGHT_REFLECT_BUDGET_LEAST=1000000000") // what rules keep, once it is spent, has other words
	cmd.Env = append(cmd.Env, cfg.Env...) // the last of a name counts
	cmd.Stdout, cmd.Stderr = cfg.Log, cfg.Log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the binary: %w", err)
	}
	c := &child{cmd: cmd, proxy: "http://" + listen, admin: "http://" + admin, exited: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(c.exited) }() // killed: its exit code says nothing
	for deadline := time.Now().Add(20 * time.Second); ; {
		if body, err := get(ctx, c.admin+"/readyz"); err == nil && memoryOn(body) {
			return c, nil
		}
		if time.Now().After(deadline) {
			c.kill()
			return nil, fmt.Errorf("%s: memory isn't on after 20 s", c.admin)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-c.exited:
			return nil, fmt.Errorf("the binary stopped at its start (exit code %d)", cmd.ProcessState.ExitCode())
		case <-ctx.Done():
			c.kill()
			return nil, ctx.Err()
		}
	}
}

// kill is the kernel's -9: nothing in the child gets to run.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // gone already is as good
	<-c.exited
}

func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String(), nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	return call(ctx, http.MethodGet, url, nil, nil)
}
