package badgerdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// childDir, set in the environment, makes the test binary a writer that is
// going to be killed.
const childDir = "HINDSIGHT_TEST_CHILD_DIR"

// child writes exchanges until it is killed, and prints the number of each that
// it knows to be on disk. One is only ever begun.
func child(dir string) {
	s := victimStore(Config{Dir: dir})
	forever := said(ann, "s", "begun", "never ended", time.Now())
	forever.Places = []store.Place{{Key: store.Hash{1}, Turn: 7}}
	s.Begin(forever)
	start := time.Now()
	for i := 0; ; i++ {
		x := said(ann, "s", fmt.Sprintf("x%d", i), "hello", time.Now())
		s.Begin(x)
		y := *x
		s.Finish(&y)
		fmt.Println(i, time.Since(start).Milliseconds())
		time.Sleep(time.Millisecond)
	}
}

func TestKilledProcessLosesNothingOlderThanTheBound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 2 {
		v := newVictim(t, childDir, dir)
		// Everything that was handed over 250 ms before the last line we saw
		// must survive, whatever came after.
		type mark struct{ n, ms int }
		var seen []mark
		for v.Scan() {
			var m mark
			if _, err := fmt.Sscan(v.Text(), &m.n, &m.ms); err != nil {
				t.Fatalf("the child said %q", v.Text())
			}
			seen = append(seen, m)
			if m.ms > 500 {
				break
			}
		}
		v.kill()
		v.end(t)
		last := seen[len(seen)-1]
		safe := -1
		for _, m := range seen {
			if m.ms <= last.ms-250 {
				safe = m.n
			}
		}

		s := open(t, Config{Dir: dir})
		if b, err := os.ReadFile(filepath.Join(dir, DamageName)); err == nil {
			t.Errorf("round %d: a kill is taken for damage: %s", round, b)
		}
		list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))
		have := map[string]int{}
		aborted := 0
		for i, x := range list {
			have[x.ID]++
			if i > 0 && x.Seq <= list[i-1].Seq {
				t.Errorf("round %d: seq %d after %d", round, x.Seq, list[i-1].Seq)
			}
			if x.Status == store.Aborted {
				aborted++
			}
		}
		for i := 0; i <= safe; i++ {
			if n := have[fmt.Sprintf("x%d", i)]; n != 1 {
				t.Errorf("round %d: exchange x%d is there %d times (%d safe of %d)", round, i, n, safe, last.n)
			}
		}
		if have["begun"] != 1 || aborted == 0 {
			t.Errorf("round %d: the begun exchange is there %d times, %d aborted", round, have["begun"], aborted)
		}
		if x := must[store.Session](t)(s.Session(t.Context(), ann, "s")); x.LastSeq != list[len(list)-1].Seq {
			t.Errorf("round %d: the session says seq %d", round, x.LastSeq)
		}
		if p := must[[]store.Place](t)(s.Places(t.Context(), ann, "s")); len(p) != 1 || p[0].Turn != 7 {
			t.Errorf("round %d: places %v", round, p)
		}
		if n := count(t, s.Store, famBegun); n != 0 {
			t.Errorf("round %d: %d begun records left", round, n)
		}
		s.stop()
	}
}

func TestBegunIsEndedAtTheNextOpening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	x := said(ann, "s", "x", "hi", time.Now())
	x.Status, x.Finished = "", time.Time{}
	s.Begin(x)
	s.Begin(said(ann, "s", "big", strings.Repeat("words ", 100_000), time.Now()))
	s.Finish(said(ann, "s", "ended", "hi", time.Now()))
	s.Begin(said(ann, "s", "ended", "hi", time.Now())) // a retry that never ended
	flush(t, s.Store)
	s.stop()
	again := open(t, Config{Dir: dir})
	list := must[[]store.Exchange](t)(again.Exchanges(t.Context(), ann, "s", 0, 0))
	status := map[string]store.ExchangeStatus{}
	for _, x := range list {
		status[x.ID] = x.Status
	}
	if len(list) != 3 || status["x"] != store.Aborted || status["big"] != store.Aborted || status["ended"] != store.Complete {
		t.Errorf("after a restart: %v", status)
	}
	// The late end of one replaces what was made of it.
	tell(t, again.Store, said(ann, "s", "x", "hi", time.Now()))
	if x := must[store.Exchange](t)(again.Exchange(t.Context(), "x")); x.Status != store.Complete {
		t.Errorf("the late end was lost: %v", x.Status)
	}
	if n := len(must[[]store.Exchange](t)(again.Exchanges(t.Context(), ann, "s", 0, 0))); n != 3 {
		t.Errorf("%d exchanges, want 3", n)
	}
}
