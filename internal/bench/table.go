package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Row is one target under one load over all rounds: median and range.
type Row struct {
	Load     string  `json:"load"`
	Target   string  `json:"target"`
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	Injected int     `json:"injected"` // answers that say that memories went up
	P50      Spread  `json:"p50_ms"`
	P99      Spread  `json:"p99_ms"`
	PerSec   Spread  `json:"requests_per_second"`
	CPU      Spread  `json:"cpu_ms_per_request"`   // of the target's process, 0 unknown
	Added    Spread  `json:"added_p50_ms"`         // against the direct target of the same round
	AddedX   float64 `json:"added_vs_yardstick"`   // ratio of median added times
	PerSecX  float64 `json:"per_sec_vs_yardstick"` // ratio of medians
}

// Spread is a figure over the rounds.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf is the spread of one value or more.
func SpreadOf(v []float64) Spread {
	s := slices.Sorted(slices.Values(v))
	return Spread{Median: s[len(s)/2], Min: s[0], Max: s[len(s)-1]}
}

// Compare runs every load against every target in interleaved rounds. The
// first target is the direct one, the second the yardstick.
func Compare(ctx context.Context, targets []Target, loads []Load, rounds int, doing func(format string, args ...any)) ([]Row, error) {
	got := map[[2]int][]Result{}
	var numbers atomic.Int64
	for round := range rounds {
		for li, l := range loads {
			for ti, t := range targets {
				doing("round %d of %d: %s, %s", round+1, rounds, l.Name, t.Name)
				r, err := Drive(ctx, t, l, &numbers)
				if err != nil {
					return nil, err
				}
				got[[2]int{li, ti}] = append(got[[2]int{li, ti}], r)
			}
		}
	}
	var rows []Row
	for li, l := range loads {
		base := len(rows)
		for ti, t := range targets {
			rows = append(rows, summary(l, t, got[[2]int{li, ti}], got[[2]int{li, 0}]))
		}
		yard := rows[base+1]
		for i := range rows[base:] {
			r := &rows[base+i]
			r.AddedX, r.PerSecX = ratio(r.Added.Median, yard.Added.Median), ratio(r.PerSec.Median, yard.PerSec.Median)
		}
	}
	return rows, nil
}

// summary is the row of one load on one target; direct are the results of the
// direct target in the same rounds.
func summary(l Load, t Target, rs, direct []Result) Row {
	row := Row{Load: l.Name, Target: t.Name}
	var p50, p99, rps, cpu, added []float64
	for i, r := range rs {
		row.Requests += r.Requests
		row.Failed += r.Failed
		row.Injected += r.Injected
		p50, p99, rps = append(p50, ms(r.P50)), append(p99, ms(r.P99)), append(rps, r.PerSec)
		cpu, added = append(cpu, ms(r.CPU)), append(added, ms(r.P50-direct[i].P50))
	}
	row.P50, row.P99, row.PerSec, row.CPU, row.Added = SpreadOf(p50), SpreadOf(p99), SpreadOf(rps), SpreadOf(cpu), SpreadOf(added)
	return row
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Text is the median and the range, with so many digits.
func (s Spread) Text(digits int) string {
	return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, s.Median, digits, s.Min, digits, s.Max)
}

// PrintRows writes the rows as a Markdown table.
func PrintRows(w io.Writer, rows []Row) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"load", "target", "requests", "failed", "p50 ms", "added p50 ms", "x ReverseProxy", "requests/s", "x ReverseProxy", "CPU ms/request"})
	for i, r := range rows {
		added, ax, rx, cpu := "", "", "", ""
		if i > 0 && rows[i-1].Load == r.Load {
			added, ax, rx = r.Added.Text(3), fmt.Sprintf("%.2f", r.AddedX), fmt.Sprintf("%.2f", r.PerSecX)
		}
		if r.CPU.Max > 0 {
			cpu = r.CPU.Text(3)
		}
		t.AppendRow(table.Row{r.Load, r.Target, r.Requests, r.Failed, r.P50.Text(3), added, ax, r.PerSec.Text(0), rx, cpu})
	}
	fmt.Fprintln(w, t.RenderMarkdown())
}

// PrintWays writes the ways of chunks as a Markdown table.
func PrintWays(w io.Writer, ways []Way) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"target", "chunks", "way p50 ms", "added, paired median ms", "way p99 ms"})
	for i, r := range ways {
		added := ""
		if i > 0 {
			added = r.Added.Text(3)
		}
		t.AppendRow(table.Row{r.Target, r.Chunks, r.P50.Text(3), added, r.P99.Text(3)})
	}
	fmt.Fprintln(w, t.RenderMarkdown())
}

// Footprint is a target's anonymous memory in one state, in MiB.
type Footprint struct {
	State  string `json:"state"`
	Target string `json:"target"`
	RSS    Spread `json:"rss_anon_mib"`

	seen []float64
}

// Add counts what was seen in one round, in bytes.
func (f *Footprint) Add(bytes int64) {
	f.seen = append(f.seen, float64(bytes)/(1<<20))
	f.RSS = SpreadOf(f.seen)
}

// PrintFootprints writes them as a Markdown table.
func PrintFootprints(w io.Writer, all []Footprint) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"state", "target", "RssAnon MiB"})
	for _, f := range all {
		t.AppendRow(table.Row{f.State, f.Target, f.RSS.Text(1)})
	}
	fmt.Fprintln(w, t.RenderMarkdown())
}
