package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hindsight/store"
)

// library makes n memories of ten words from a vocabulary with the usual long
// tail, with evidence and a scenario.
func library(n int) []store.Memory {
	rnd := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(rnd, 1.1, 8, 20000)
	sentence := func(n int) string {
		var b strings.Builder
		for range n {
			w := zipf.Uint64()
			fmt.Fprintf(&b, "%c%c%c%cing ", 'a'+w%26, 'a'+w/26%26, 'a'+w/676%26, 'a'+w/17576%26)
		}
		return b.String()
	}
	out := make([]store.Memory, n)
	for i := range out {
		out[i] = memory(fmt.Sprintf("m%06d", i), sentence(10))
		out[i].Scenario = sentence(6)
		out[i].Evidence = []store.Evidence{{Session: fmt.Sprint("s", i/20), Turn: i % 20, Quote: sentence(8), Context: sentence(24)}}
	}
	return out
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newSource()
			s.mems[ann] = library(n)
			x := open(b, Config{Budget: 1 << 30}, s)
			q := ask(s.mems[ann][n/2].Text + " " + s.mems[ann][n/3].Scenario)
			if _, err := x.Search(b.Context(), q); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	mems := library(10_000)
	var s *scope
	for b.Loop() {
		s = newScope(mems, 1)
	}
	b.ReportMetric(float64(s.bytes)/float64(len(mems)), "bytes/memory")
}
