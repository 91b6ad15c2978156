package soak

import (
	"math"
	"testing"
	"time"

	"hindsight/internal/mutant"
)

func TestTheLeakFitsTheSource(t *testing.T) {
	if err := mutant.Fit(t.Context(), Leak()...); err != nil {
		t.Error(err)
	}
}

// What is measured in between counts where it is less, and once.
func TestLeast(t *testing.T) {
	var low least
	take := func() [2]float64 {
		s := sample{holds: [len(held)]float64{50, 60, 7}}
		low.take(&s)
		if s.holds[2] != 7 {
			t.Errorf("%v goroutines instead of 7", s.holds[2])
		}
		return [2]float64(s.holds[:2])
	}
	for _, memory := range []float64{40, 30, 45} {
		low.note(&sample{holds: [len(held)]float64{memory, 70}})
	}
	if got := take(); got != [2]float64{30, 60} {
		t.Errorf("%v in the first time", got)
	}
	if got := take(); got != [2]float64{50, 60} {
		t.Errorf("%v in the second", got)
	}
}

// A line's rise and its error, and what a run is told of it.
func TestSlopes(t *testing.T) {
	rise, err := line([]float64{1, 3, 2, 4})
	if math.Abs(rise-2.4) > 1e-9 || math.Abs(err-3*math.Sqrt(0.18)) > 1e-9 {
		t.Errorf("a rise of %v, error %v", rise, err)
	}
	samples := func(goroutines, memory float64) (all []sample) {
		for n := range periodsIn(0) {
			s := sample{at: time.Duration(n) * time.Minute, sent: 1000 * n}
			s.holds = [len(held)]float64{100 + memory*float64(n), 100, 50 + goroutines*float64(n) + float64(n%2), 20, 1000}
			all = append(all, s)
		}
		return all
	}
	faults := func(all []sample, ran time.Duration) (n int) {
		for _, s := range slopes(all) {
			if s.grows(ran) != "" {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		all  []sample
		ran  time.Duration
		want int
	}{
		"nothing grows":                          {samples(0, 0), 20 * time.Minute, 0},
		"a goroutine in every hundredth request": {samples(10, 0), 2 * time.Minute, 1},
		"memory by a per cent a minute, long":    {samples(0, 1), 20 * time.Minute, 1},
		"memory by a per cent a minute, short":   {samples(0, 1), 2 * time.Minute, 0},
		"memory by a half":                       {samples(0, 100), 2 * time.Minute, 1},
	} {
		if got := faults(c.all, c.ran); got != c.want {
			t.Errorf("%s: %d faults, want %d", name, got, c.want)
		}
	}
}
