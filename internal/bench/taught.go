package bench

import "fmt"

// facts is how many different things Taught says: reflection has something to
// keep, and then to recognise, and recall's scope doesn't grow with the run.
const facts = 100

// Taught says something worth keeping in every request, each in a conversation
// of its own.
func Taught() Script {
	return func(n int, _ []byte) []byte {
		i := n % facts
		return fmt.Appendf(nil, `{"model":"bench-1","messages":[{"role":"user","content":"My %s code is %d. Request %d: is that a good one?"}]}`,
			Things[i%len(Things)]+Places[i%3], 10_000+i, n)
	}
}

// Figures are the spreads of p50 and p99 in milliseconds and of requests a
// second over some results.
func Figures(rs []Result) (p50, p99, perSec Spread) {
	var a, b, c []float64
	for _, r := range rs {
		a, b, c = append(a, ms(r.P50)), append(b, ms(r.P99)), append(c, r.PerSec)
	}
	return SpreadOf(a), SpreadOf(b), SpreadOf(c)
}

// CPUs is the spread of the processor time for each request over some results, in
// milliseconds.
func CPUs(rs []Result) Spread {
	var all []float64
	for _, r := range rs {
		all = append(all, ms(r.CPU))
	}
	return SpreadOf(all)
}
