//go:build disk

package badgerdb

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hindsight/store"
)

// A month of steady use: sessions every hour, each reflected when it ends, and what
// Run does between them. The directory is encrypted, so that nothing gets smaller
// by being packed. Prints, for each day, the rows that are alive and the space that
// the files take; that is held to twice the rows once a week has gone, when
// exchanges begin to go.
func TestAMonthStaysWithinTwiceWhatIsAlive(t *testing.T) {
	c := newClock()
	cfg := Config{Dir: t.TempDir(), Now: c.now, EncryptionKeyFile: keyFile(t, 1, 32)}
	s := open(t, cfg)
	rng := rand.New(rand.NewPCG(1, 2))
	q := &squeezer{base: tableBytes(s.h), at: c.now()}
	squeezed := 0
	for day := range 30 {
		worst := 0.0
		for hour := range 24 {
			session := fmt.Sprintf("s%d-%d", day, hour)
			for i := range 10 {
				tell(t, s.Store, said(ann, session, fmt.Sprintf("%s-%d", session, i), randomWords(rng, 30<<10), c.now()))
			}
			m := written("Note " + session + ": " + randomWords(rng, 200))
			m.ID = session
			enqueue(t, s.Store, session, store.TriggerIdle)
			must[store.Job](t)(s.Apply(t.Context(), claim(t, s.Store, "a"), store.Outcome{Memories: []store.Memory{m}, Kept: []string{m.ID}}))
			c.add(time.Hour)
			if err := s.sweep(t.Context(), s.h); err != nil {
				t.Fatal(err)
			}
			if q.due(s.h, c.now()) {
				if err := s.squeeze(s.h); err != nil {
					t.Fatal(err)
				}
				q.base, q.at = tableBytes(s.h), c.now()
				squeezed++
			}
			if hour%6 == 5 {
				worst = max(worst, float64(fileBytes(t, cfg.Dir))/float64(aliveBytes(t, s.Store)))
			}
		}
		alive, files := aliveBytes(t, s.Store), fileBytes(t, cfg.Dir)
		fmt.Printf("day %2d: %5.1f MiB alive, %5.1f MiB on disk; at most %.2f times that day; merged %d times so far\n", day+1, mib(alive), mib(files), worst, squeezed)
		if day >= 7 && worst > 2 {
			t.Errorf("day %d: %.2f times what is alive", day+1, worst)
		}
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func randomWords(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%x ", rng.Uint32())
	}
	return b.String()
}

// aliveBytes adds up the rows that can be read.
func aliveBytes(t *testing.T, s *Store) (n int64) {
	t.Helper()
	if err := s.view(func(v view) error {
		for r := range v.rows(nil, nil) {
			n += int64(len(r.item.Key())) + r.item.ValueSize()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// fileBytes is the space that a directory's files take.
func fileBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil { // one that has just gone takes none
			n += st.Blocks * 512
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
