package inject

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkPlan is a new question of 15 tokens over 10,000 memories.
func BenchmarkPlan(b *testing.B) {
	rnd := rand.New(rand.NewPCG(3, 3))
	zipf := rand.NewZipf(rnd, 1.1, 8, 20000)
	sentence := func(n int) string {
		s := ""
		for range n {
			w := zipf.Uint64()
			s += fmt.Sprintf("%c%c%c%cing ", 'a'+w%26, 'a'+w/26%26, 'a'+w/676%26, 'a'+w/17576%26)
		}
		return s
	}
	d := &disk{}
	for i := range 10_000 {
		d.mems = append(d.mems, fact(fmt.Sprintf("m%05d", i), sentence(12)))
		d.mems[i].Scope, d.mems[i].State = ann.Scope(), "active"
	}
	e := d.engine(b, Config{})
	c := talk("s", sentence(11))
	e.Plan(b.Context(), c)
	for b.Loop() {
		e.Plan(b.Context(), c)
	}
}
