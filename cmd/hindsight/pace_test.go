package main

import "testing"

func TestTheHeapMayGrowOnlyUnderLoadAndInBounds(t *testing.T) {
	const mib = 1 << 20
	p := pacer{percent: paceNormal, cycles: 7}
	for i, c := range []struct {
		what        string
		fresh, live uint64
		want        int
	}{
		{"idle", 0, 20 * mib, 100},
		{"a collection now and then", 3, 20 * mib, 100},
		{"load", 9, 20 * mib, 380},
		{"it goes on, collected less often", 2, 24 * mib, 300},
		{"a pause", 0, 24 * mib, 300},
		{"on", 1, 60 * mib, 100},
		{"load on a large heap", 30, 300 * mib, 100},
		{"load on nearly nothing", 30, 1000, 400},
		{"idle 1", 0, 2 * mib, 400},
		{"idle 2", 0, 2 * mib, 400},
		{"idle 3", 0, 2 * mib, 400},
		{"idle 4", 0, 2 * mib, 400},
		{"idle 5", 0, 2 * mib, 100},
		{"idle 6", 0, 2 * mib, 100},
	} {
		p.look(p.cycles+c.fresh, c.live)
		if p.percent != c.want {
			t.Errorf("%d, %s: %d, want %d", i, c.what, p.percent, c.want)
		}
	}
}
