package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// TestOwnScoreIsBM25 holds the words leg to the formula written down again.
func TestOwnScoreIsBM25(t *testing.T) {
	s := newSource()
	texts := []string{"the red boat", "a red red house near a river", "green boat race winner", "nothing else matters today"}
	for i, text := range texts {
		s.put(memory(fmt.Sprint(i), text))
	}
	res, err := open(t, Config{}, s).Search(t.Context(), ask("red boat"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, h := range res.Hits {
		got[h.Memory.ID] = h.Words.Own
	}
	mean := 0.0
	for _, text := range texts {
		mean += float64(len(Terms(text))) / float64(len(texts))
	}
	for i, text := range texts {
		want := 0.0
		terms := Terms(text)
		for _, q := range []string{"red", "boat"} {
			df, tf := 0, 0
			for _, other := range texts {
				if slices.Contains(Terms(other), q) {
					df++
				}
			}
			for _, w := range terms {
				if w == q {
					tf++
				}
			}
			idf := math.Log(1 + (4-float64(df)+0.5)/(float64(df)+0.5))
			want += idf * float64(tf) * 2.2 / (float64(tf) + 1.2*(0.25+0.75*float64(len(terms))/mean))
		}
		if math.Abs(got[fmt.Sprint(i)]-want) > 1e-5 {
			t.Errorf("score of %q = %v, want %v", text, got[fmt.Sprint(i)], want)
		}
	}
}

func TestNeighboursAndSessionsCount(t *testing.T) {
	s := newSource()
	at := func(id, text, session string, turn int) {
		m := memory(id, text)
		m.Evidence = []store.Evidence{{Session: session, Turn: turn}}
		s.put(m)
	}
	at("question", "which colour did the kitchen get", "s1", 1)
	at("answer", "it was painted yellow", "s1", 2)
	at("far", "it was cheap as well", "s1", 9)
	at("other", "it was painted yellow", "s2", 2)
	res, err := open(t, Config{}, s).Search(t.Context(), ask("kitchen painted"))
	if err != nil {
		t.Fatal(err)
	}
	hit := map[string]Hit{}
	for _, h := range res.Hits {
		hit[h.Memory.ID] = h
	}
	if hit["answer"].Words.Near != hit["question"].Words.Own {
		t.Errorf("near of the answer = %v, want the question's own %v", hit["answer"].Words.Near, hit["question"].Words.Own)
	}
	if hit["answer"].Words.Score <= hit["other"].Words.Score || hit["answer"].Words.Session <= hit["other"].Words.Session {
		t.Errorf("the answer beside its question isn't above the same words elsewhere: %+v, %+v", hit["answer"].Words, hit["other"].Words)
	}
	if _, ok := hit["far"]; ok {
		t.Error("a memory far from any match is a candidate")
	}
	if diff := cmp.Diff([]Match{InNear, InOwn}, hit["answer"].Match); diff != "" {
		t.Errorf("match of the answer (-want +got):\n%s", diff)
	}
}

func TestFieldsCount(t *testing.T) {
	s := newSource()
	m := memory("fact", "Ann's door code is 4711")
	m.Subject, m.Scenario = "keys", "when visiting her flat"
	m.Evidence = []store.Evidence{{Quote: "it's 4711", Context: "how does one enter the building"}}
	s.put(m)
	x := open(t, Config{}, s)
	for words, want := range map[string]Match{"code": InOwn, "keys": InOwn, "visiting": InOwn, "building": InNear} {
		res, err := x.Search(t.Context(), ask(words))
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) != 1 || res.Hits[0].Match[0] != want {
			t.Errorf("search for %q: %+v, want one hit with match %d", words, res.Hits, want)
		}
	}
}

// TestChangesTakeEffectAtTheNextSearch walks a memory through its life.
func TestChangesTakeEffectAtTheNextSearch(t *testing.T) {
	s := newSource()
	x := open(t, Config{}, s)
	m := memory("m", "the boiler needs service")
	step := func(name string, want ...string) {
		t.Helper()
		if got := ids(t, x, ask("boiler service")); !slices.Equal(got, want) {
			t.Errorf("%s: found %v, want %v", name, got, want)
		}
	}
	step("nothing stored")
	s.put(m)
	step("stored", "m")
	m.Text = "the heating was replaced"
	s.put(m)
	step("edited")
	m.Text = "the boiler needs service"
	m.State = store.Archived
	s.put(m)
	step("archived")
	q := ask("boiler service")
	q.Archived = true
	if got := ids(t, x, q); !slices.Equal(got, []string{"m"}) {
		t.Errorf("archived ones included: found %v", got)
	}
	m.State = store.Active
	s.put(m)
	step("restored", "m")
	m.State = store.Superseded
	s.put(m)
	step("superseded")
	m.State, m.ValidTo = store.Active, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s.put(m)
	step("no longer valid")
	m.ValidTo, m.ValidFrom = time.Time{}, time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
	s.put(m)
	step("not yet valid")
	if s.loads != 1 {
		t.Errorf("the scope was loaded %d times, want 1", s.loads)
	}
	s.keep = 0
	m.ValidFrom = time.Time{}
	s.put(m)
	step("too far back to follow", "m")
	if s.loads != 2 {
		t.Errorf("the scope was loaded %d times, want 2", s.loads)
	}
}

func TestScopesAreApart(t *testing.T) {
	s := newSource()
	s.put(memory("a", "blue bicycle"))
	m := memory("b", "blue bicycle")
	m.Scope = "user:bob"
	s.put(m)
	x := open(t, Config{}, s)
	if got := ids(t, x, ask("bicycle")); !slices.Equal(got, []string{"a"}) {
		t.Errorf("Ann's scope gives %v", got)
	}
	if got := ids(t, x, ask("bicycle", ann, "user:bob", ann)); len(got) != 2 {
		t.Errorf("both scopes, one of them twice, give %v", got)
	}
}

func TestKeepAndLimit(t *testing.T) {
	s := newSource()
	for i := range 2000 {
		m := memory(fmt.Sprintf("%04d", i), "common word "+strings.Repeat("filler ", i%7))
		if i%2 == 0 {
			m.Type = store.Preference
		}
		s.put(m)
	}
	x := open(t, Config{}, s)
	all := ask("common word")
	all.Limit = 1 << 20
	every := ids(t, x, all)
	if len(every) != 2000 {
		t.Fatalf("found %d of 2000", len(every))
	}
	q := ask("common word")
	if got := ids(t, x, q); !slices.Equal(got, every[:DefaultLimit]) {
		t.Errorf("the limited search differs from the head of the whole one:\n%v\n%v", got, every[:DefaultLimit])
	}
	q.Keep = func(m *store.Memory) bool { return m.Type == store.Preference }
	for _, id := range ids(t, x, q) {
		if (id[3]-'0')%2 != 0 {
			t.Errorf("%s came although Keep refuses it", id)
		}
	}
}

func TestErrors(t *testing.T) {
	s := newSource()
	s.fail = errors.New("disk on fire")
	x := New(Config{}, s)
	if _, err := x.Search(t.Context(), ask("x1")); !errors.Is(err, s.fail) {
		t.Errorf("error = %v, want the source's", err)
	}
	s.fail = nil
	if _, err := x.Search(t.Context(), ask("x1")); err != nil {
		t.Errorf("after the source has recovered: %v", err)
	}
	x.Close()
	if _, err := x.Search(t.Context(), ask("x1")); err == nil {
		t.Error("a closed index answers")
	}
}

// TestLoadOutlivesItsRequest: the deadline of one request must not keep a large
// scope from ever being loaded.
func TestLoadOutlivesItsRequest(t *testing.T) {
	s := newSource()
	s.put(memory("m", "slow disk"))
	s.loading = make(chan struct{})
	x := open(t, Config{}, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, ask("disk")); !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v, want the context's", err)
	}
	close(s.loading)
	if got := ids(t, x, ask("disk")); len(got) != 1 || s.loads != 1 {
		t.Errorf("found %v after %d loads, want one hit after one load", got, s.loads)
	}
}

func TestForgetTakesAScopeOutOfMemory(t *testing.T) {
	s := newSource()
	x := open(t, Config{}, s)
	for _, sc := range []store.Scope{"user:1", "user:2"} {
		m := memory(string(sc), "note number n7")
		m.Scope = sc
		s.put(m)
		ids(t, x, ask("note", sc))
	}
	left := x.used
	x.Forget("t", "user:1")
	x.Forget("t", "user:3")
	x.Forget("other", "user:2")
	if len(x.slots) != 1 || x.recent.Len() != 1 || x.used != left/2 {
		t.Errorf("%d slots are held and %d bytes of %d", len(x.slots), x.used, left)
	}
	if got := ids(t, x, ask("note", "user:1")); len(got) != 1 || s.loads != 3 {
		t.Errorf("afterwards it isn't read anew: %v, %d loads", got, s.loads)
	}
}

func TestBudgetEvictsTheLeastRecentlyUsed(t *testing.T) {
	s := newSource()
	scopes := []store.Scope{"user:1", "user:2", "user:3", "user:4"}
	for _, sc := range scopes {
		for i := range 20 {
			m := memory(fmt.Sprint(sc, i), fmt.Sprintf("note number n%d", i))
			m.Scope = sc
			s.put(m)
		}
	}
	one := newScope(s.mems["user:1"], 0).bytes
	x := open(t, Config{Budget: 2*one + one/2}, s)
	for _, i := range []int{0, 1, 0, 2, 0} { // 2 evicts 1, not 0
		ids(t, x, ask("note", scopes[i]))
	}
	if s.loads != 3 {
		t.Errorf("%d loads, want 3", s.loads)
	}
	ids(t, x, ask("note", scopes[1]))
	if s.loads != 4 {
		t.Errorf("%d loads after the evicted scope, want 4", s.loads)
	}
	tiny := open(t, Config{Budget: 1}, s)
	if got := ids(t, tiny, ask("n7", scopes[0])); len(got) != 1 {
		t.Errorf("a scope above the budget isn't held: %v", got)
	}
	if len(tiny.slots) != 1 || tiny.used == 0 {
		t.Errorf("%d slots held, %d bytes", len(tiny.slots), tiny.used)
	}
}

// TestFollowedEqualsLoaded changes memories at random and compares an index
// that followed with one that is new.
func TestFollowedEqualsLoaded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("boat river house kitchen server deploy error timeout 接口 登录 数据库 生日 coffee tea bicycle")
	s := newSource()
	x := open(t, Config{}, s)
	for round := range 60 {
		for range 100 {
			m := memory(fmt.Sprint("m", rnd.IntN(300)), "")
			for range 2 + rnd.IntN(5) {
				m.Text += words[rnd.IntN(len(words))] + " "
			}
			m.State = []store.State{store.Active, store.Active, store.Active, store.Archived, store.Superseded}[rnd.IntN(5)]
			m.Evidence = []store.Evidence{{Session: fmt.Sprint("s", rnd.IntN(5)), Turn: rnd.IntN(10)}}
			s.put(m)
		}
		if round%10 != 9 {
			ids(t, x, ask("boat"))
			continue
		}
		fresh := open(t, Config{}, s)
		for _, w := range words {
			q := ask(w + " river")
			got, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := fresh.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-4 })
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Fatalf("round %d, %q (-loaded +followed):\n%s", round, w, diff)
			}
		}
	}
	if n := len(x.slots[slotKey{"t", ann}].scope.docs); n > 2500 {
		t.Errorf("%d documents kept for 300 memories: nothing was swept", n)
	}
}

func TestConcurrentSearches(t *testing.T) {
	s := newSource()
	other := store.Scope("user:bob")
	for i := range 50 {
		m := memory(fmt.Sprint("m", i), fmt.Sprintf("boat %d", i))
		s.put(m)
		m.Scope = other
		s.put(m)
	}
	x := open(t, Config{Budget: 1}, s)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 100 {
				sc := []store.Scope{ann, other}
				if w%2 == 0 {
					slices.Reverse(sc)
				}
				s.put(memory(fmt.Sprint("m", i%50), fmt.Sprintf("boat %d %d", w, i)))
				if res, err := x.Search(t.Context(), ask("boat", sc...)); err != nil || res.Docs != 100 {
					t.Errorf("%d documents, %v", res.Docs, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestListTakesNoWords(t *testing.T) {
	s := newSource()
	m := memory("always", "answer in French")
	m.Standing = true
	s.put(m)
	old := memory("was", "answer in Latin")
	old.Standing, old.State = true, store.Superseded
	s.put(old)
	s.put(memory("fact", "has a boat"))
	x := open(t, Config{}, s)
	q := ask("")
	if got, err := x.List(t.Context(), q); err != nil || len(got) != 2 {
		t.Errorf("list = %v, %v, want the two active ones", got, err)
	}
	q.Keep = func(m *store.Memory) bool { return m.Standing }
	if got, err := x.List(t.Context(), q); err != nil || len(got) != 1 || got[0].ID != "always" {
		t.Errorf("standing = %v, %v", got, err)
	}
}
