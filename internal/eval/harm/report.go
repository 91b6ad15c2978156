package harm

import (
	"fmt"
	"io"
	"strings"

	"hindsight/store"
)

// Report is what a run found.
type Report struct {
	Model   string  `json:"model"`
	Prompts int     `json:"prompts"`
	Failed  int     `json:"failed"` // calls without an answer
	Trials  []Trial `json:"trials"`
	Faults  []Fault `json:"faults"`
}

// Trial is one kind of block at one place, over all prompts.
type Trial struct {
	Block    string `json:"block"`
	Position string `json:"position,omitempty"`
	Answers  int    `json:"answers"`
	// JSON is how many answers to the prompts that want JSON parse.
	JSON int `json:"json"`
	// Leaks and Broken are the faults: answers that hold text of the block, and
	// JSON that parses without the block and not with it.
	Leaks  int `json:"leaks"`
	Broken int `json:"json_broken"`
	// Same is how many answers are, but for case and punctuation, those that
	// were given without a block: a measure, not a fault.
	Same int `json:"same"`
}

// Fault is one answer that a block spoiled.
type Fault struct {
	Prompt   string `json:"prompt"`
	Block    string `json:"block"`
	Position string `json:"position"`
	What     string `json:"what"`  // leak or json
	Piece    string `json:"piece"` // of the block
	Answer   string `json:"answer"`
}

func report(o Options, all [][]answer) Report {
	r := Report{Model: o.Model, Prompts: len(o.Prompts), Trials: make([]Trial, len(trials)), Faults: []Fault{}}
	for i, t := range trials {
		r.Trials[i] = Trial{Block: t.block, Position: t.position}
	}
	for n, p := range o.Prompts {
		plain := all[n][0]
		for i, got := range all[n] {
			t := &r.Trials[i]
			if got.err != nil {
				r.Failed++
				continue
			}
			t.Answers++
			valid := p.Kind == "json" && parses(got.text)
			if valid {
				t.JSON++
			}
			if i == 0 {
				t.Same++
				continue
			}
			fault := Fault{Prompt: p.ID, Block: t.Block, Position: t.Position, Answer: got.text}
			if piece := leak(got.text, got.block, p.Text, plain.text); piece != "" {
				t.Leaks++
				fault.What, fault.Piece = "leak", piece
				r.Faults = append(r.Faults, fault)
			}
			if plain.err != nil {
				continue
			}
			if p.Kind == "json" && !valid && parses(plain.text) {
				t.Broken++
				fault.What, fault.Piece = "json", ""
				r.Faults = append(r.Faults, fault)
			}
			if store.Fold(got.text) == store.Fold(plain.text) {
				t.Same++
			}
		}
	}
	return r
}

// Markdown prints a report for people.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What recalled notes do to text work\n\nModel %s, %d prompts, %d calls without an answer.\n\n", r.Model, r.Prompts, r.Failed)
	b.WriteString("| block | place | answers | text of the block | JSON that parses | JSON that stopped | same as without |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, t := range r.Trials {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d |\n", t.Block, t.Position, t.Answers, t.Leaks, t.JSON, t.Broken, t.Same)
	}
	for i, f := range r.Faults {
		if i == 0 {
			b.WriteString("\n## Faults\n\n")
		}
		fmt.Fprintf(&b, "- %s, %s at the %s, %s", f.Prompt, f.Block, f.Position, f.What)
		if f.Piece != "" {
			fmt.Fprintf(&b, " %q", f.Piece)
		}
		fmt.Fprintf(&b, ": %q\n", f.Answer)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
