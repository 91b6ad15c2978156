package lifecycle_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/reflect/wording"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

var ann = store.Owner{Tenant: "t", User: "ann"}

// A thing has one value at a time; each form says it in another way. A form
// that ends in "!" corrects.
var things = []struct {
	query  string
	forms  []string
	values []string
}{
	{"badge number", []string{"My badge is %s.", "My badge number is now %s.", "My badge has changed to %s.", "No, sorry: my badge is %s.!"}, []string{"B4411", "B4412", "B4413"}},
	{"where do I live 住在", []string{ // one thing in two languages
		"I live in %s.", "I now live in %s.", "I moved to %s.", "Actually, I live in %s.!", "我住在%s。", "我现在住在%s。", "我上个月搬到%s了。",
	}, []string{"Lisbon", "Oslo", "Turin", "杭州", "成都", "厦门"}},
	{"staging port", []string{"My staging port is %s.", "my staging port is %s"}, []string{"8090", "8091", "8092", "9001"}},
	{"工号", []string{"我的工号是%s。", "我的工号改成%s了。", "我的工号现在是%s。"}, []string{"7701", "7702", "7703"}},
	{"邮箱", []string{"我的邮箱是%s。", "我的邮箱改成%s了。"}, []string{"a@example.org", "b@example.org", "c@example.org"}},
}

// said is one statement of the history and what became of it.
type said struct {
	thing   int
	value   string
	text    string
	corr    bool
	at      time.Time
	session string
	kept    bool // delivered, and not refused
	known   bool // kept, and neither forgotten nor swept since
}

// life plays a history against a real store.
type life struct {
	*badgerdb.Store
	t    *testing.T
	rng  *rand.Rand
	at   atomic.Int64 // its clock, in nanoseconds
	idx  *index.Index
	all  []*said
	jobs map[string]store.Job // by session, once delivered
	gone map[string]time.Time // texts that a person had forgotten
}

func (l *life) time() time.Time { return time.Unix(0, l.at.Load()).UTC() }

func newLife(t *testing.T, seed uint64) *life {
	l := &life{
		t: t, rng: rand.New(rand.NewPCG(seed, 8)), jobs: map[string]store.Job{}, gone: map[string]time.Time{},
	}
	st, err := badgerdb.New(badgerdb.Config{Dir: t.TempDir(), Now: l.time, Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = st.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if err := st.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Store, l.idx = st, index.New(index.Config{}, st)
	t.Cleanup(l.idx.Close)
	return l
}

// say adds a statement to the history, in a session of its own.
func (l *life) say() *said {
	l.at.Add(int64(time.Duration(1+l.rng.IntN(90)) * time.Minute))
	n := l.rng.IntN(len(things))
	form, corr := strings.CutSuffix(things[n].forms[l.rng.IntN(len(things[n].forms))], "!")
	value := things[n].values[l.rng.IntN(len(things[n].values))]
	for strings.HasPrefix(things[n].query, "where") && wording.HasHan(form) != wording.HasHan(value) {
		value = things[n].values[l.rng.IntN(len(things[n].values))]
	}
	s := &said{thing: n, value: value, text: fmt.Sprintf(form, value), corr: corr, at: l.time(), session: fmt.Sprintf("s%03d", len(l.all))}
	l.all = append(l.all, s)
	return s
}

// deliver has a session recorded and reflected, as a dead letter so that it may
// be put back into the queue.
func (l *life) deliver(s *said) {
	l.t.Helper()
	job, again := l.jobs[s.session]
	if again {
		if _, err := l.Requeue(l.t.Context(), job.ID); err != nil {
			l.t.Fatal(err)
		}
	} else {
		l.Finish(&store.Exchange{
			ID: "x-" + s.session, Session: s.session, Owner: ann, Status: store.Complete, Started: s.at, Finished: s.at, Zone: "UTC", Dialect: "chat", Turn: 1, Tokens: 9,
			Events: []store.Event{{Kind: store.UserInput, Time: s.at, Turn: 1, Text: s.text}},
		})
		if err := l.Flush(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
		if _, ok, err := l.Enqueue(l.t.Context(), ann, s.session, store.TriggerExplicit); err != nil || !ok {
			l.t.Fatalf("enqueue: %v %v", ok, err)
		}
	}
	j, ok, err := l.Claim(l.t.Context(), "test", time.Minute)
	if err != nil || !ok || j.Session != s.session {
		l.t.Fatalf("claim: %v %v, session %s", ok, err, j.Session)
	}
	out := l.fit(j, s)
	out.Dead = "to be delivered again"
	done, err := l.Apply(l.t.Context(), j, out)
	if err != nil {
		l.t.Fatal(err)
	}
	l.jobs[s.session] = done
	if _, err := l.Apply(l.t.Context(), j, out); !errors.Is(err, store.ErrStale) {
		l.t.Fatalf("the same claim applied twice: %v", err)
	}
	if at, is := l.gone[store.Fold(s.text)]; is && !s.at.After(at) {
		return
	}
	delete(l.gone, store.Fold(s.text))
	if !again {
		s.kept, s.known = true, true
	}
}

func (l *life) fit(j store.Job, s *said) store.Outcome {
	return lifecycle.Fit(lifecycle.Input{
		Job: j, Existing: l.memories(), Now: l.time(),
		Found: extract.Result{Candidates: []extract.Candidate{{
			Type: store.UserFact, Text: s.text, Quote: s.text, By: store.ByUser, Turn: 1, Time: s.at, Importance: 0.8, Confidence: 0.9, Corrects: s.corr,
		}}},
	})
}

func (l *life) memories() []store.Memory {
	l.t.Helper()
	ms, _, err := l.ScopeMemories(l.t.Context(), "t", ann.Scope())
	if err != nil {
		l.t.Fatal(err)
	}
	slices.SortFunc(ms, func(a, b store.Memory) int { return cmp.Compare(a.ID, b.ID) }) // the store's order hangs on its key
	return ms
}

// undo takes back a replacement: the one before lives again, what replaced it
// is forgotten.
func (l *life) undo() {
	l.t.Helper()
	ms := l.memories()
	var old, live *store.Memory
	for i := range ms {
		for k := range ms {
			a, b := &ms[i], &ms[k]
			if a.State == store.Superseded && b.State == store.Active && a.SupersededBy == b.ID && (live == nil || live.ID == b.ID) && (old == nil || store.Order(old, a) < 0) {
				old, live = a, b
			}
		}
	}
	if old == nil {
		return
	}
	l.at.Add(int64(time.Minute))
	if _, err := l.RestoreMemory(l.t.Context(), old.ID, 0); err != nil {
		l.t.Fatal(err)
	}
	delete(l.gone, store.Fold(old.Text))
	l.gone[store.Fold(live.Text)] = l.time()
	for _, s := range l.all {
		if restsOn(*live, s) {
			s.known = false
		}
	}
	for _, s := range l.all { // what lives again counts again
		if restsOn(*old, s) {
			s.known = true
		}
	}
}

// sweep archives one memory that no longer holds.
func (l *life) sweep() {
	l.t.Helper()
	for _, m := range l.memories() {
		if m.State != store.Superseded {
			continue
		}
		if _, err := l.EditMemory(l.t.Context(), m.ID, func(m *store.Memory) error { m.State = store.Archived; return nil }); err != nil {
			l.t.Fatal(err)
		}
		for _, s := range l.all {
			s.known = s.known && !restsOn(m, s)
		}
		return
	}
}

func restsOn(m store.Memory, s *said) bool {
	return slices.ContainsFunc(m.Evidence, func(e store.Evidence) bool { return e.Session == s.session })
}

// check holds the store against the history.
func (l *life) check(step string) {
	l.t.Helper()
	ms := l.memories()
	for n, thing := range things {
		var newest *said
		for _, s := range l.all {
			if s.thing == n && s.known && (newest == nil || s.at.After(newest.at)) {
				newest = s
			}
		}
		var live []string
		for _, m := range ms {
			if m.State == store.Active && about(n, m.Text) {
				live = append(live, m.Text)
			}
		}
		switch {
		case newest == nil && len(live) == 0:
		case newest == nil || len(live) != 1 || !strings.Contains(live[0], newest.value):
			l.t.Fatalf("%s: %s: live %q, want %+v", step, thing.query, live, newest)
		}
		res, err := l.idx.Search(l.t.Context(), index.Query{Tenant: "t", Scopes: []store.Scope{ann.Scope()}, Terms: terms(thing.query), Now: l.time()})
		if err != nil {
			l.t.Fatal(err)
		}
		for _, h := range res.Hits {
			if h.Memory.State != store.Active || about(n, h.Memory.Text) && h.Memory.Text != live[0] {
				l.t.Fatalf("%s: %s: recalled %q (%s), live is %q", step, thing.query, h.Memory.Text, h.Memory.State, live)
			}
		}
	}
	for _, s := range l.all { // nothing is lost
		if s.kept && !slices.ContainsFunc(ms, func(m store.Memory) bool { return restsOn(m, s) }) {
			l.t.Fatalf("%s: %q of %s is nowhere", step, s.text, s.session)
		}
	}
	for _, m := range ms {
		if m.State == store.Superseded && !slices.ContainsFunc(ms, func(o store.Memory) bool { return o.ID == m.SupersededBy }) {
			l.t.Fatalf("%s: %q is superseded by nothing", step, m.Text)
		}
	}
}

func terms(s string) []index.Term {
	var out []index.Term
	for _, t := range index.Terms(s) {
		out = append(out, index.Term{Text: t, Weight: 1})
	}
	return out
}

func about(n int, text string) bool {
	return slices.ContainsFunc(things[n].values, func(v string) bool { return strings.Contains(text, v) })
}

// Random histories of facts, repetitions, corrections, undos and sweeps, whose
// sessions are delivered late, twice and in another order.
func TestHistories(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := newLife(t, seed)
			var waiting, done []*said
			for step := range 60 {
				var what string
				switch p := l.rng.IntN(20); {
				case p < 2:
					what = "undo"
					l.undo()
				case p == 2:
					what = "sweep"
					l.sweep()
				case p < 6 && len(done) > 0:
					s := done[l.rng.IntN(len(done))]
					what = "again " + s.text
					l.deliver(s)
				default:
					waiting = append(waiting, l.say())
					if len(waiting) < 5 && l.rng.IntN(3) == 0 {
						continue // delayed
					}
					k := l.rng.IntN(len(waiting)) // in any order
					s := waiting[k]
					waiting = slices.Delete(waiting, k, k+1)
					what = "deliver " + s.text
					l.deliver(s)
					done = append(done, s)
				}
				l.check(fmt.Sprintf("step %d (%s)", step, what))
			}
			for _, s := range waiting {
				l.deliver(s)
				done = append(done, s)
				l.check("at last " + s.text)
			}
			done = slices.DeleteFunc(done, func(s *said) bool { // refused then, but the tombstone may be lifted since
				return slices.ContainsFunc(l.jobs[s.session].Dropped, func(d store.Dropped) bool { return d.Reason == "forgotten" })
			})
			before := l.memories()
			for range 10 {
				for _, s := range done {
					l.deliver(s)
				}
			}
			if diff := gocmp.Diff(before, l.memories()); diff != "" {
				t.Errorf("ten replays changed something: %s", diff)
			}
		})
	}
}
