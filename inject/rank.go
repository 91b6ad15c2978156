package inject

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// Ranking orders candidates; it never admits one.
type Ranking string

// The rankings. Bounded is the default: recency and importance only tell apart
// what is about equally similar. Additive is the well-known sum, which costs
// recall because recency differs more among candidates than similarity does.
const (
	Bounded    Ranking = "bounded"
	Additive   Ranking = "additive"
	Similarity Ranking = "similarity"
)

func (r Ranking) validate() error {
	switch r {
	case Bounded, Additive, Similarity:
		return nil
	}
	return fmt.Errorf("ranking %q: want bounded, additive or similarity", r)
}

const (
	// boundedSpan is the share by which recency and importance together move
	// a score, half down and half up.
	boundedSpan = 0.10
	// boundedDays is the age at which recency has fallen to 1/e.
	boundedDays = 60.0
	// datedGain favours what happened where the message says "last time".
	datedGain = 1.10

	additiveSemantic   = 0.5
	additiveRecency    = 0.3
	additiveImportance = 0.2
	additiveDecay      = 0.1 // a day
)

// candidate is one memory on its way through the gate, with every part of its
// score.
type candidate struct {
	hit     index.Hit
	own     float64 // nats of the message that it holds itself
	share   float64 // of the message's information, surroundings included
	above   float64 // its cosine, in deviations above the background's; 0 without
	value   float64 // the gate's
	recency float64
	window  float64
	final   float64
	verdict string
}

// parts are the named numbers for people.
func (c *candidate) parts() map[string]float64 {
	w := c.hit.Words
	p := map[string]float64{
		"words": w.Score, "own": w.Own, "near": w.Near, "session": w.Session, "coverage": c.hit.Coverage,
		"similarity": c.hit.Score, "held": c.own, "share": c.share, "gate": c.value,
		"recency": c.recency, "importance": c.hit.Memory.Importance, "worth": c.hit.Memory.Worth(), "window": c.window, "final": c.final,
	}
	if c.hit.Embedded {
		p["vector"], p["above"] = c.hit.Cosine, c.above
	}
	return p
}

// rank scores hits and orders them.
func rank(hits []index.Hit, r Ranking, q query, now time.Time) []candidate {
	out := make([]candidate, len(hits))
	least, most := math.Inf(1), 0.0
	embedded := false
	for _, h := range hits {
		least, most = min(least, h.Words.Score), max(most, h.Words.Score)
		embedded = embedded || h.Embedded
	}
	for i, h := range hits {
		c := candidate{hit: h, window: q.window.factor(happened(h.Memory))}
		if q.window.past && dated(h.Memory) {
			c.window *= datedGain
		}
		semantic := h.Score
		switch r {
		case Additive:
			switch {
			case embedded:
				semantic = max(0, h.Cosine)
			case most > least:
				semantic = (h.Words.Score - least) / (most - least)
			default:
				semantic = 1
			}
			c.recency = math.Exp(-additiveDecay * age(h.Memory, now))
			c.final = additiveSemantic*semantic + additiveRecency*c.recency + additiveImportance*h.Memory.Importance
		case Bounded:
			c.recency = math.Exp(-age(h.Memory, now) / boundedDays)
			c.final = semantic * (1 + boundedSpan*((c.recency+h.Memory.Worth())/2-0.5)) * c.window
		default:
			c.final = semantic
		}
		c.final = min(c.final, 1)
		out[i] = c
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.final, a.final) })
	return out
}

// age is the days since the later of creation and last verification.
func age(m *store.Memory, now time.Time) float64 {
	t := m.CreatedAt
	if m.LastVerified.After(t) {
		t = m.LastVerified
	}
	return max(0, now.Sub(t).Hours()/24)
}
