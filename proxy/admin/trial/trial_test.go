package trial

import (
	"math"
	"math/rand/v2"
	"testing"

	"hindsight/store"
)

// TestIntervalCoversThePlantedEffect simulates 100 experiments of sessions as
// they are: few turns mostly, many at times, rare corrections, tokens that differ
// by orders of magnitude, and a held-out group a quarter of the other. Of each
// figure the interval has to cover the effect that was planted in 90 or more.
func TestIntervalCoversThePlantedEffect(t *testing.T) {
	const runs = 100
	rng := rand.New(rand.NewPCG(7, 2026))
	geometric := func(mean float64) float64 { return 1 + math.Floor(rng.ExpFloat64()*(mean-1)) }
	truth := func(mean float64) float64 { // of 1 + floor of an exponential
		return 1 + 1/math.Expm1(1/(mean-1))
	}
	session := func(turns, rate, tokens, share float64) *store.Session {
		s := &store.Session{Turns: int(geometric(turns))}
		for range s.Turns {
			if rng.Float64() < rate {
				s.Corrections++
			}
			n := tokens * math.Exp(rng.NormFloat64()*0.8)
			s.Usage.Input += int(n)
			s.Usage.Cached += int(n * share)
		}
		return s
	}
	lognormal := math.Exp(0.8 * 0.8 / 2)
	turns := truth(4) - truth(5)
	effects := map[string]float64{
		"turns":         turns,
		"corrections":   truth(4)*0.05 - truth(5)*0.15,
		"tokens":        (truth(4)*1200 - truth(5)*1000) * lognormal,
		"cached_tokens": (truth(4)*1200*0.6 - truth(5)*1000*0.6) * lognormal,
	}
	covered, certain := map[string]int{}, map[string]int{}
	for range runs {
		var g store.Trials
		for range 1200 {
			g.With.Add(session(4, 0.05, 1200, 0.6))
		}
		for range 300 {
			g.Without.Add(session(5, 0.15, 1000, 0.6))
		}
		for _, f := range Compare(g).Figures {
			if *f.Low <= effects[f.Name] && effects[f.Name] <= *f.High {
				covered[f.Name]++
			}
			if f.Certain() {
				certain[f.Name]++
			}
		}
	}
	for name := range effects {
		t.Logf("%s: covered in %d of %d, told from nothing in %d", name, covered[name], runs, certain[name])
		if covered[name] < 90 {
			t.Errorf("%s: the interval covers the effect in %d of %d runs", name, covered[name], runs)
		}
	}
	if certain["turns"] < 80 || certain["corrections"] < 95 {
		t.Errorf("an effect that is there is rarely seen: %v", certain)
	}
}

// TestNoEffectIsRarelySeen plants nothing.
func TestNoEffectIsRarelySeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := 0
	for range 200 {
		var a, b store.Sample
		for range 40 {
			a.Add(rng.ExpFloat64())
			b.Add(rng.ExpFloat64())
		}
		if compare("turns", a, b).Certain() {
			seen++
		}
	}
	if seen > 20 {
		t.Errorf("a difference is seen in %d of 200 runs without one", seen)
	}
}

func TestQuantile(t *testing.T) {
	for v, want := range map[float64]float64{4: 2.776, 5: 2.571, 10: 2.228, 30: 2.042, 1000: 1.962} {
		if got := quantile(v); math.Abs(got-want) > 0.01 {
			t.Errorf("%v degrees of freedom: %.3f, want %.3f", v, got, want)
		}
	}
}

func TestSmallGroupsHaveNoInterval(t *testing.T) {
	var g store.Trials
	for i := range 4 {
		g.With.Add(&store.Session{Turns: i})
		g.Without.Add(&store.Session{Turns: i})
	}
	c := Compare(g)
	if c.With != 4 || c.Figures[0].Low != nil || c.Figures[0].With != 1.5 || c.Figures[0].Certain() {
		t.Errorf("%+v", c)
	}
	for range 4 { // all alike
		g.With.Add(&store.Session{})
		g.Without.Add(&store.Session{})
	}
	if f := Compare(g).Figures[1]; *f.Low != 0 || *f.High != 0 {
		t.Errorf("figures that are all 0: %+v", f)
	}
	// Samples that are joined are one sample.
	var one, other, both store.Sample
	for i := range 10 {
		both.Add(float64(i * i))
		if i < 3 {
			one.Add(float64(i * i))
		} else {
			other.Add(float64(i * i))
		}
	}
	one.Join(other)
	if one.N != both.N || math.Abs(one.Mean-both.Mean) > 1e-9 || math.Abs(one.M2-both.M2) > 1e-6 {
		t.Errorf("joined %+v, want %+v", one, both)
	}
}
