package badgerdb

import (
	"testing"
	"time"
)

// How long each kind of record is kept, as docs/reliability.md says it: days from
// its writing, 0 for good or until what it belongs to goes.
var keptDays = map[byte]int{
	famTenant: 0, famScope: 0, famErased: 0, famMemory: 0, famRevision: 0, famText: 0, famVector: 0, famForgotten: 0,
	famSession: 400, famExchange: 400, famPart: 400, famBegun: 400, famPlaces: 400, famAnchor: 400,
	famLedger: 7, famWhy: 7, famGone: 30, famOffered: 35, famReflected: 0,
	famReady: 0, famReadyPart: 0, famUnready: 0, famFact: 0, famFormat: 0,
}

func TestHowLongThingsAreKept(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	everything(t, s, c)
	seen := map[byte]bool{}
	now := time.Now() // Badger's clock
	if err := s.view(func(v view) error {
		for r := range v.rows(nil, nil) {
			family := r.key()[0]
			want, told := keptDays[family]
			if !told {
				continue // as what it points to
			}
			seen[family] = true
			if ends := r.item.ExpiresAt(); ends == 0 {
				if want != 0 {
					t.Errorf("a row of %q is kept for good, not for %d days", family, want)
				}
			} else if left := time.Unix(int64(ends), 0).Sub(now).Hours() / 24; left < float64(want)-1 || left > float64(want)+1 {
				t.Errorf("a row of %q is kept for %.0f days, not %d", family, left, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for family := range keptDays {
		if !seen[family] && family != famPart {
			t.Errorf("no row of %q was looked at", family)
		}
	}
}
