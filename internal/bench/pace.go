package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Pace sends requests at a fixed rate, whatever the target does with them: an
// open loop. The n-th is due n/perSec after the start, and its time counts from
// then, not from when a connection was free to send it. So what a target does to
// the requests behind a slow one is in the figures, which a closed loop leaves
// out ("coordinated omission"). l.Conns connections share the requests; they
// should be many more than are under way at a time.
func Pace(ctx context.Context, t Target, l Load, perSec float64, numbers *atomic.Int64) (Result, error) {
	total := int64(perSec * l.For.Seconds())
	if total < 1 {
		return Result{}, fmt.Errorf("pace %s: %g requests a second for %s are none", t.Name, perSec, l.For)
	}
	gap := time.Duration(float64(time.Second) / perSec)
	parts := make([]part, l.Conns)
	conns := make([]*conn, l.Conns)
	for i := range conns {
		c, err := dial(ctx, t, l.Header)
		if err != nil {
			return Result{}, fmt.Errorf("pace %s: %w", t.Name, err)
		}
		defer c.close()
		conns[i] = c
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	before, start := CPU(t.PID), time.Now()
	for i := range parts {
		wg.Go(func() {
			p, script := &parts[i], l.Script()
			var answer []byte
			for {
				n := next.Add(1) - 1
				if n >= total || ctx.Err() != nil {
					return
				}
				due := start.Add(time.Duration(n) * gap)
				time.Sleep(time.Until(due))
				got, err := conns[i].ask(script(int(numbers.Add(1)), answer))
				if err != nil {
					p.err = err
					return
				}
				p.took = append(p.took, time.Since(due))
				if answer = got.body; got.status != http.StatusOK {
					p.failed++
				}
			}
		})
	}
	wg.Wait()
	wall, used := time.Since(start), CPU(t.PID)-before
	r, err := sum(parts, wall, used)
	if err != nil {
		return r, fmt.Errorf("pace %s: %w", t.Name, err)
	}
	return r, ctx.Err()
}
