package soak

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"

	"hindsight/internal/bench"
)

// sample is what the binary held at a moment.
type sample struct {
	at    time.Duration // since the begin
	sent  int           // requests until then
	holds [len(held)]float64
}

// held names what a sample measures: anonymous memory and the heap that the next
// collection waits for (about twice what the last one left), the least of each since
// the sample before, and what the process says.
var held = [...]string{"memory", "heap", "goroutines", "descriptors", "disk"}

// sample measures.
func (l *load) sample(at time.Duration) (s sample, err error) {
	m, err := metrics(context.Background(), l.c)
	if err != nil {
		return s, fmt.Errorf("take a sample: %w", err)
	}
	disk, err := used(l.cfg.Dir)
	if err != nil {
		return s, fmt.Errorf("measure the directory: %w", err)
	}
	return sample{at: at, sent: l.sent(), holds: [len(held)]float64{
		float64(bench.RssAnon(l.c.PID())), m["go_memstats_next_gc_bytes"], m["go_goroutines"], m["process_open_fds"], disk,
	}}, nil
}

// least is the least memory since the last sample: tables in memory fill and are
// written out again and again, and what stays is what a line is fitted to.
type least struct {
	mu    sync.Mutex
	bytes [2]float64 // as the first of held; 0: none was measured
}

func (l *least) note(s *sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, v := range s.holds[:len(l.bytes)] {
		if l.bytes[i] == 0 || v < l.bytes[i] {
			l.bytes[i] = v
		}
	}
}

// take puts it into a sample and begins anew.
func (l *least) take(s *sample) {
	l.note(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	copy(s.holds[:], l.bytes[:])
	clear(l.bytes[:])
}

// watch measures memory until ctx ends.
func (l *load) watch(ctx context.Context, low *least) {
	for pause(ctx, 2*time.Second) {
		m, err := metrics(ctx, l.c)
		if err != nil {
			continue // the next sample will say what is wrong
		}
		low.note(&sample{holds: [len(held)]float64{float64(bench.RssAnon(l.c.PID())), m["go_memstats_next_gc_bytes"]}})
	}
}

// used is what a directory takes on disk, in bytes.
func used(dir string) (float64, error) {
	n := 0.0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		if info, err := d.Info(); err == nil {
			n += float64(onDisk(info))
		}
		return nil
	})
	return n, err
}

// Slope is how something grew over the last half.
type Slope struct {
	Of      string  `json:"of"`
	Mean    float64 `json:"mean"`
	PerHour float64 `json:"percent_an_hour"`
	Error   float64 `json:"error"`                // of the same, three times the standard error
	Per100  float64 `json:"per_100_requests"`     // in its own unit
	Within  float64 `json:"error_per_100"`        // of the same, twice the standard error
	Half    float64 `json:"percent_in_this_half"` // what it comes to
}

// slopes fits a line to what the last half's samples hold.
func slopes(all []sample) []Slope {
	all = all[len(all)/2:]
	first, last := all[0], all[len(all)-1]
	hours, requests := (last.at - first.at).Hours(), float64(last.sent-first.sent)
	var out []Slope
	for i, of := range held {
		y := make([]float64, len(all))
		mean := 0.0
		for n, s := range all {
			y[n] = s.holds[i]
			mean += y[n] / float64(len(all))
		}
		growth, err := line(y)
		out = append(out, Slope{
			Of: of, Mean: mean, Half: 100 * growth / mean, PerHour: 100 * growth / mean / hours, Error: 300 * err / mean / hours,
			Per100: growth / requests * 100, Within: 2 * err / requests * 100,
		})
	}
	return out
}

// line is how much the line through equally spaced points rises from the first to
// the last, and the standard error of that.
func line(y []float64) (rise, err float64) {
	n := float64(len(y))
	mx, my := (n-1)/2, 0.0
	for _, v := range y {
		my += v / n
	}
	sxx, sxy := 0.0, 0.0
	for i, v := range y {
		sxx += (float64(i) - mx) * (float64(i) - mx)
		sxy += (float64(i) - mx) * (v - my)
	}
	slope, rest := sxy/sxx, 0.0
	for i, v := range y {
		d := v - my - slope*(float64(i)-mx)
		rest += d * d
	}
	return slope * (n - 1), math.Sqrt(rest/(n-2)/sxx) * (n - 1)
}

// grows says what is wrong with a slope. A long run is held to 1 % an hour, as far as
// the error lets it see that. A short one can't; there a leak in every hundredth
// request shows, and memory that grows by half. The disk is then still in its first
// log.
func (s Slope) grows(ran time.Duration) string {
	counted := s.Of == "goroutines" || s.Of == "descriptors"
	switch {
	case ran >= long && s.PerHour-s.Error > 1:
		return fmt.Sprintf("%s grows by %.1f %% an hour, give or take %.1f", s.Of, s.PerHour, s.Error)
	case counted && s.Per100-s.Within > 0.5:
		return fmt.Sprintf("%s grow by %.2f for 100 requests, give or take %.2f", s.Of, s.Per100, s.Within)
	case (s.Of == "memory" || s.Of == "heap") && ran < long && s.Half > 50:
		return fmt.Sprintf("%s grows by %.0f %% in the last half", s.Of, s.Half)
	}
	return ""
}
