package bench

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/jedib0t/go-pretty/v6/table"
)

// Profile says where a target's time or memory went under a load.
type Profile struct {
	What   string  `json:"what"` // time, allocated, held
	Load   string  `json:"load"`
	Target string  `json:"target"`
	Shares []Share `json:"shares"`
}

// Share is a part of a profile, in per cent.
type Share struct {
	Where   string  `json:"where"`
	Percent float64 `json:"percent"`
}

// ReadProfile reads a profile that a process has written and sums its samples of
// one kind (cpu, alloc_space, inuse_space) by where they were taken, largest
// first.
func ReadProfile(path, kind string) ([]Share, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a profile: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	p, err := profile.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("read the profile %s: %w", path, err)
	}
	index := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == kind })
	if index < 0 {
		return nil, fmt.Errorf("read the profile %s: it has no %s", path, kind)
	}
	sums, all := map[string]int64{}, int64(0)
	for _, s := range p.Sample {
		sums[where(s)] += s.Value[index]
		all += s.Value[index]
	}
	var out []Share
	for name, n := range sums {
		if all > 0 {
			out = append(out, Share{name, 100 * float64(n) / float64(all)})
		}
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Where, b.Where)) })
	return out, nil
}

// where names the part of the program that a sample belongs to: the kernel and
// the garbage collector by themselves, everything else by the innermost package
// of ours or of a library on its stack.
func where(s *profile.Sample) string {
	inner := true
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if inner && strings.HasPrefix(name, "internal/runtime/syscall") {
				return "system calls"
			}
			inner = false
			for _, gc := range []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge"} {
				if strings.HasPrefix(name, gc) {
					return "garbage collector"
				}
			}
			if p := packageOf(name); p != "" {
				return p
			}
		}
	}
	return "the runtime's scheduler and others"
}

// packageOf is the package of a function, as far as it tells something.
func packageOf(function string) string {
	for _, p := range []struct{ begins, name string }{
		{"github.com/valyala/fasthttp", "fasthttp"},
		{"github.com/gofiber", "fasthttp"},
		{"github.com/dgraph-io/badger", "badger"},
		{"net/http", "net/http"},
		{"net/textproto", "net/http"},
		{"crypto/tls", "crypto/tls"},
	} {
		if strings.HasPrefix(function, p.begins) {
			return p.name
		}
	}
	if !strings.HasPrefix(function, "hindsight/") {
		return ""
	}
	path, last := "", function
	if i := strings.LastIndexByte(function, '/'); i >= 0 && !strings.ContainsAny(function[:i], "[(") {
		path, last = function[:i+1], function[i+1:]
	}
	last, _, _ = strings.Cut(last, ".")
	return path + last
}

// shown is how many parts of a profile are printed.
const shown = 8

// PrintProfiles writes them as a Markdown table, the largest parts of each.
func PrintProfiles(w io.Writer, all []Profile) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"what", "load", "target", "where it goes"})
	for _, p := range all {
		var parts []string
		rest := 100.0
		for _, s := range p.Shares[:min(shown, len(p.Shares))] {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", s.Where, s.Percent))
			rest -= s.Percent
		}
		if rest >= 1 {
			parts = append(parts, fmt.Sprintf("others %.0f %%", rest))
		}
		t.AppendRow(table.Row{p.What, p.Load, p.Target, strings.Join(parts, ", ")})
	}
	fmt.Fprintln(w, t.RenderMarkdown())
}
