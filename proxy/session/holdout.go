package session

import (
	"cmp"
	"encoding/binary"
	"math"

	"hindsight/store"
)

// holdout is the word for a session that is given no memories, to compare.
const holdout = "holdout"

// compare puts the turn's session into one of two groups, where a share of
// sessions is held out: by a keyed hash of its id, so that it stays in its group
// over restarts and whoever asks. A sub-agent goes with the session that it works
// for. Sessions that nothing may be injected into are in neither.
func (k *Tracker) compare(t *Turn) {
	if k.cfg.Holdout <= 0 || !t.Mode.Injects() {
		return
	}
	h := t.work.hash("holdout", cmp.Or(t.Parent, t.Session))
	t.Trial = store.TrialWith
	if float64(binary.BigEndian.Uint64(h[:8]))/math.MaxUint64 < k.cfg.Holdout {
		t.Trial = store.TrialWithout
	}
}
