// Package kill runs the real binary under load, kills it with -9 at random
// moments, starts it again on the same directory and checks from outside what
// survived: every exchange that had finished more than 250 ms before the kill,
// each session's effect once, blocks that are replayed byte for byte, memories
// that are found where they are listed. [Run] is the whole harness; [Keyless] is
// a kill at a moment of its own. With a binary of [Power] each kill is a power
// loss. [Faults] are what the harness must find.
package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/internal/freeport"
)

// Config says what to kill and how often.
type Config struct {
	Command []string // the binary and what comes before "serve"'s own flags
	Env     []string // added to the child's environment
	Dir     string   // the data directory, kept over all rounds
	Synced  string   // where a binary of [Power] keeps what is synced; each kill is then a power loss
	Rounds  int
	Seed    uint64
	Workers int
	// Least and Most bound the random time from start of load to the kill.
	Least, Most time.Duration
	// Weaviate is the program of its server; empty: there is no outbox.
	Weaviate string
	Log      io.Writer
}

// Report says what was done and what was missing. Faults are empty when
// everything held.
type Report struct {
	Seed        uint64   `json:"seed"`
	Rounds      int      `json:"rounds"`
	Starved     int      `json:"starved"`     // of those, before whose kill the machine itself stalled: there only what was seen recorded is owed
	Finished    int      `json:"finished"`    // exchanges whose last byte a client had read
	Owed        int      `json:"owed"`        // of those, finished 250 ms before the kill or seen recorded
	Sessions    int      `json:"sessions"`    // with at least one owed exchange
	Reflections int      `json:"reflections"` // that are done at the end
	Amid        int      `json:"amid"`        // of those, done among the kills
	Facts       int      `json:"facts"`       // taught in owed exchanges
	Memories    int      `json:"memories"`    // found at the end, each by a search too
	Groups      int      `json:"groups"`      // of five events, written to be consolidated
	Merged      int      `json:"merged"`      // of those, one memory at the end
	Corrections int      `json:"corrections"` // sessions that gave a new value to what a user has one of
	Replayed    int      `json:"replayed"`    // turns after a kill whose earlier messages held the same blocks
	Delivered   int      `json:"delivered"`   // memories that Weaviate has, in the same form; 0 without one
	Faults      []string `json:"faults"`      // what did not hold

	mu sync.Mutex
}

func (r *Report) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Settled is how long before a kill an exchange must have finished to be owed.
const Settled = 250 * time.Millisecond

const token = "kill-harness-token"

// run is one use of the harness.
type run struct {
	cfg      Config
	upstream string
	ears     *ears
	told     told
	talks    talks
	lives    []*lived
	rep      *Report
}

// Run plays the rounds. The error is for the harness's own trouble; what the
// binary did wrong stands in the report.
func Run(ctx context.Context, cfg Config) (rep *Report, err error) {
	rng := rand.New(rand.NewPCG(cfg.Seed, 1))
	r := &run{cfg: cfg, ears: &ears{heard: map[string][]string{}}, told: told{seen: map[string]bool{}}, rep: &Report{Seed: cfg.Seed, Rounds: cfg.Rounds, Faults: []string{}}}
	upstream, stop, err := fakellm.New(fakellm.Config{Record: r.ears.record}).Start("127.0.0.1:0")
	if err != nil {
		return r.rep, fmt.Errorf("start the scripted model: %w", err)
	}
	defer stop()
	r.upstream = upstream
	shared, err := Share(&r.cfg)
	if err != nil {
		return r.rep, err
	}
	defer shared.End()
	for round := range cfg.Rounds {
		after := cfg.Least + time.Duration(rng.Int64N(int64(cfg.Most-cfg.Least)))
		fmt.Fprintf(cfg.Log, "round %d of %d: kill after %s\n", round+1, cfg.Rounds, after.Round(time.Millisecond))
		err := r.round(ctx, round, after)
		if round > 0 && errors.Is(err, errNotUp) {
			r.rep.fault("after %d kills: %v", round, err)
			return r.rep, nil // there is nothing to go on with
		}
		if err != nil {
			return r.rep, fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	fmt.Fprintln(cfg.Log, "last start: every session is reflected, then everything is compared")
	c, err := Start(ctx, r.cfg, upstream)
	if errors.Is(err, errNotUp) {
		r.rep.fault("after the last kill: %v", err)
		return r.rep, nil
	}
	if err != nil {
		return r.rep, err
	}
	defer c.Kill()
	if err := r.compare(ctx, c); err != nil {
		return r.rep, err
	}
	return r.rep, shared.compare(ctx, c, r)
}

// round starts the binary, checks what the last kill was in the middle of, and
// has all the load on it until the kill.
func (r *run) round(ctx context.Context, round int, after time.Duration) error {
	c, err := Start(ctx, r.cfg, r.upstream)
	if err != nil {
		return err
	}
	if round > 0 {
		if _, err := r.lives[round-1].check(ctx, c, r.rep); err != nil {
			c.Kill()
			return err
		}
	}
	life := &lived{user: fmt.Sprintf("life%d", round), groups: map[string][]string{}}
	r.lives = append(r.lives, life)
	load, stop := context.WithCancel(ctx)
	work := []func() error{
		func() error { return life.gather(load, c) },
		func() error { return life.move(load, c) },
		func() error { return r.goOn(load, c, round) },
	}
	for w := range r.cfg.Workers {
		work = append(work, func() error { return talk(load, c, fmt.Sprintf("r%dw%d", round, w), &r.told) })
	}
	errs := make([]error, len(work))
	var slow stalls
	var all sync.WaitGroup
	for i, do := range work {
		all.Go(func() {
			if err := do(); err != nil && ctx.Err() == nil && !childGone(c) { // else the kill has come: its error is what was wanted
				errs[i] = err
			}
		})
	}
	all.Go(func() { slow.watch(load) })
	wait(ctx, after)
	killed := time.Now()
	c.Kill()
	stop()
	all.Wait()
	late := slow.before(killed)
	if late {
		r.rep.Starved++
	}
	r.told.owe(killed, late || r.cfg.Synced != "")
	r.talks.owe(killed, late || r.cfg.Synced != "")
	return errors.Join(append(errs, r.cfg.lose())...)
}

// wait waits unless the context ends before.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Child is one run of the binary.
type Child struct {
	Proxy, Admin string // URLs
	cmd          *exec.Cmd
	exited       chan struct{}
}

// errNotUp is a binary that doesn't come up, or not with its memory.
var errNotUp = errors.New("the binary isn't up")

// Start runs the binary on the directory and waits until its memory is on.
func Start(ctx context.Context, cfg Config, upstream string) (*Child, error) {
	listen, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	copied, err := cfg.syncedTo()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(cfg.Command[0], append(cfg.Command[1:], "serve")...) //nolint:noctx // the harness kills it, at its own moment
	cmd.Env = append(os.Environ(),
		"LLM_API_BASE="+upstream, "LLM_API_KEY=sk-kill", "HINDSIGHT_TENANT=kill",
		"HINDSIGHT_DATA_DIR="+cfg.Dir, "HINDSIGHT_LISTEN="+listen, "HINDSIGHT_ADMIN_LISTEN="+admin,
		"HINDSIGHT_ADMIN_TOKEN="+token, "HINDSIGHT_SESSION_IDLE=1s", "HINDSIGHT_SESSION_PER_HOUR=0", "HINDSIGHT_LOG_LEVEL=error",
		"HINDSIGHT_RECALL_DEADLINE=10s", // a turn that recall is too late for is unknown to the store
		"HINDSIGHT_REFLECT_MODEL="+fakellm.Model,
		"HINDSIGHT_REFLECT_BUDGET_LEAST=1000000000") // what rules keep, once it is spent, has other words
	cmd.Env = slices.Concat(cmd.Env, cfg.Env, copied) // the last of a name counts
	cmd.Stdout, cmd.Stderr = cfg.Log, cfg.Log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the binary: %w", err)
	}
	c := &Child{cmd: cmd, Proxy: "http://" + listen, Admin: "http://" + admin, exited: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(c.exited) }() // killed: its exit code says nothing
	for deadline := time.Now().Add(20 * time.Second); ; {
		if body, err := get(ctx, c.Admin+"/readyz"); err == nil && memoryOn(body) {
			return c, nil
		}
		if time.Now().After(deadline) {
			c.Kill()
			return nil, fmt.Errorf("%w: memory isn't on after 20 s", errNotUp)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-c.exited:
			return nil, fmt.Errorf("%w: exit code %d", errNotUp, cmd.ProcessState.ExitCode())
		case <-ctx.Done():
			c.Kill()
			return nil, ctx.Err()
		}
	}
}

// PID is its process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Kill is the kernel's -9: nothing in the child gets to run.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // gone already is as good
	<-c.exited
}

func get(ctx context.Context, url string) ([]byte, error) {
	return Call(ctx, http.MethodGet, url, nil, nil)
}
