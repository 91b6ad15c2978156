package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How the garbage collector is paced. A proxy's live heap is small and its
// garbage comes fast, so that Go's default collects many times a second under
// load. While it does, the heap may grow to paceHeap before it is collected; once
// it doesn't, everything is as it was, so that idle memory stays small.
const (
	paceEvery  = time.Second
	paceBusy   = 4 // collections between two looks
	paceQuiet  = 5 // looks without a collection until it is idle
	paceHeap   = 96 << 20
	paceMost   = 400
	paceNormal = 100
)

// pacer decides how far the heap may grow.
type pacer struct {
	percent int    // of the live heap, by which it may grow
	cycles  uint64 // collections so far
	quiet   int    // looks in a row that saw none
}

// look takes the collections so far and the live heap in bytes.
func (p *pacer) look(cycles, live uint64) {
	fresh := cycles - p.cycles
	p.cycles = cycles
	if p.quiet++; fresh > 0 {
		p.quiet = 0
	}
	switch {
	case p.quiet >= paceQuiet:
		p.percent = paceNormal
	case fresh >= paceBusy, fresh > 0 && p.percent != paceNormal:
		p.percent = max(paceNormal, min(paceMost, int(100*paceHeap/max(live, 1<<20))-100))
	}
}

// paceGC paces the collector until ctx ends. Who sets GOGC knows better.
func paceGC(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	tick := time.NewTicker(paceEvery)
	defer tick.Stop()
	defer debug.SetGCPercent(paceNormal)
	now := []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(now)
	p := pacer{percent: paceNormal, cycles: now[0].Value.Uint64()}
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		was := p.percent
		metrics.Read(now)
		if p.look(now[0].Value.Uint64(), now[1].Value.Uint64()); p.percent != was {
			debug.SetGCPercent(p.percent)
		}
	}
}
