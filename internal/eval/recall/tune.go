package recall

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Tuning is what the gate does at several settings, and which of them to take.
type Tuning struct {
	Data     string  `json:"data"`
	Embedder string  `json:"embedder"`
	Keep     float64 `json:"keep"` // the share of the findable questions that must keep an answer
	Points   []Point `json:"points"`
	// Proposal is the strictest setting that keeps enough, on all the data;
	// nothing to propose where none does.
	Proposal *Point `json:"proposal,omitempty"`
	// HeldOut is what to expect of it: each half of the corpora (of the
	// questions, where there is one corpus) at the setting that the other chose.
	HeldOut *Point `json:"held_out,omitempty"`
}

// Point is one setting. Precision is the share of the injections that hold a
// right memory, Recall that of the answerable questions that get one.
type Point struct {
	Gate         float64 `json:"gate"`
	Precision    float64 `json:"precision"`
	Recall       float64 `json:"recall"`
	FindableKept float64 `json:"findable_kept"`
	Unanswerable float64 `json:"unanswerable"`
}

// Settings are those that a sweep tries, from an open gate to a strict one, as
// factors of the one that is built in.
func Settings() []float64 {
	var out []float64
	for s := 8; s <= 40; s++ {
		out = append(out, float64(s)/20)
	}
	return out
}

// Tune asks all questions at every setting, ascending. at makes the engine of
// one.
func Tune(ctx context.Context, im *Imported, settings []float64, keep float64, at func(gate float64) (Engine, error)) (Tuning, error) {
	t := Tuning{Data: im.set.Name, Keep: keep}
	var open []answer
	passes := make([][]answer, len(settings))
	for i, s := range settings {
		e, err := at(s)
		if err != nil {
			return t, fmt.Errorf("open the gate at %v: %w", s, err)
		}
		if open == nil {
			if open, err = im.ask(ctx, e, false); err != nil {
				return t, err
			}
		}
		if passes[i], err = im.ask(ctx, e, true); err != nil {
			return t, err
		}
	}
	half := im.halves()
	everything := func(*Question) bool { return true }
	var halves [2]Point
	chosen := true
	for i, s := range settings {
		t.Points = append(t.Points, point(s, passes[i], open, everything))
	}
	t.Proposal = strictest(t.Points, keep)
	for h := range halves {
		here := func(q *Question) bool { return half[q] == h }
		there := func(q *Question) bool { return half[q] != h }
		var points []Point
		for i, s := range settings {
			points = append(points, point(s, passes[i], open, here))
		}
		p := strictest(points, keep)
		if p == nil {
			chosen = false
			continue
		}
		for i, s := range settings {
			if s == p.Gate {
				halves[h] = point(s, passes[i], open, there)
			}
		}
	}
	if chosen {
		mean := func(a, b float64) float64 { return round((a + b) / 2) }
		a, b := halves[0], halves[1]
		t.HeldOut = &Point{
			Gate: mean(a.Gate, b.Gate), Precision: mean(a.Precision, b.Precision), Recall: mean(a.Recall, b.Recall),
			FindableKept: mean(a.FindableKept, b.FindableKept), Unanswerable: mean(a.Unanswerable, b.Unanswerable),
		}
	}
	return t, nil
}

// halves puts every other corpus into the second half, or, where there is one
// corpus, every other question.
func (im *Imported) halves() map[*Question]int {
	out := map[*Question]int{}
	for n, c := range im.set.Corpora {
		for i := range c.Questions {
			if len(im.set.Corpora) > 1 {
				out[&c.Questions[i]] = n % 2
			} else {
				out[&c.Questions[i]] = i % 2
			}
		}
	}
	return out
}

// strictest is the last point that keeps enough.
func strictest(points []Point, keep float64) *Point {
	for i := len(points) - 1; i >= 0; i-- {
		if points[i].FindableKept >= keep {
			return &points[i]
		}
	}
	return nil
}

func point(gate float64, pass, open []answer, want func(*Question) bool) Point {
	c := total(pass, open, want)
	shown, right := 0.0, 0.0
	for i := range pass {
		if a := &pass[i]; want(a.q) && a.shown {
			shown++
			right += one(a.reciprocal() > 0)
		}
	}
	return Point{
		Gate: gate, Precision: share(right, shown), Recall: c.Injected.Right,
		FindableKept: c.Injected.FindableKept, Unanswerable: c.Injected.Unanswerable,
	}
}

// Chart draws a tuning for people.
func (t Tuning) Chart(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s, embedder %s\ngate\tprecision\trecall\tfindable kept\tunanswerable\tkept (#) and unanswerable (o)\t\n", t.Data, t.Embedder)
	for _, p := range t.Points {
		mark := ""
		if t.Proposal != nil && p == *t.Proposal {
			mark = "<- proposed"
		}
		fmt.Fprintf(out, "%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%s\n", p.Gate, 100*p.Precision, 100*p.Recall, 100*p.FindableKept, 100*p.Unanswerable,
			bar(p.FindableKept, p.Unanswerable), mark)
	}
	switch {
	case t.Proposal == nil:
		fmt.Fprintf(out, "no setting keeps %.0f %% of the findable questions\n", 100*t.Keep)
	case t.HeldOut == nil:
		fmt.Fprintf(out, "proposed: %.2f; one half of the data has no such setting, so there is no held-out figure\n", t.Proposal.Gate)
	default:
		fmt.Fprintf(out, "proposed: %.2f; held out, it keeps %.1f %% and lets %.1f %% of the unanswerable through\n",
			t.Proposal.Gate, 100*t.HeldOut.FindableKept, 100*t.HeldOut.Unanswerable)
	}
	return out.Flush()
}

// bar draws two shares over one another.
func bar(kept, foreign float64) string {
	const width = 40
	b := []rune(strings.Repeat("#", int(kept*width+0.5)) + strings.Repeat(" ", width-int(kept*width+0.5)))
	if n := int(foreign*width + 0.5); n > 0 {
		b[n-1] = 'o'
	}
	return string(b)
}
