package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"hindsight/internal/bench"
	"hindsight/store/badgerdb"
)

type benchRecallCmd struct {
	Memories  int           `default:"10000" help:"Memories in a scope."`
	Embedder  string        `default:"builtin" enum:"none,builtin" help:"builtin: by meaning too; none: by words alone."`
	Starts    int           `default:"20" help:"How often the server is started and asked once."`
	After     time.Duration `default:"5s" help:"How long after its start it is asked."`
	Evictions int           `default:"200" help:"How often a scope is asked that others have driven out of memory."`
	Idle      time.Duration `default:"30s" help:"How long after a start and one recall a server's memory is read."`
	Scopes    int           `default:"10000" help:"Scopes that are asked, one after the other, of one server by words alone."`
	Each      int           `default:"20" help:"Memories in each of these."`
}

// recallReport is what one run has found.
type recallReport struct {
	Machine    string            `json:"machine"`
	Memories   int               `json:"memories"`
	Embedder   string            `json:"embedder"`
	Firsts     []recallRow       `json:"first_recalls"`
	Footprints []bench.Footprint `json:"memory,omitempty"`
	Touched    *touchedScopes    `json:"scopes,omitempty"`
}

// recallRow is one kind of first recall, in milliseconds of the whole request.
type recallRow struct {
	When   string  `json:"when"`
	Asked  int     `json:"asked"`
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
	Most   float64 `json:"most_ms"`
	CPU    float64 `json:"cpu_ms"`  // of the server's process, on average
	InTime int     `json:"in_time"` // by words and meaning, inside the deadline
	Loads  int     `json:"loads"`   // scopes that were loaded for them, none analysed anew
}

// touchedScopes is the memory of a server that has looked through many scopes.
type touchedScopes struct {
	Scopes   int   `json:"scopes"`
	Each     int   `json:"memories_each"`
	Held     int   `json:"scopes_held"`
	Index    int   `json:"index_bytes"`
	Budget   int   `json:"index_budget_bytes"`
	Before   int64 `json:"rss_anon_before"`
	RssAnon  int64 `json:"rss_anon_after"`
	Missed   int   `json:"missed_deadline"`
	Analysed int   `json:"loads"`
}

// Run fills data directories and starts servers on them.
func (cmd *benchRecallCmd) Run(ctx context.Context, a *app) error {
	if cmd.Memories < 1 {
		return &failure{wrong: "--memories: want 1 or more", code: exitUsage}
	}
	b, err := newBench(ctx, cmd.Embedder)
	if err != nil {
		return err
	}
	defer b.stop()
	b.shown = a.long("recall", 0)
	defer b.shown.end()
	r := &recallReport{Machine: bench.Machine(), Memories: cmd.Memories, Embedder: cmd.Embedder}
	if cmd.Starts > 0 || cmd.Evictions > 0 || cmd.Idle > 0 {
		if err := cmd.firsts(ctx, b, r); err != nil {
			return err
		}
	}
	if cmd.Scopes > 0 {
		if err := cmd.touch(ctx, b, r); err != nil {
			return err
		}
	}
	b.shown.end()
	if a.json {
		return json.NewEncoder(a.out).Encode(r)
	}
	_, err = fmt.Fprint(a.out, r.markdown())
	return err
}

// users is how many scopes of so many memories never fit into the index's budget
// but for one or two, so that asking them in turn finds none of them loaded.
func (cmd *benchRecallCmd) users() int {
	if cmd.Embedder == "none" {
		return 12
	}
	return 5
}

func (cmd *benchRecallCmd) firsts(ctx context.Context, b *benchStack, r *recallReport) error {
	dir := filepath.Join(b.dir, "large")
	b.shown.doing("filling %d scopes of %d memories", cmd.users(), cmd.Memories)
	if err := onStore(ctx, badgerdb.Config{Dir: dir}, func(ctx context.Context, st *badgerdb.Store) error {
		return fillScopes(ctx, st, b.shown, cmd.users(), cmd.Memories, cmd.Embedder)
	}); err != nil {
		return err
	}
	if cmd.Starts > 0 {
		if err := cmd.starts(ctx, b, dir, r); err != nil {
			return err
		}
	}
	if cmd.Evictions > 0 {
		if err := cmd.evictions(ctx, b, dir, r); err != nil {
			return err
		}
	}
	if cmd.Idle > 0 {
		return cmd.idle(ctx, b, dir, r)
	}
	return nil
}

// starts asks a server once, some time after its start, and ends it.
func (cmd *benchRecallCmd) starts(ctx context.Context, b *benchStack, dir string, r *recallReport) error {
	var all firstRecalls
	for n := range cmd.Starts {
		b.shown.doing("start %d of %d", n+1, cmd.Starts)
		begun := time.Now()
		p, err := b.serveOn(ctx, dir)
		if err != nil {
			return err
		}
		if err := wait(ctx, time.Until(begun.Add(cmd.After))); err != nil {
			return err
		}
		err = all.ask(ctx, p, n, n%cmd.users())
		if err == nil {
			err = all.count(ctx, p)
		}
		p.stop()
		if err != nil {
			return err
		}
	}
	r.Firsts = append(r.Firsts, all.row(fmt.Sprintf("%s after a start", cmd.After)))
	return nil
}

// evictions asks scopes in turn, of which each was driven out by the others.
func (cmd *benchRecallCmd) evictions(ctx context.Context, b *benchStack, dir string, r *recallReport) error {
	p, err := b.serveOn(ctx, dir)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := wait(ctx, cmd.After); err != nil {
		return err
	}
	var all firstRecalls
	for n := range cmd.Evictions {
		b.shown.doing("eviction %d of %d", n+1, cmd.Evictions)
		if err := all.ask(ctx, p, n, n%cmd.users()); err != nil {
			return err
		}
	}
	if err := all.count(ctx, p); err != nil {
		return err
	}
	r.Firsts = append(r.Firsts, all.row("after an eviction"))
	return nil
}

// idle reads the memory of a server some time after its start, once before and
// once after it is asked.
func (cmd *benchRecallCmd) idle(ctx context.Context, b *benchStack, dir string, r *recallReport) error {
	b.shown.doing("an idle server, for %s", cmd.Idle)
	begun := time.Now()
	p, err := b.serveOn(ctx, dir)
	if err != nil {
		return err
	}
	defer p.stop()
	name := fmt.Sprintf("hindsight, embedder %s, %d memories", cmd.Embedder, cmd.Memories)
	states := []bench.Footprint{{State: fmt.Sprintf("%s after start, not asked", cmd.Idle), Target: name}, {State: "after one recall, as long again", Target: name}}
	if err := wait(ctx, time.Until(begun.Add(cmd.Idle))); err != nil {
		return err
	}
	states[0].Add(bench.RssAnon(p.pid()))
	var all firstRecalls
	if err := all.ask(ctx, p, 0, 0); err != nil {
		return err
	}
	if err := wait(ctx, cmd.Idle); err != nil {
		return err
	}
	states[1].Add(bench.RssAnon(p.pid()))
	r.Footprints = append(r.Footprints, states...)
	return nil
}

// touch asks many small scopes of one server.
func (cmd *benchRecallCmd) touch(ctx context.Context, b *benchStack, r *recallReport) error {
	dir := filepath.Join(b.dir, "many")
	b.shown.doing("filling %d scopes of %d memories", cmd.Scopes, cmd.Each)
	if err := onStore(ctx, badgerdb.Config{Dir: dir}, func(ctx context.Context, st *badgerdb.Store) error {
		return fillScopes(ctx, st, b.shown, cmd.Scopes, cmd.Each, "none")
	}); err != nil {
		return err
	}
	words := *b
	words.embedder = "none"
	p, err := words.serveOn(ctx, dir)
	if err != nil {
		return err
	}
	defer p.stop()
	t := &touchedScopes{Scopes: cmd.Scopes, Each: cmd.Each, Budget: indexBudget, Before: bench.RssAnon(p.pid())}
	var all firstRecalls
	for n := range cmd.Scopes {
		if n%100 == 0 {
			b.shown.doing("scope %d of %d", n, cmd.Scopes)
		}
		if err := all.ask(ctx, p, n, n); err != nil {
			return err
		}
	}
	t.RssAnon, t.Missed = bench.RssAnon(p.pid()), len(all.took)-all.inTime
	for name, to := range map[string]*int{"hindsight_index_bytes": &t.Index, "hindsight_index_scopes": &t.Held, `hindsight_index_loads_total{from="memories"}`: &t.Analysed} {
		if *to, err = p.metric(ctx, name); err != nil {
			return err
		}
	}
	r.Touched = t
	return nil
}

// firstRecalls are requests whose recall finds its scope unloaded.
type firstRecalls struct {
	took   []time.Duration
	cpu    time.Duration
	inTime int
	loads  int
}

// ask asks one user's memories what they can answer.
func (f *firstRecalls) ask(ctx context.Context, p *benchProcess, n, user int) error {
	body := strings.NewReader(string(bench.Small()(n, nil)))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+benchChat, body)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header = http.Header{"Hindsight-User": {scopeUser(user)}, "Authorization": {"Bearer sk-bench"}, "Content-Type": {"application/json"}}
	used, start := bench.CPU(p.pid()), time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask through the server: %w", err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	f.took = append(f.took, time.Since(start))
	f.cpu += bench.CPU(p.pid()) - used
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("ask through the server: %w", err)
	}
	if status := resp.Header.Get("Hindsight-Status"); status == "injected" || status == "none" {
		f.inTime++
	}
	return nil
}

// count takes the server's word for what was loaded, and that nothing was analysed.
func (f *firstRecalls) count(ctx context.Context, p *benchProcess) error {
	n, err := p.metric(ctx, `hindsight_index_loads_total{from="snapshot"}`)
	f.loads += n
	return err
}

func (f *firstRecalls) row(when string) recallRow {
	slices.Sort(f.took)
	at := func(share float64) float64 {
		return float64(f.took[min(len(f.took)-1, int(share*float64(len(f.took))))]) / float64(time.Millisecond)
	}
	return recallRow{When: when, Asked: len(f.took), P50: at(0.5), P99: at(0.99), Most: at(1), InTime: f.inTime, Loads: f.loads,
		CPU: float64(f.cpu) / float64(time.Millisecond) / float64(len(f.took)),
	}
}

func (r *recallReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; scopes of %d memories, embedder %s.\n\n", r.Machine, r.Memories, r.Embedder)
	if len(r.Firsts) > 0 {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"first recall", "asked", "p50 ms", "p99 ms", "most ms", "CPU ms", "in the deadline", "loads from snapshots"})
		for _, x := range r.Firsts {
			t.AppendRow(table.Row{x.When, x.Asked, fmt.Sprintf("%.1f", x.P50), fmt.Sprintf("%.1f", x.P99), fmt.Sprintf("%.1f", x.Most), fmt.Sprintf("%.1f", x.CPU),
				fmt.Sprintf("%.1f %%", 100*float64(x.InTime)/float64(x.Asked)), x.Loads})
		}
		b.WriteString(t.RenderMarkdown() + "\n\nTimes are of the whole request, upstream and all; CPU is the server's, on average, in steps of 10 ms.\n")
	}
	if len(r.Footprints) > 0 {
		b.WriteString("\nAnonymous memory of the process:\n\n")
		bench.PrintFootprints(&b, r.Footprints)
	}
	if t := r.Touched; t != nil {
		fmt.Fprintf(&b, "\n%d scopes of %d memories asked in turn, by words: %d held, %.1f MiB of a budget of %.0f; RssAnon %.1f MiB before, %.1f after; %d missed the deadline.\n",
			t.Scopes, t.Each, t.Held, mib(t.Index), mib(t.Budget), mib(int(t.Before)), mib(int(t.RssAnon)), t.Missed)
	}
	return b.String()
}

func mib(n int) float64 { return float64(n) / (1 << 20) }
