package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"hindsight/internal/bench"
	"hindsight/store/badgerdb"
)

// waits are figures of what a person waits for, over many memories in one scope.
type waits struct {
	memories int
	embedder string
	each     string // what a row is of, as it is called in what is printed: call, page
	times    string // how its repetitions are called there
	until    string // what is timed
	rows     []waited
}

// waited is one kind of call, in milliseconds.
type waited struct {
	kind           string
	times          int
	p50, p95, most float64
}

// kindOfCall is made again and again; n tells its repetitions apart.
type kindOfCall struct {
	name string
	call func(ctx context.Context, n int) error
}

// fillOneScope makes a data directory with a scope of so many memories.
func (a *app) fillOneScope(ctx context.Context, cfg badgerdb.Config, memories int, embedder string) error {
	shown := a.long(fmt.Sprintf("filling a scope of %d memories", memories), 0)
	defer shown.end()
	return onStore(ctx, cfg, func(ctx context.Context, st *badgerdb.Store) error {
		return fillScopes(ctx, st, shown, 1, memories, embedder)
	})
}

// askedForPort is the n-th question about what scopeMemories says.
func askedForPort(n int) string {
	return fmt.Sprintf("Which port does the %s service in %s listen on?", bench.Things[n%len(bench.Things)], bench.Places[n%len(bench.Places)])
}

// measure makes each call once, when nothing is ready for it yet, and then all of
// them in turn, so many times.
func (w *waits) measure(ctx context.Context, a *app, kinds []kindOfCall, times int) error {
	took := make([][]time.Duration, len(kinds))
	shown := a.long(w.each+"s", (times+1)*len(kinds))
	defer shown.end()
	for n := range times + 1 {
		for i, k := range kinds {
			began := time.Now()
			if err := k.call(ctx, n); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			if n > 0 {
				took[i] = append(took[i], time.Since(began))
			}
			shown.at(n*len(kinds) + i + 1)
		}
	}
	for i, all := range took {
		slices.Sort(all)
		ms := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1)+0.5)]) / 1e6 }
		w.rows = append(w.rows, waited{kinds[i].name, len(all), ms(0.5), ms(0.95), ms(1)})
	}
	return nil
}

// report prints the rows. The error says which kind takes longer than it may.
func (w *waits) report(a *app, within time.Duration) error {
	if err := w.print(a); err != nil {
		return err
	}
	for _, r := range w.rows {
		if r.p95 > float64(within)/1e6 {
			return &failure{wrong: fmt.Sprintf("%s takes %.0f ms at the 95th percentile, more than %v", r.kind, r.p95, within)}
		}
	}
	return nil
}

func (w *waits) print(a *app) error {
	if a.json {
		rows := make([]map[string]any, len(w.rows))
		for i, r := range w.rows {
			rows[i] = map[string]any{w.each: r.kind, w.times: r.times, "p50_ms": r.p50, "p95_ms": r.p95, "most_ms": r.most}
		}
		return a.printJSON(map[string]any{"machine": bench.Machine(), "memories": w.memories, "embedder": w.embedder, w.each + "s": rows})
	}
	if err := a.say("%s; %d memories in one scope, embedder %s; %s", bench.Machine(), w.memories, w.embedder, w.until); err != nil {
		return err
	}
	cells := make([][]string, len(w.rows))
	ms := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	for i, r := range w.rows {
		cells[i] = []string{r.kind, strconv.Itoa(r.times), ms(r.p50), ms(r.p95), ms(r.most)}
	}
	return a.printTable([]string{w.each, w.times, "p50", "p95", "most"}, -1, cells)
}
