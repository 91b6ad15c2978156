package recall

import (
	"context"
	"math"
	"slices"
	"strconv"
)

// Run is the figures of one pass over all questions. Shares lie between 0 and 1.
type Run struct {
	Data      string              `json:"data"`
	Ranking   string              `json:"ranking"`
	Embedder  string              `json:"embedder"`
	Gate      bool                `json:"gate"`
	Questions int                 `json:"questions"`
	RAt       map[string]float64  `json:"r_at"` // over the questions that have evidence
	MRR       float64             `json:"mrr"`
	MS        float64             `json:"ms_per_question"`
	Category  map[string]Category `json:"by_category"`
	Injected  *Injected           `json:"injected,omitempty"` // with the gate only
	// Degraded counts the questions that were answered without vectors although
	// an embedder is configured.
	Degraded int `json:"degraded,omitempty"`
}

// Category is the figures of the questions of one kind.
type Category struct {
	Questions int                `json:"questions"`
	RAt       map[string]float64 `json:"r_at"`
	MRR       float64            `json:"mrr"`
	Injected  *Injected          `json:"injected,omitempty"`
}

// Injected says for which share of the questions something passed the gate.
type Injected struct {
	Answerable   float64 `json:"answerable"`    // of the questions with evidence
	Right        float64 `json:"right"`         // of them, with a piece of it in the block
	FindableKept float64 `json:"findable_kept"` // of those with evidence in the ungated top 5: one of these is in the block
	Unanswerable float64 `json:"unanswerable"`  // of the questions that nothing answers
}

// cuts are the ranks at which recall is told.
var cuts = [...]int{1, 5, 10, 50}

// Measure asks all questions without the gate and with it. The names are what
// the runs are labelled with.
func Measure(ctx context.Context, im *Imported, e Engine, ranking, embedder string) ([]Run, error) {
	open, err := im.ask(ctx, e, false)
	if err != nil {
		return nil, err
	}
	gated, err := im.ask(ctx, e, true)
	if err != nil {
		return nil, err
	}
	label := func(r Run) Run {
		r.Data, r.Ranking, r.Embedder = im.set.Name, ranking, embedder
		return r
	}
	return []Run{label(figures(open, nil)), label(figures(gated, open))}, nil
}

// figures sums a pass up. open is the pass without the gate, in the same order,
// where this one has it.
func figures(pass, open []answer) Run {
	all := total(pass, open, func(*Question) bool { return true })
	r := Run{
		Gate: open != nil, Questions: all.Questions, RAt: all.RAt, MRR: all.MRR, Injected: all.Injected,
		Category: map[string]Category{},
	}
	for i := range pass {
		a := &pass[i]
		r.MS += a.took.Seconds() * 1000 / float64(len(pass))
		if a.words {
			r.Degraded++
		}
		if name := a.q.Category; r.Category[name].Questions == 0 {
			r.Category[name] = total(pass, open, func(q *Question) bool { return q.Category == name })
		}
	}
	r.MS = round(r.MS)
	return r
}

// total sums the questions up that one wants.
func total(pass, open []answer, want func(*Question) bool) Category {
	out := Category{RAt: map[string]float64{}}
	sum := [len(cuts)]float64{}
	var asked, rank, shown, right, findable, kept, none, foreign float64
	for i := range pass {
		a := &pass[i]
		if !want(a.q) {
			continue
		}
		out.Questions++
		if len(a.ranks) == 0 {
			none++
			foreign += one(a.shown)
			continue
		}
		asked++
		shown += one(a.shown)
		right += one(slices.ContainsFunc(a.ranks, func(r int) bool { return r > 0 }))
		rank += a.reciprocal()
		for n, k := range cuts {
			sum[n] += a.recall(k)
		}
		if open != nil && open[i].recall(first) > 0 {
			findable++
			kept += one(a.keeps(&open[i]))
		}
	}
	for n, k := range cuts {
		out.RAt[strconv.Itoa(k)] = share(sum[n], asked)
	}
	out.MRR = share(rank, asked)
	if open != nil {
		out.Injected = &Injected{
			Answerable: share(shown, asked), Right: share(right, asked), FindableKept: share(kept, findable), Unanswerable: share(foreign, none),
		}
	}
	return out
}

// recall is the share of the evidence that stands among the first k.
func (a *answer) recall(k int) float64 {
	n := 0
	for _, r := range a.ranks {
		if r > 0 && r <= k {
			n++
		}
	}
	return float64(n) / float64(max(len(a.ranks), 1))
}

// reciprocal is that of the rank of the first piece of evidence.
func (a *answer) reciprocal() float64 {
	best := 0.0
	for _, r := range a.ranks {
		if r > 0 {
			best = max(best, 1/float64(r))
		}
	}
	return best
}

// keeps says whether something that was among the first without the gate is
// still there with it.
func (a *answer) keeps(open *answer) bool {
	for i, r := range a.ranks {
		if r > 0 && open.ranks[i] > 0 && open.ranks[i] <= first {
			return true
		}
	}
	return false
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// share is a part of a whole; of nothing it is 0.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return round(part / whole)
}

// round keeps what a person compares: four digits behind the point.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
