package main

import (
	"fmt"
	"os"
	"strings"

	"hindsight/internal/bench"
)

// benchReport is everything that one run of the benchmark has found.
type benchReport struct {
	Machine    string            `json:"machine"`
	Rounds     int               `json:"rounds"`
	For        string            `json:"for"`
	Memories   int               `json:"memories"`
	Nginx      bool              `json:"nginx"`
	Rows       []bench.Row       `json:"rows"`
	Ways       []bench.Way       `json:"chunks,omitempty"`
	Footprints []bench.Footprint `json:"memory,omitempty"`
	Profiles   []bench.Profile   `json:"profiles,omitempty"`
	Asked      int               `json:"requests_to_record"`
	Kept       int               `json:"exchanges_journalled"`
}

func (r *benchReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %d rounds of %s, interleaved; median (least to most).\n", r.Machine, r.Rounds, r.For)
	if !r.Nginx {
		b.WriteString("nginx was not found on the PATH, so it isn't in the tables.\n")
	}
	b.WriteByte('\n')
	bench.PrintRows(&b, r.Rows)
	asked, injected := 0, 0
	for _, row := range r.Rows {
		if row.Injected > 0 {
			asked, injected = asked+row.Requests, injected+row.Injected
		}
	}
	b.WriteString("\n\"memory off\" records every exchange and looks for nothing to inject; \"no memories yet\" is a new user of a server with everything on.\n")
	fmt.Fprintf(&b, "Requests to record: %d. Exchanges journalled: %d.\n", r.Asked, r.Kept)
	if injected > 0 {
		fmt.Fprintf(&b, "Of the requests with recall %.0f %% carried memories.\n", 100*float64(injected)/float64(asked))
	}
	b.WriteString("CPU is that of the target's process, what it does behind the answer included.\n")
	if len(r.Ways) > 0 {
		b.WriteString("\nA chunk's way, from the upstream's write to the client's read; streams of 100 events, 1 ms apart:\n\n")
		bench.PrintWays(&b, r.Ways)
	}
	if len(r.Footprints) > 0 {
		b.WriteString("\nAnonymous memory of the process:\n\n")
		bench.PrintFootprints(&b, r.Footprints)
	}
	if len(r.Profiles) > 0 {
		b.WriteString("\nWhere it goes, by processes that watch themselves (pprof): each sample counts for the innermost package of ours or of a library; system calls and the garbage collector stand by themselves:\n\n")
		bench.PrintProfiles(&b, r.Profiles)
	}
	return b.String()
}

// The marks between which a report stands in a document.
const (
	benchOpen = "<!-- bench proxy: begin -->\n"
	benchShut = "<!-- bench proxy: end -->\n"

	benchReflectOpen = "<!-- bench reflect: begin -->\n"
	benchReflectShut = "<!-- bench reflect: end -->\n"
)

func (r *benchReport) into(path string) error {
	return between(path, benchOpen, benchShut, r.markdown())
}

// between replaces what stands between two marks of a document.
func between(path, open, shut, report string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document for the tables: %w", err)
	}
	before, rest, ok := strings.Cut(string(raw), open)
	_, after, closed := strings.Cut(rest, shut)
	if !ok || !closed {
		return fmt.Errorf("%s lacks the lines %q and %q", path, strings.TrimSpace(open), strings.TrimSpace(shut))
	}
	text := before + open + "\n" + report + "\n" + shut + after
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the tables: %w", err)
	}
	return nil
}
