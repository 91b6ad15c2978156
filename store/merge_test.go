package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fleet is three replicas that edit the same memories and tell each other what
// they have, late, twice and in any order.
type fleet struct {
	rnd   *rand.Rand
	now   time.Time
	has   [3]map[string]Memory
	sent  []Memory
	gone  map[string]bool // quotes that were erased somewhere
	n     int
	knows map[string]time.Time // per id: the latest clock that any replica gave it
}

func newFleet(seed uint64) *fleet {
	f := &fleet{rnd: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC), gone: map[string]bool{}, knows: map[string]time.Time{}}
	for i := range f.has {
		f.has[i] = map[string]Memory{}
	}
	return f
}

// tell keeps a form at a replica and sends it to everybody.
func (f *fleet) tell(at int, m Memory) {
	f.has[at][m.ID] = m
	f.knows[m.ID] = later(f.knows[m.ID], m.Life.At)
	f.sent = append(f.sent, m)
}

func (f *fleet) hear(at int, m Memory) {
	if have, ok := f.has[at][m.ID]; ok {
		m = Merged(have, m)
	}
	f.has[at][m.ID] = m
}

func (f *fleet) said() Evidence {
	f.n++
	return Evidence{Session: fmt.Sprint("s", f.rnd.IntN(4)), Turn: f.n, Quote: fmt.Sprint("quote ", f.n), Time: f.now, Context: "before, quote, after"}
}

// edit does one random thing at one replica. The clocks of the replicas differ
// by seconds, so that two edits often have one time.
func (f *fleet) edit() {
	at := f.rnd.IntN(3)
	f.now = f.now.Add(time.Duration(f.rnd.IntN(2)) * 3 * time.Second)
	now := f.now.Add(time.Duration(at) * 3 * time.Second)
	id := fmt.Sprint("m", f.rnd.IntN(4))
	old, ok := f.has[at][id]
	if !ok {
		f.tell(at, Memory{ID: id, Tenant: "t", Scope: "user:ann", Text: id, About: "home", Type: UserFact, State: Active,
			Evidence: []Evidence{f.said()}, CreatedAt: now, UpdatedAt: now, Revision: 1})
		return
	}
	m := old
	m.Evidence, m.SourceIDs = slices.Clone(old.Evidence), slices.Clone(old.SourceIDs)
	revise := func() { m.Follows(&old, now); m.UpdatedAt = now; f.tell(at, m) }
	switch f.rnd.IntN(8) {
	case 0:
		f.n++
		m.Text = fmt.Sprint("text ", f.n)
		revise()
	case 1:
		m.Evidence = append(m.Evidence, f.said())
		m.LastVerified = now
		revise()
	case 2:
		m.State, m.SupersededBy, m.ValidTo = Superseded, fmt.Sprint("m", f.rnd.IntN(4)), now
		revise()
	case 3:
		m.State, m.ArchivedAt = Archived, now
		revise()
	case 4:
		m.State, m.SupersededBy, m.ValidTo, m.ArchivedAt = Active, "", time.Time{}, time.Time{}
		revise()
	case 5: // counting makes no revision
		m.Uses, m.LastUsed = m.Uses+1, now
		f.tell(at, m)
	case 6: // nor does erasing what it rests on
		if len(m.Evidence) == 0 {
			return
		}
		i := f.rnd.IntN(len(m.Evidence))
		f.gone[m.Evidence[i].Quote] = true
		m.Evidence = slices.Delete(m.Evidence, i, i+1)
		m.Loses(&old)
		m.UpdatedAt = now
		f.tell(at, m)
	case 7:
		if id := fmt.Sprint("source ", f.n); !slices.Contains(m.SourceIDs, id) {
			m.SourceIDs = append(m.SourceIDs, id)
			revise()
		}
	}
}

func TestAnyOrderOfDeliveriesGivesOneState(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	for seed := range uint64(300) {
		f := newFleet(seed)
		for range 60 {
			f.edit()
			if f.rnd.IntN(3) == 0 { // something arrives meanwhile, maybe not for the first time
				f.hear(f.rnd.IntN(3), f.sent[f.rnd.IntN(len(f.sent))])
			}
		}
		for at := range f.has {
			late := append(slices.Clone(f.sent), f.sent[:len(f.sent)/2]...)
			f.rnd.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
			for _, m := range late {
				f.hear(at, m)
			}
		}
		for id, m := range f.has[0] {
			for at := 1; at < 3; at++ {
				other := f.has[at][id]
				if m.Digest() != other.Digest() {
					t.Fatalf("seed %d: replicas 0 and %d disagree on %s:\n%s", seed, at, id, cmp.Diff(m, other))
				}
			}
			for _, e := range m.Evidence {
				if f.gone[e.Quote] {
					t.Fatalf("seed %d: %q was erased and is back", seed, e.Quote)
				}
			}
			if !m.Life.At.Equal(f.knows[id]) {
				t.Fatalf("seed %d: %s stands at clock %v of %v", seed, id, m.Life.At, f.knows[id])
			}
		}
		if a, b, c := f.holds(0), f.holds(1), f.holds(2); a != b || a != c {
			t.Fatalf("seed %d: what holds is %q, %q and %q", seed, a, b, c)
		}
	}
}

// holds is the one active memory that recall shows of those about one thing.
func (f *fleet) holds(at int) string {
	last := ""
	for id, m := range f.has[at] {
		if m.State != Active {
			continue
		}
		if was, ok := f.has[at][last]; !ok || Order(&m, &was) > 0 {
			last = id
		}
	}
	return last
}

func TestMergedIsASemilattice(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through many merges")
	}
	for seed := range uint64(200) {
		f := newFleet(seed)
		for range 40 {
			f.edit()
		}
		var forms []Memory
		for _, m := range f.sent {
			if m.ID == "m0" {
				forms = append(forms, m)
			}
		}
		if len(forms) == 0 {
			continue
		}
		pick := func() Memory { return forms[f.rnd.IntN(len(forms))] }
		for range 50 {
			a, b, c := pick(), pick(), pick()
			same := func(what string, x, y Memory) {
				t.Helper()
				if x.Digest() != y.Digest() {
					t.Fatalf("seed %d: %s:\n%s", seed, what, cmp.Diff(x, y))
				}
			}
			same("not commutative", Merged(a, b), Merged(b, a))
			same("not associative", Merged(Merged(a, b), c), Merged(a, Merged(b, c)))
			same("not idempotent", Merged(a, a), a)
			same("not absorbing", Merged(Merged(a, b), b), Merged(a, b))
		}
	}
}

func TestAnOlderFormBringsNothingBack(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	first := Memory{ID: "m", Text: "lives in Bonn", State: Active, Revision: 1, CreatedAt: now, UpdatedAt: now,
		Evidence: []Evidence{{Session: "s", Turn: 1, Quote: "I live in Bonn", Time: now, Context: "hello; I live in Bonn; fine"}}}
	superseded := first
	superseded.State, superseded.SupersededBy = Superseded, "m2"
	superseded.Follows(&first, now.Add(time.Hour))
	// Another sidecar hasn't heard of it, and confirms the memory twice.
	confirmed := first
	for i := range 2 {
		was := confirmed
		confirmed.LastVerified, confirmed.UpdatedAt = now.Add(2*time.Hour), now.Add(2*time.Hour)
		confirmed.Evidence = append(slices.Clone(was.Evidence), Evidence{Session: "t", Turn: i, Quote: "still in Bonn", Time: now.Add(2 * time.Hour)})
		confirmed.Follows(&was, now.Add(2*time.Hour))
	}
	m := Merged(confirmed, superseded)
	if m.State != Superseded || m.SupersededBy != "m2" || len(m.Evidence) != 3 || m.Revision != 3 {
		t.Errorf("a later confirmation undoes a supersession: %+v", m)
	}
	// Who restores it knows of that, and it is live again.
	back := m
	back.State, back.SupersededBy = Active, ""
	back.Follows(&m, now.Add(time.Minute)) // by a clock that is behind
	if got := Merged(superseded, back); got.State != Active {
		t.Errorf("restored and merged with what it was: %s", got.State)
	}
	// A context that was cut out stays out.
	cut := back
	cut.Evidence = slices.Clone(back.Evidence)
	cut.Evidence[0].Context = ""
	if got := Merged(first, cut); got.Evidence[0].Context != "" {
		t.Errorf("the context is back: %q", got.Evidence[0].Context)
	}
}

func TestDigestIsTheSameForEverybody(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 123456789, time.UTC)
	m := Memory{ID: "m", Tenant: "t", Text: "tea", State: Active, CreatedAt: now, UpdatedAt: now, SourceIDs: []string{"b", "a"},
		Evidence: []Evidence{{Session: "s", Turn: 2, Quote: "x", Time: now}, {Session: "s", Turn: 1, Quote: "y", Time: now}}}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var read Memory
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	read.Metadata, read.Tenant = map[string]string{}, "linked"
	read.CreatedAt = read.CreatedAt.Truncate(time.Millisecond).In(time.FixedZone("", 3600))
	slices.Reverse(read.Evidence)
	slices.Reverse(read.SourceIDs)
	if m.Digest() != read.Digest() {
		t.Error("the same memory has two digests")
	}
	for what, change := range map[string]func(*Memory){
		"text":     func(m *Memory) { m.Text = "coffee" },
		"uses":     func(m *Memory) { m.Uses++ },
		"clock":    func(m *Memory) { m.Life.At = now },
		"evidence": func(m *Memory) { m.Evidence = m.Evidence[:1] },
		"lost":     func(m *Memory) { m.Life.Lost = []string{"h"} },
	} {
		other := m
		change(&other)
		if m.Digest() == other.Digest() {
			t.Errorf("another %s, the same digest", what)
		}
	}
}

func TestEqualClocksAreDecidedByWhatIsSaid(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	a := Memory{ID: "m", Text: "tea", State: Superseded, SupersededBy: "x", Revision: 2, UpdatedAt: now, Life: Life{At: now}}
	b := a
	b.Text, b.State, b.SupersededBy = "coffee", Archived, ""
	if x, y := Merged(a, b), Merged(b, a); x.Digest() != y.Digest() {
		t.Errorf("depends on the order:\n%s", cmp.Diff(x, y))
	}
}
