package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Row is one target under one load over all rounds: median and range.
type Row struct {
	Load     string  `json:"load"`
	Target   string  `json:"target"`
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	P50      Spread  `json:"p50_ms"`
	P99      Spread  `json:"p99_ms"`
	PerSec   Spread  `json:"requests_per_second"`
	Added    Spread  `json:"added_p50_ms"`          // against the first target of the same round
	AddedX   float64 `json:"added_vs_reverseproxy"` // ratio of median added times
	PerSecX  float64 `json:"rps_vs_reverseproxy"`
}

// Spread is a figure over the rounds.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spread(v []float64) Spread {
	s := slices.Sorted(slices.Values(v))
	return Spread{Median: s[len(s)/2], Min: s[0], Max: s[len(s)-1]}
}

// Compare runs every load against every target in interleaved rounds. The
// first target is the direct one, the second the yardstick.
func Compare(ctx context.Context, targets []Target, loads []Load, rounds int, progress io.Writer) ([]Row, error) {
	got := map[[2]int][]Result{}
	n := 0
	for round := range rounds {
		for li, l := range loads {
			for ti, t := range targets {
				fmt.Fprintf(progress, "\rround %d of %d: %s, %s          ", round+1, rounds, l.Name, t.Name)
				r, next, err := Drive(ctx, t, l, n)
				if err != nil {
					return nil, err
				}
				n = next
				got[[2]int{li, ti}] = append(got[[2]int{li, ti}], r)
			}
		}
	}
	fmt.Fprintf(progress, "\r%60s\r", "")
	var rows []Row
	for li, l := range loads {
		base := len(rows)
		for ti, t := range targets {
			rs := got[[2]int{li, ti}]
			row := Row{Load: l.Name, Target: t.Name}
			var p50, p99, rps, added []float64
			for i, r := range rs {
				row.Requests += r.Requests
				row.Failed += r.Failed
				p50, p99, rps = append(p50, ms(r.P50)), append(p99, ms(r.P99)), append(rps, r.PerSec)
				added = append(added, ms(r.P50-got[[2]int{li, 0}][i].P50))
			}
			row.P50, row.P99, row.PerSec, row.Added = spread(p50), spread(p99), spread(rps), spread(added)
			rows = append(rows, row)
		}
		yard := rows[base+1]
		for i := range rows[base:] {
			r := &rows[base+i]
			r.AddedX, r.PerSecX = ratio(r.Added.Median, yard.Added.Median), ratio(r.PerSec.Median, yard.PerSec.Median)
		}
	}
	return rows, nil
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Print writes the rows as a Markdown table.
func Print(w io.Writer, rows []Row) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"load", "target", "requests", "failed", "p50 ms", "added p50 ms", "x ReverseProxy", "requests/s", "x ReverseProxy"})
	f := func(s Spread, digits int) string {
		return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, s.Median, digits, s.Min, digits, s.Max)
	}
	for i, r := range rows {
		added, ax, rx := "", "", ""
		if i > 0 && rows[i-1].Load == r.Load {
			added, ax, rx = f(r.Added, 3), fmt.Sprintf("%.2f", r.AddedX), fmt.Sprintf("%.2f", r.PerSecX)
		}
		t.AppendRow(table.Row{r.Load, r.Target, r.Requests, r.Failed, f(r.P50, 3), added, ax, f(r.PerSec, 0), rx})
	}
	fmt.Fprintln(w, t.RenderMarkdown())
}
