package lifecycle

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// memory is the stored form of a candidate. Its id follows from what it says
// and where it comes from, so that reading a range twice makes one memory.
func (f *fit) memory(c extract.Candidate) store.Memory {
	j := f.in.Job
	scope := cmp.Or(f.in.Scope, j.Owner.ScopeOf(c.Type))
	// The turn and not the job's range: that is numbered by each sidecar for itself.
	turn := uint64(max(c.Turn, 0))
	id := store.MemoryID(j.Owner.Tenant, scope, j.Session, turn, turn, c.Subject, store.Fold(c.Text))
	if slices.ContainsFunc(f.fresh, func(o store.Memory) bool { return o.ID == id }) && f.find(id) < 0 {
		// Said, taken back and said again in one session: a statement of its own.
		id = store.MemoryID(j.Owner.Tenant, scope, j.Session, turn, turn, c.Subject+"#"+strconv.Itoa(c.Turn), store.Fold(c.Text))
	}
	about := ""
	if c.By == store.ByUser && c.Type != store.EventType {
		about = extract.Thing(c.Quote)
	}
	return store.Memory{
		ID: id, About: about,
		Tenant: j.Owner.Tenant, Scope: scope, Layer: store.LayerOf(c.Type), Type: c.Type,
		Text: c.Text, Subject: c.Subject, Scenario: c.Scenario,
		Importance: c.Importance, Confidence: c.Confidence, Standing: c.Standing,
		State: store.Active, AttributedTo: c.By,
		Evidence:  []store.Evidence{{Session: j.Session, Turn: c.Turn, Quote: c.Quote, Time: c.Time, Context: c.Context}},
		ValidFrom: c.Time, ValidTo: c.Until, CreatedAt: f.in.Now, UpdatedAt: f.in.Now,
		// Revision 0: the store takes it as new, and leaves one that it has alone.
	}
}

// after says whether a memory was stated after another, by event time, turn
// and id. What stands in one turn of one session is in its order already.
func after(o, m store.Memory) bool {
	at, turn := o.Stated()
	t, n := m.Stated()
	if at.Equal(t) && turn == n && len(o.Evidence) > 0 && o.Evidence[len(o.Evidence)-1].Session == m.Evidence[0].Session {
		return false
	}
	return cmp.Or(at.Compare(t), cmp.Compare(turn, n), cmp.Compare(o.ID, m.ID)) > 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
