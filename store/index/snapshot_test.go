package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// shelf keeps snapshots in memory, over the changes of its sources.
type shelf struct {
	s *source
	v *vectorSource

	mu    sync.Mutex
	kept  map[store.Scope][][]byte
	since map[store.Scope]moment
	reads int
	fail  error
}

func newShelf(s *source, v *vectorSource) *shelf {
	return &shelf{s: s, v: v, kept: map[store.Scope][][]byte{}, since: map[store.Scope]moment{}}
}

func (f *shelf) HasSnapshot(_ string, sc store.Scope) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kept[sc] != nil
}

func (f *shelf) KeepSnapshot(_ context.Context, _ string, sc store.Scope, version, seen uint64, parts iter.Seq2[[]byte, error]) error {
	if f.fail != nil {
		return f.fail
	}
	var all [][]byte
	for p, err := range parts {
		if err != nil {
			return err
		}
		all = append(all, slices.Clone(p))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[sc], f.since[sc] = all, moment{version, seen}
	return nil
}

func (f *shelf) ReadSnapshot(_ context.Context, tenant string, sc store.Scope, take func([]byte) error, changed func(store.Memory, []float32)) (uint64, uint64, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.kept[sc] == nil {
		return 0, 0, false, nil
	}
	for _, p := range f.kept[sc] {
		if err := take(p); err != nil {
			return 0, 0, false, err
		}
	}
	mems, version, _ := f.s.ScopeChanges(tenant, sc, f.since[sc].version)
	seen := f.v.VectorVersion(tenant, sc)
	for _, m := range mems {
		changed(m, f.v.by[m.ID])
	}
	return version, seen, true, nil
}

// stocked is a scope of n memories with evidence, two thirds of them with vectors;
// some changed after they were first seen.
func stocked(n int) (*source, *vectorSource) {
	s, v := newSource(), &vectorSource{}
	rnd := rand.New(rand.NewPCG(9, 9))
	for i, m := range library(n) {
		if i%7 == 0 {
			m.Type, m.Subject = store.Preference, "the 偏好 of "+m.ID
		}
		if i%11 == 0 {
			m.State, m.Metadata = store.Archived, map[string]string{"k": "v"}
		}
		s.put(m)
		if i%3 > 0 {
			v.put(m.ID, unitVector(rnd, 33)...)
		}
	}
	return s, v
}

// answers are those of an index to many questions.
func answers(t *testing.T, x *Index, s *source) []Result {
	t.Helper()
	rnd := rand.New(rand.NewPCG(2, 9))
	var out []Result
	for i := range 20 {
		q := meant(s.mems[ann][i*13].Text+" "+s.mems[ann][i*7].Scenario+" 偏好", unitVector(rnd, 33)...)
		q.Archived = i%2 == 0
		r, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestARestoredScopeAnswersAlike compares an index on a snapshot and the changes
// since with one that analysed everything.
func TestARestoredScopeAnswersAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v := stocked(1200)
		f := newShelf(s, v)
		first := New(Config{Vectors: v, Snapshots: f}, s)
		answers(t, first, s)
		for i := range 40 { // dead ones before the snapshot
			m := s.mems[ann][i*5]
			m.Importance = 0.5
			s.put(m)
		}
		answers(t, first, s)
		time.Sleep(time.Minute)
		first.Close()
		if f.kept[ann] == nil {
			t.Fatal("no snapshot was kept")
		}
		rnd := rand.New(rand.NewPCG(4, 4))
		for i := range 30 { // and changes after it
			m := s.mems[ann][i*17]
			m.Text += " and something new"
			s.put(m)
			v.put(m.ID, unitVector(rnd, 33)...)
		}
		gone := s.mems[ann][3]
		gone.State = store.Quarantined
		s.put(gone)
		loads := s.loads
		second, plain := New(Config{Vectors: v, Snapshots: f}, s), New(Config{Vectors: v}, s)
		defer second.Close()
		defer plain.Close()
		got := answers(t, second, s)
		if s.loads != loads {
			t.Error("the snapshot wasn't used")
		}
		want := answers(t, plain, s)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < tolerance() })
		values := cmp.Comparer(func(a, b float32) bool { return a-b < 1e-4 && b-a < 1e-4 })
		if codes() { // those far from the best may change places
			if diff := cmp.Diff(scores(want), scores(got), near); diff != "" {
				t.Errorf("a restored scope scores otherwise (-analysed +restored):\n%s", diff)
			}
			return
		}
		if diff := cmp.Diff(want, got, near, values); diff != "" {
			t.Errorf("a restored scope answers otherwise (-analysed +restored):\n%s", diff)
		}
	})
}

// scores are those of all hits, result by result.
func scores(all []Result) [][]float64 {
	out := make([][]float64, len(all))
	for i, r := range all {
		for _, h := range r.Hits {
			out[i] = append(out[i], h.Score)
		}
	}
	return out
}

// tolerance is how far two ways to one score may lie apart: where the kernel works
// on codes, only the best are rescored.
func tolerance() float64 {
	if codes() {
		return 2e-3
	}
	return 1e-4
}

// TestEveryFieldOfAMemoryIsKept fails where a memory gets a field of a type that
// a snapshot can't keep.
func TestEveryFieldOfAMemoryIsKept(t *testing.T) {
	var m store.Memory
	n := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		n++
		switch {
		case v.Type() == timeType:
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, n, time.FixedZone("", 3600*(n%3)))))
		case v.Kind() == reflect.String:
			v.SetString(fmt.Sprint("s", n))
		case v.CanInt():
			v.SetInt(int64(-n))
		case v.CanFloat():
			v.SetFloat(float64(n) / 7)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0))
			fill(v.Index(1))
		case v.Kind() == reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key)
			fill(value)
			v.SetMapIndex(key, value)
		default:
			t.Errorf("a field of type %s", v.Type())
		}
	}
	fill(reflect.ValueOf(&m).Elem())
	for _, want := range []store.Memory{m, {}, {Metadata: map[string]string{}, Evidence: []store.Evidence{}}} {
		b, err := appendValue(nil, reflect.ValueOf(want))
		if err != nil {
			t.Fatal(err)
		}
		var got store.Memory
		r := &reader{text: string(b)}
		r.value(reflect.ValueOf(&got).Elem())
		if r.bad || r.at != len(b) {
			t.Errorf("bad %v, %d of %d bytes read", r.bad, r.at, len(b))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func parts(t *testing.T, s *scope) [][]byte {
	t.Helper()
	var all [][]byte
	for p, err := range s.snapshot(s.version, s.seen) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// TestADamagedSnapshotIsRefused damages parts, with and without a right sum.
func TestADamagedSnapshotIsRefused(t *testing.T) {
	src, v := stocked(60)
	s := newScope(src.mems[ann], 1)
	if _, err := v.ScopeVectors(t.Context(), "", ann, s.embed); err != nil {
		t.Fatal(err)
	}
	all := parts(t, s)
	restore := func(all [][]byte) (*scope, error) {
		r := restorer{vectors: true}
		for _, p := range all {
			if err := r.take(p); err != nil {
				return nil, err
			}
		}
		return r.done()
	}
	if _, err := restore(all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if _, err := restore(slices.Delete(slices.Clone(all), i, i+1)); err == nil && all[i][0] != partTerms {
			t.Errorf("without part %d of %d it is taken", i, len(all))
		}
	}
	rnd := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		i := rnd.IntN(len(all))
		bad := slices.Clone(all)
		bad[i] = slices.Clone(all[i])
		n := len(bad[i]) - 4
		bad[i][rnd.IntN(n)] ^= byte(1 + rnd.IntN(255))
		if _, err := restore(bad); err == nil {
			t.Fatal("a changed byte was taken")
		}
		bad[i] = sum(bad[i][:n-rnd.IntN(min(n, 5))])
		if s, err := restore(bad); err == nil { // a changed word, maybe: it must only hold together
			r := search{q: meant("zzz 偏好", 1), scopes: []*scope{s}, scratch: new(scratch)}
			if _, err := r.do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestASnapshotShowsOneMoment ends one whose scope changes under it.
func TestASnapshotShowsOneMoment(t *testing.T) {
	src, _ := stocked(60)
	s := newScope(src.mems[ann], 1)
	n, last := 0, error(nil)
	for _, err := range s.snapshot(1, 0) {
		if n++; n == 1 {
			s.version++
		}
		last = err
	}
	if n != 2 || !errors.Is(last, errMoved) {
		t.Errorf("%d parts, then %v", n, last)
	}
}

// TestAFailingShelfChangesNothing reads rows where snapshots can't be kept or read.
func TestAFailingShelfChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v := stocked(600)
		f := newShelf(s, v)
		f.fail = errors.New("no room")
		f.kept[ann] = [][]byte{[]byte("nonsense")}
		x := New(Config{Vectors: v, Snapshots: f}, s)
		defer x.Close()
		plain := New(Config{Vectors: v}, s)
		defer plain.Close()
		if got := len(answers(t, x, s)[0].Hits); got != DefaultLimit {
			t.Errorf("%d hits", got)
		}
		time.Sleep(time.Minute)
		if len(answers(t, x, s)) != 20 || f.reads != 1 {
			t.Errorf("%d reads", f.reads)
		}
	})
}

// TestSnapshotsAreWrittenSeldom counts them: none for a small scope, none for a few
// changes, and one for an evicted scope that has none.
func TestSnapshotsAreWrittenSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v := stocked(600)
		small := memory("small", "note")
		small.Scope = "user:small"
		s.put(small)
		f := newShelf(s, v)
		x := New(Config{Vectors: v, Snapshots: f, Budget: 1}, s)
		defer x.Close()
		look := func(words string, sc store.Scope) { ids(t, x, ask(words, sc)) }
		look("note", ann)
		look("note", small.Scope) // evicts the other
		synctest.Wait()
		if f.kept[ann] == nil {
			t.Fatal("an evicted scope wasn't kept")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.kept[small.Scope] != nil {
			t.Error("a small scope was kept")
		}
		was := f.since[ann]
		change := func(n int) {
			for i := range n {
				s.put(s.mems[ann][i])
			}
			look("note", ann)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		change(10)
		if f.since[ann] != was {
			t.Error("ten changes made a new snapshot")
		}
		change(300)
		if f.since[ann] == was {
			t.Error("300 changes made no new snapshot")
		}
	})
}
