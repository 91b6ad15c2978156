package lifecycle

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hindsight/store"
)

// Forgetting says what a sweep takes out of use. The defaults are those of
// [DefaultForgetting].
type Forgetting struct {
	After       time.Duration // age of an episodic memory; 0: none goes by age
	Importance  float64       // below which one goes by age
	Most        int           // active memories of a type in a scope; 0: no bound
	Share       float64       // of a type above Most that goes, the lowest by score
	DeleteAfter time.Duration // time in the archive; 0: nothing is deleted
	Gentle      bool          // importance falls to Lowered instead of archiving
}

// DefaultForgetting holds the numbers of the design: 90 days, importance 0.5,
// 10,000 of a type, the lowest 10 %, a year in the archive.
func DefaultForgetting() Forgetting {
	return Forgetting{After: 90 * day, Importance: 0.5, Most: 10_000, Share: 0.1, DeleteAfter: 365 * day}
}

// Lowered is the importance that gentle forgetting leaves.
const Lowered = 0.1

const day = 24 * time.Hour

// Why a sweep takes a memory.
const (
	TooOld      = "old"      // episodic, past its age and of little importance
	TooMany     = "too_many" // lowest by score of a type that has grown too large
	LongInStore = "archived" // long enough in the archive
)

// Faded is a memory that a sweep takes and why.
type Faded struct {
	Memory store.Memory
	Fate   store.Fate
	Reason string
	Score  float64 // see [Worth]
}

// Sweep decides about the memories of one scope. It is a pure function, so a
// dry run shows exactly what a sweep at that moment does.
func Sweep(all []store.Memory, f Forgetting, now time.Time) []Faded {
	var out []Faded
	add := func(m store.Memory, do store.FateKind, reason string) {
		out = append(out, Faded{
			Memory: m, Reason: reason, Score: Worth(m, now),
			Fate: store.Fate{ID: m.ID, Do: do, To: Lowered, Revision: m.Revision, LastUsed: m.LastUsed, State: m.State},
		})
	}
	away := store.FateArchive
	if f.Gentle {
		away = store.FateLower
	}
	kinds := map[store.Type][]store.Memory{}
	for _, m := range all {
		lowered := f.Gentle && m.Importance <= Lowered
		switch {
		case m.State == store.Archived && f.DeleteAfter > 0 && now.Sub(m.ArchivedAt) >= f.DeleteAfter:
			add(m, store.FateDelete, LongInStore)
		case m.State != store.Active || lowered:
		case m.Layer == store.Episodic && f.After > 0 && now.Sub(alive(m)) >= f.After && m.Importance < f.Importance:
			add(m, away, TooOld)
		default:
			kinds[m.Type] = append(kinds[m.Type], m)
		}
	}
	for _, t := range store.Types() {
		list := kinds[t]
		if f.Most <= 0 || len(list) <= f.Most {
			continue
		}
		n := int(math.Ceil(float64(len(list)) * f.Share))
		list = slices.DeleteFunc(list, func(m store.Memory) bool { return m.Standing })
		slices.SortFunc(list, func(a, b store.Memory) int {
			return cmp.Or(cmp.Compare(Worth(a, now), Worth(b, now)), cmp.Compare(a.ID, b.ID))
		})
		for _, m := range list[:min(n, len(list))] {
			add(m, away, TooMany)
		}
	}
	return out
}

// Worth is how much a memory is worth keeping, from 0 to 1: half its importance,
// three tenths how lately it was made, confirmed or used (falling to a third in
// 90 days), two tenths how often it was used (half of that at the first use).
func Worth(m store.Memory, now time.Time) float64 {
	days := max(0, now.Sub(alive(m)).Hours()/24)
	return 0.5*m.Importance + 0.3*math.Exp(-days/90) + 0.2*(1-1/float64(1+max(0, m.Uses)))
}

// alive is when a memory last showed that it is of use: made, confirmed or used.
func alive(m store.Memory) time.Time { return later(later(m.CreatedAt, m.LastVerified), m.LastUsed) }
