package reflecteval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"hindsight/store"
)

// Table prints the figures by language and type, and then the cases in which
// something is wrong.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LANGUAGE\tTYPE\tFOUND\tMISSED\tBEYOND\tNOTHING BROKEN\tMUST NOT STORED\tSUPERSEDED\tMISSED\tWRONG\tFAILED")
	line := func(lang, typ string, c Counts) {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d of %d\t%d\t%d\t%d\t%d\t%d\n", lang, typ, c.Found, c.Missed, c.Beyond,
			c.NothingBroken, c.NothingCases, c.Stored, c.Superseded, c.SupersedeMissed, c.SupersedeWrong, c.Failed)
	}
	for _, lang := range slices.Sorted(maps.Keys(r.Languages)) {
		l := r.Languages[lang]
		for _, typ := range store.Types() {
			if c, ok := l.Types[typ]; ok {
				fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\n", lang, typ, c.Found, c.Missed, c.Beyond)
			}
		}
		line(lang, "all", l.Counts)
	}
	line("all", "all", r.Total)
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the figures: %w", err)
	}
	for _, c := range r.Results {
		if faults := c.faults(); len(faults) > 0 {
			if _, err := fmt.Fprintf(w, "\n%s: %s\n", c.ID, strings.Join(faults, "; ")); err != nil {
				return fmt.Errorf("print a case: %w", err)
			}
			for _, m := range c.Memories {
				fmt.Fprintf(w, "  kept %s (%s) %s\n", m.Type, m.State, m.Text)
			}
			for _, d := range c.Dropped {
				fmt.Fprintf(w, "  dropped (%s) %s\n", d.Reason, d.Text)
			}
		}
	}
	return nil
}

// faults are what is wrong with a case, in words.
func (r *Result) faults() []string {
	var out []string
	if r.Error != "" {
		out = append(out, "no answer: "+r.Error)
	}
	for _, must := range r.MissedMust {
		groups := make([]string, len(must))
		for i, g := range must {
			groups[i] = strings.Join(g, " or ")
		}
		out = append(out, "missed "+strings.Join(groups, " and "))
	}
	if r.Beyond > 0 {
		out = append(out, fmt.Sprintf("%d memories too many", r.Beyond))
	}
	if r.NothingBroken > 0 {
		out = append(out, "nothing was to be kept")
	}
	for _, s := range r.LeakedWords {
		out = append(out, "stored "+s)
	}
	for _, i := range r.MissedPriors {
		out = append(out, fmt.Sprintf("earlier memory %d still stands", i))
	}
	if r.SupersedeWrong > 0 {
		out = append(out, fmt.Sprintf("%d earlier memories gone that should stand", r.SupersedeWrong))
	}
	return out
}
