// Package storetest is the contract of whatever keeps memories and finds them:
// the embedded store with its index, and Weaviate. [Run] holds one backend to it;
// [Agree] asks two backends the same questions and says how far they agree. Both
// are called from tests of the backends; this package knows none of them.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
	"hindsight/store/index"
)

// Backend is one store of memories. What a call has written the next one sees.
type Backend interface {
	Put(ctx context.Context, tenant string, ms []store.SharedMemory) error
	// All returns a scope's memories in any state, whole.
	All(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, error)
	Delete(ctx context.Context, tenant string, sc store.Scope, ids []string) error
	Erase(ctx context.Context, tenant string, sc store.Scope) error
	Search(ctx context.Context, q index.Query) (index.Result, error)
	List(ctx context.Context, q index.Query) ([]*store.Memory, error)
}

// now is the moment at which questions are asked.
var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// Ask makes a query of a question's words.
func Ask(tenant, words string, scopes ...store.Scope) index.Query {
	q := index.Query{Tenant: tenant, Scopes: scopes, Now: now}
	add := func(text string, weight float64) {
		if text != "" && !slices.ContainsFunc(q.Terms, func(o index.Term) bool { return o.Text == text }) {
			q.Terms = append(q.Terms, index.Term{Text: text, Weight: weight})
		}
	}
	for _, t := range index.Terms(words) {
		add(t, 1)
		add(index.Concept(t), 0.5)
	}
	return q
}

// memory is an active one of a session and turn. Its id is that of its words.
func memory(tenant string, sc store.Scope, text string) store.Memory {
	at := now.Add(-24 * time.Hour)
	return store.Memory{
		ID: store.MemoryID(tenant, sc, "", 0, 0, "", text), Tenant: tenant, Scope: sc, Layer: store.Semantic, Type: store.UserFact,
		Text: text, Importance: 0.7, Confidence: 0.9, State: store.Active, AttributedTo: store.ByUser,
		Evidence: []store.Evidence{}, SourceIDs: []string{}, Metadata: map[string]string{},
		CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
}

// unit is a vector of length one that points mostly along one axis.
func unit(axis int) []float32 {
	v := make([]float32, 16)
	v[axis%16] = 1
	return v
}

// Run holds a backend to the contract. open returns an empty one that is used by
// one test.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, b Backend)
	}{
		{"what is written is read back whole", whole},
		{"an edit takes the place of what it edits", edits},
		{"a memory that got its vector later keeps it through a change", laterVector},
		{"scopes and tenants don't see each other", isolation},
		{"a scope that nobody ever wrote to is empty", nothing},
		{"only what is active and valid is found", states},
		{"the last word about a thing holds", lastWord},
		{"standing memories are listed", standing},
		{"deleted and erased memories are gone", gone},
		{"any text is kept and any question is answered", hostile},
		{"better matches come first and ties by age", order},
		{"words, meaning and neighbours find", legs},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

const tenant = "acme"

var ann, bob = store.UserScope("ann"), store.UserScope("bob")

func put(t *testing.T, b Backend, tenant string, ms ...store.SharedMemory) {
	t.Helper()
	if err := b.Put(t.Context(), tenant, ms); err != nil {
		t.Fatal(err)
	}
}

// search returns the texts of the hits, the best first.
func search(t *testing.T, b Backend, q index.Query) []string {
	t.Helper()
	res, err := b.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %+v: %v", q, err)
	}
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Memory.Text)
	}
	return out
}

func all(t *testing.T, b Backend, tenant string, sc store.Scope) []store.Memory {
	t.Helper()
	ms, err := b.All(t.Context(), tenant, sc)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(ms, func(a, b store.Memory) int { return strings.Compare(a.ID, b.ID) })
	return ms
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func whole(t *testing.T, b Backend) {
	m := memory(tenant, ann, "Ann's boat is called \"Möwe\" — 海鸥号 ⛵")
	m.Layer, m.Type, m.Subject, m.Scenario = store.Episodic, store.EventType, "boat", "when the harbour is spoken of"
	m.Importance, m.Confidence, m.Standing, m.AttributedTo = 0.25, 0.5, true, store.ByAssistant
	m.Evidence = []store.Evidence{{Session: "s1", Turn: 3, Quote: "my boat", Time: now.Add(-time.Hour), Context: "a: my boat\nb: nice"}}
	m.SourceIDs, m.Metadata = []string{"m1", "m2"}, map[string]string{"colour": "白"}
	m.ValidFrom, m.ValidTo, m.LastVerified = now.Add(-48*time.Hour), now.Add(48*time.Hour), now.Add(-2*time.Hour)
	m.LastUsed, m.Uses, m.Ignored, m.Contradicted, m.Revision, m.About = now.Add(-time.Minute), 3, 2, 1, 4, "boat's name"
	m.Change = store.Change{By: store.Reflection, Session: "s1"}
	put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(1)})
	got := all(t, b, tenant, ann)
	if len(got) != 1 {
		t.Fatalf("%d memories, want 1", len(got))
	}
	same(t, "what was read", got[0], m)
	if got[0].Digest() != m.Digest() {
		t.Error("another digest")
	}
}

func edits(t *testing.T, b Backend) {
	m := memory(tenant, ann, "Ann lives in Lyon")
	put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(1)})
	m.Text, m.Revision, m.UpdatedAt = "Ann lives in Graz", 2, now
	put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(2)})
	put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(2)}) // again
	same(t, "found by the old words", search(t, b, Ask(tenant, "Lyon", ann)), []string{})
	same(t, "found by the new words", search(t, b, Ask(tenant, "Graz", ann)), []string{m.Text})
	if got := all(t, b, tenant, ann); len(got) != 1 || got[0].Revision != 2 {
		t.Errorf("%d memories, %+v", len(got), got)
	}
}

func laterVector(t *testing.T, b Backend) {
	m := memory(tenant, ann, "Ann repairs clocks")
	put(t, b, tenant, store.SharedMemory{Memory: m})
	put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(3)})
	m.Uses, m.Revision = 5, 2
	put(t, b, tenant, store.SharedMemory{Memory: m}) // of a change that doesn't touch the text
	q := Ask(tenant, "", ann)
	q.Vector = unit(3)
	res, err := b.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Hits) != 1 || !res.Hits[0].Embedded || res.Hits[0].Memory.Uses != 5 {
		t.Errorf("by its vector: %+v", res.Hits)
	}
}

func isolation(t *testing.T, b Backend) {
	both := store.UserAgentScope("ann", "coder")
	put(t, b, tenant, store.SharedMemory{Memory: memory(tenant, ann, "the code is 1111"), Vector: unit(1)})
	put(t, b, tenant, store.SharedMemory{Memory: memory(tenant, bob, "the code is 2222"), Vector: unit(1)})
	put(t, b, tenant, store.SharedMemory{Memory: memory(tenant, both, "the code is 3333"), Vector: unit(1)})
	put(t, b, "other", store.SharedMemory{Memory: memory("other", ann, "the code is 4444"), Vector: unit(1)})
	for _, c := range []struct {
		tenant string
		scopes []store.Scope
		want   []string
	}{
		{tenant, []store.Scope{ann}, []string{"the code is 1111"}},
		{tenant, []store.Scope{bob}, []string{"the code is 2222"}},
		{tenant, []store.Scope{ann, both}, []string{"the code is 1111", "the code is 3333"}},
		{"other", []store.Scope{ann}, []string{"the code is 4444"}},
		{"other", []store.Scope{bob}, []string{}},
	} {
		for _, vector := range [][]float32{nil, unit(1)} {
			q := Ask(c.tenant, "what is the code", c.scopes...)
			q.Vector = vector
			got := search(t, b, q)
			slices.Sort(got)
			same(t, fmt.Sprint("search in ", c.tenant, c.scopes, len(vector)), got, c.want)
		}
		var got []string
		for _, sc := range c.scopes {
			for _, m := range all(t, b, c.tenant, sc) {
				got = append(got, m.Text)
			}
		}
		slices.Sort(got)
		same(t, fmt.Sprint("all of ", c.tenant, c.scopes), got, slices.Clip(append([]string(nil), c.want...)))
	}
}

func nothing(t *testing.T, b Backend) {
	q := Ask("nobody", "anything", ann, bob)
	q.Vector = unit(1)
	same(t, "found", search(t, b, q), []string{})
	if got := all(t, b, "nobody", ann); len(got) > 0 {
		t.Errorf("memories: %v", got)
	}
	if err := b.Delete(t.Context(), "nobody", ann, []string{"m1"}); err != nil {
		t.Errorf("delete what isn't there: %v", err)
	}
	if err := b.Erase(t.Context(), "nobody", ann); err != nil {
		t.Errorf("erase what isn't there: %v", err)
	}
}

func states(t *testing.T, b Backend) {
	for i, s := range []store.State{store.Active, store.Superseded, store.Consolidated, store.Archived, store.Quarantined} {
		m := memory(tenant, ann, "tea with milk, "+string(s))
		m.State = s
		put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(i)})
	}
	over, later := memory(tenant, ann, "tea with lemon, until yesterday"), memory(tenant, ann, "tea with rum, from tomorrow")
	over.ValidTo, later.ValidFrom = now.Add(-24*time.Hour), now.Add(24*time.Hour)
	put(t, b, tenant, store.SharedMemory{Memory: over, Vector: unit(7)}, store.SharedMemory{Memory: later, Vector: unit(8)})
	q := Ask(tenant, "tea", ann)
	same(t, "found", search(t, b, q), []string{"tea with milk, active"})
	q.Archived = true
	got := search(t, b, q)
	slices.Sort(got)
	same(t, "found with archived ones", got, []string{"tea with lemon, until yesterday", "tea with milk, active", "tea with milk, archived", "tea with rum, from tomorrow"})
	q = Ask(tenant, "tea", ann)
	q.Keep = func(m *store.Memory) bool { return m.State != store.Active }
	same(t, "found where nothing is kept", search(t, b, q), []string{})
}

func lastWord(t *testing.T, b Backend) {
	old, young := memory(tenant, ann, "Ann's home is Lyon"), memory(tenant, ann, "Ann's home is Graz")
	old.About, young.About = "home", "home"
	young.CreatedAt = old.CreatedAt.Add(time.Hour)
	put(t, b, tenant, store.SharedMemory{Memory: young, Vector: unit(1)})
	put(t, b, tenant, store.SharedMemory{Memory: old, Vector: unit(2)})
	same(t, "found", search(t, b, Ask(tenant, "home", ann)), []string{young.Text})
}

func standing(t *testing.T, b Backend) {
	m, other := memory(tenant, ann, "answer in French"), memory(tenant, ann, "the sky was grey")
	m.Standing = true
	archived := memory(tenant, ann, "answer in Latin")
	archived.Standing, archived.State = true, store.Archived
	put(t, b, tenant, store.SharedMemory{Memory: m}, store.SharedMemory{Memory: other}, store.SharedMemory{Memory: archived})
	got, err := b.List(t.Context(), index.Query{Tenant: tenant, Scopes: []store.Scope{ann}, Now: now, Standing: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Text != m.Text {
		t.Errorf("listed: %+v", got)
	}
}

func gone(t *testing.T, b Backend) {
	a, c := memory(tenant, ann, "apples are red"), memory(tenant, ann, "apples are green")
	o := memory(tenant, bob, "apples are blue")
	put(t, b, tenant, store.SharedMemory{Memory: a, Vector: unit(1)}, store.SharedMemory{Memory: c, Vector: unit(2)}, store.SharedMemory{Memory: o, Vector: unit(3)})
	if err := b.Delete(t.Context(), tenant, ann, []string{a.ID, "m0"}); err != nil {
		t.Fatal(err)
	}
	same(t, "found after one was deleted", search(t, b, Ask(tenant, "apples", ann)), []string{c.Text})
	if err := b.Erase(t.Context(), tenant, ann); err != nil {
		t.Fatal(err)
	}
	q := Ask(tenant, "apples", ann, bob)
	q.Vector = unit(2)
	same(t, "found after a scope was erased", search(t, b, q), []string{o.Text})
	if got := all(t, b, tenant, ann); len(got) > 0 {
		t.Errorf("memories of an erased scope: %v", got)
	}
}

func hostile(t *testing.T, b Backend) {
	texts := []string{
		"quotes \" and ' and \\ and ` and {braces} and $variables",
		"a tab\tand a line\nand a bell\a and a null\x00 in it",
		"\u202eright to left\u202c, a family 👨‍👩‍👧, and 𝔊othic",
		"operator:Equal,path:[\"place\"],valueText:\"x\"}){meta{count}}",
		strings.Repeat("long ", 4000),
	}
	for i, text := range texts {
		m := memory(tenant, ann, text)
		m.Evidence = []store.Evidence{{Session: "s\"\x01" + text[:min(5, len(text))], Turn: 1, Quote: text}}
		m.About = fmt.Sprint("thing \"\x02", i)
		put(t, b, tenant, store.SharedMemory{Memory: m, Vector: unit(i)})
	}
	weird := store.UserScope("o'\"\\\n\x7f%/:{}\u2028名")
	put(t, b, "ten\"ant\n{}", store.SharedMemory{Memory: memory("ten\"ant\n{}", weird, "found by its odd owner"), Vector: unit(1)})
	same(t, "of an odd scope", search(t, b, Ask("ten\"ant\n{}", "odd owner", weird)), []string{"found by its odd owner"})
	for _, text := range append(texts, "\xff\xfe\x00\x1b[31m", "\"})}{", strings.Repeat("x", 10000)) {
		q := Ask(tenant, text, ann)
		q.Terms = append(q.Terms, index.Term{Text: text[:min(len(text), 40)], Weight: 1})
		q.Vector = unit(1)
		search(t, b, q)
	}
	for _, text := range texts {
		if !slices.ContainsFunc(all(t, b, tenant, ann), func(m store.Memory) bool { return m.Text == text }) {
			t.Errorf("lost: %q", text[:min(len(text), 60)])
		}
	}
}

func order(t *testing.T, b Backend) {
	older, newer := memory(tenant, ann, "the garden gate is green"), memory(tenant, ann, "the garden gate is brown")
	newer.CreatedAt = older.CreatedAt.Add(time.Hour)
	best := memory(tenant, ann, "the key of the garden gate is under the pot")
	put(t, b, tenant, store.SharedMemory{Memory: older}, store.SharedMemory{Memory: best}, store.SharedMemory{Memory: newer})
	same(t, "found", search(t, b, Ask(tenant, "key pot garden gate", ann)), []string{best.Text, newer.Text, older.Text})
	q := Ask(tenant, "key pot garden gate", ann)
	q.Limit = 1
	same(t, "the best", search(t, b, q), []string{best.Text})
}

func legs(t *testing.T, b Backend) {
	at := func(text, session string, turn int) store.Memory {
		m := memory(tenant, ann, text)
		m.Evidence = []store.Evidence{{Session: session, Turn: turn, Quote: text}}
		return m
	}
	ask, answer, far := at("which colour did the kitchen get", "s1", 1), at("it was painted yellow", "s1", 2), at("the roof leaks", "s2", 9)
	chinese := at("安的猫叫小橘，三岁了", "s3", 1)
	put(t, b, tenant,
		store.SharedMemory{Memory: ask, Vector: unit(1)}, store.SharedMemory{Memory: answer, Vector: unit(2)},
		store.SharedMemory{Memory: far, Vector: unit(3)}, store.SharedMemory{Memory: chinese, Vector: unit(4)})
	got := search(t, b, Ask(tenant, "kitchen", ann))
	same(t, "by words, and beside them", got, []string{ask.Text, answer.Text})
	same(t, "by Chinese words", search(t, b, Ask(tenant, "猫叫什么名字", ann)), []string{chinese.Text})
	q := Ask(tenant, "", ann)
	q.Vector = unit(3)
	if got := search(t, b, q); len(got) == 0 || got[0] != far.Text {
		t.Errorf("by meaning: %v", got)
	}
}
