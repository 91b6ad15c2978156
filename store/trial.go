package store

import "math"

// Trial is a session's group where a share of the sessions is given no memories,
// so that what memories do can be seen. Empty: it takes no part.
type Trial string

// The groups.
const (
	TrialWith    Trial = "memory"
	TrialWithout Trial = "holdout"
)

// Trials are the figures of both groups, of sessions that people hold: those of
// sub-agents are left out.
type Trials struct {
	With    TrialGroup
	Without TrialGroup
}

// TrialGroup sums up the sessions of a group, each counted once.
type TrialGroup struct {
	Turns       Sample // the human's messages
	Corrections Sample // those of them that put something right
	Tokens      Sample // prompt and answer, as the upstream counts them
	Cached      Sample // of the prompt's, those that came from the provider's cache
}

// Add counts one session.
func (g *TrialGroup) Add(s *Session) {
	g.Turns.Add(float64(s.Turns))
	g.Corrections.Add(float64(s.Corrections))
	g.Tokens.Add(float64(s.Usage.Input + s.Usage.Output))
	g.Cached.Add(float64(s.Usage.Cached))
}

// Join adds another group's sessions.
func (g *TrialGroup) Join(o TrialGroup) {
	g.Turns.Join(o.Turns)
	g.Corrections.Join(o.Corrections)
	g.Tokens.Join(o.Tokens)
	g.Cached.Join(o.Cached)
}

// Sample is a number of values by their mean and the sum of their squared
// distances from it (Welford's method, which doesn't lose digits).
type Sample struct {
	N    int
	Mean float64
	M2   float64
}

// Add counts one value.
func (s *Sample) Add(x float64) {
	s.N++
	d := x - s.Mean
	s.Mean += d / float64(s.N)
	s.M2 += d * (x - s.Mean)
}

// Join adds another sample's values.
func (s *Sample) Join(o Sample) {
	if o.N == 0 {
		return
	}
	n := float64(s.N + o.N)
	d := o.Mean - s.Mean
	s.M2 += o.M2 + d*d*float64(s.N)*float64(o.N)/n
	s.Mean += d * float64(o.N) / n
	s.N += o.N
}

// Variance is that of the population which the values come from; NaN of fewer
// than two.
func (s Sample) Variance() float64 {
	if s.N < 2 {
		return math.NaN()
	}
	return s.M2 / float64(s.N-1)
}
