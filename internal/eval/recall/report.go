package recall

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table prints runs for people, in percent. times says whether to print
// milliseconds, which differ from run to run.
func Table(w io.Writer, runs []Run, times bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range runs {
		gate := "no gate"
		if r.Gate {
			gate = "gate"
		}
		fmt.Fprintf(t, "%s, %s, embedder %s, %s", r.Data, r.Ranking, r.Embedder, gate)
		if times {
			fmt.Fprintf(t, ", %.1f ms a question", r.MS)
		}
		if r.Degraded > 0 {
			fmt.Fprintf(t, ", %d WITHOUT VECTORS", r.Degraded)
		}
		head := []string{"", "questions", "R@1", "R@5", "R@10", "R@50", "MRR"}
		if r.Gate {
			head = append(head, "answerable", "right", "findable kept", "unanswerable")
		}
		fmt.Fprintf(t, "\n%s\t\n", strings.Join(head, "\t"))
		row(t, "all", Category{Questions: r.Questions, RAt: r.RAt, MRR: r.MRR, Injected: r.Injected})
		var names []string
		for name := range r.Category {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			row(t, name, r.Category[name])
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func row(w io.Writer, name string, c Category) {
	fmt.Fprintf(w, "%s\t%d", name, c.Questions)
	for _, k := range []string{"1", "5", "10", "50"} {
		fmt.Fprintf(w, "\t%.1f", 100*c.RAt[k])
	}
	fmt.Fprintf(w, "\t%.1f", 100*c.MRR)
	if c.Injected != nil {
		for _, s := range []float64{c.Injected.Answerable, c.Injected.Right, c.Injected.FindableKept, c.Injected.Unanswerable} {
			fmt.Fprintf(w, "\t%.1f", 100*s)
		}
	}
	fmt.Fprint(w, "\t\n")
}
