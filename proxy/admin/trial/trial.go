// Package trial compares sessions with and without memories. [Compare] gives each
// figure's mean in both groups and the difference with its 95 % confidence
// interval; a figure whose interval holds 0 says nothing yet.
//
// Sessions are counted as if they were independent. Where few users hold most of
// them, the truth is somewhat wider than the interval.
package trial

import (
	"math"

	"hindsight/store"
)

// enough is how many sessions each group needs for an interval: with fewer the
// approximations below don't hold.
const enough = 5

// Comparison is what both groups come to, per session.
type Comparison struct {
	With    int      `json:"sessions_with" doc:"Sessions with memory."`
	Without int      `json:"sessions_without" doc:"Sessions held out."`
	Figures []Figure `json:"figures" nullable:"false"`
}

// Figure is one figure of a session in both groups. Difference is the mean with
// memory less the mean without; Low and High bound it with 95 % confidence, and
// are left out while a group is too small.
type Figure struct {
	Name       string   `json:"name" enum:"turns,corrections,tokens,cached_tokens"`
	With       float64  `json:"with"`
	Without    float64  `json:"without"`
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
}

// Certain says whether the groups differ, as far as can be told.
func (f Figure) Certain() bool { return f.Low != nil && (*f.Low > 0 || *f.High < 0) }

// Compare compares both groups.
func Compare(t store.Trials) Comparison {
	c := Comparison{With: t.With.Turns.N, Without: t.Without.Turns.N}
	for _, f := range []struct {
		name string
		a, b store.Sample
	}{
		{"turns", t.With.Turns, t.Without.Turns},
		{"corrections", t.With.Corrections, t.Without.Corrections},
		{"tokens", t.With.Tokens, t.Without.Tokens},
		{"cached_tokens", t.With.Cached, t.Without.Cached},
	} {
		c.Figures = append(c.Figures, compare(f.name, f.a, f.b))
	}
	return c
}

// compare is Welch's t interval for the difference of two means, of groups whose
// variances may differ.
func compare(name string, a, b store.Sample) Figure {
	f := Figure{Name: name, With: a.Mean, Without: b.Mean, Difference: a.Mean - b.Mean}
	if a.N < enough || b.N < enough {
		return f
	}
	va, vb := a.Variance()/float64(a.N), b.Variance()/float64(b.N)
	half := 0.0
	if va+vb > 0 {
		freedom := (va + vb) * (va + vb) / (va*va/float64(a.N-1) + vb*vb/float64(b.N-1))
		half = quantile(freedom) * math.Sqrt(va+vb)
	}
	low, high := f.Difference-half, f.Difference+half
	f.Low, f.High = &low, &high
	return f
}

// quantile is the 97.5th percentile of Student's t by the expansion in the
// degrees of freedom around that of the normal distribution (Abramowitz and
// Stegun, 26.7.5): off by less than 0.01 from four degrees on.
func quantile(v float64) float64 {
	const z = 1.959963984540054
	z3 := z * z * z
	z5 := z3 * z * z
	z7 := z5 * z * z
	return z + (z3+z)/(4*v) + (5*z5+16*z3+3*z)/(96*v*v) + (3*z7+19*z5+17*z3-15*z)/(384*v*v*v)
}
