package badgerdb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// BenchmarkFinish is what handing over a 2 KB exchange costs the proxy; the
// metric exchanges/s is how many reach the disk, Flush included.
func BenchmarkFinish(b *testing.B) { finish(b, false) }

// BenchmarkFinishShared is the same in a fleet's directory, without anybody who
// delivers.
func BenchmarkFinishShared(b *testing.B) { finish(b, true) }

func finish(b *testing.B, share bool) {
	s := open(b, Config{Linger: 100 * time.Millisecond, QueueBytes: 1 << 40, Share: share})
	text := strings.Repeat("some words of a question and its answer ", 50)
	var xs []*store.Exchange
	now := time.Now()
	for i := range b.N {
		x := said(ann, fmt.Sprint("s", i%100), fmt.Sprint(i), text, now)
		x.Places = []store.Place{{Key: store.Hash{byte(i), byte(i >> 8), byte(i >> 16)}, Turn: i}}
		x.Anchors = []store.Anchor{{Key: store.Hash{byte(i), byte(i >> 8), byte(i >> 16)}, Time: now}}
		xs = append(xs, x)
	}
	b.ResetTimer()
	start := time.Now()
	for _, x := range xs {
		s.Begin(x)
		s.Finish(x)
	}
	handed := time.Since(start)
	flush(b, s.Store)
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "exchanges/s")
	b.ReportMetric(float64(handed.Nanoseconds())/float64(b.N), "ns/handed")
}

// BenchmarkLag hands over 1,000 exchanges a second and reports how long the
// slowest commit let its oldest one wait.
func BenchmarkLag(b *testing.B) {
	s := open(b, Config{Linger: 100 * time.Millisecond})
	text := strings.Repeat("some words of a question and its answer ", 50)
	worst := time.Duration(0)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-tick.C
		s.Finish(said(ann, fmt.Sprint("s", i%100), fmt.Sprint(i), text, time.Now()))
		if at := s.journal.oldest(); !at.IsZero() {
			worst = max(worst, time.Since(at))
		}
	}
	b.ReportMetric(float64(worst.Milliseconds()), "ms-queued-at-most")
}

func BenchmarkPutMemory(b *testing.B) {
	s := open(b, Config{})
	for i := range b.N {
		if _, _, err := s.PutMemory(b.Context(), written(fmt.Sprint("fact ", i))); err != nil {
			b.Fatal(err)
		}
	}
}
