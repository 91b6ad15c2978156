package inject

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
	"hindsight/store/index"
)

func TestBlockIsReadable(t *testing.T) {
	d := &disk{}
	d.put(fact("mabc1234567", "User's dog is called Biscuit"))
	e := d.engine(t, Config{})
	p := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	if len(p.Blocks) != 1 || p.Blocks[0].Message != 0 || !p.Blocks[0].Fresh {
		t.Fatalf("plan %+v", p)
	}
	lines := strings.Split(p.Blocks[0].Text, "\n")
	if len(lines) != 4 || lines[1]+"\n" != label || lines[2] != "- [mabc123 2026-11-22] User's dog is called Biscuit" {
		t.Errorf("block:\n%s", p.Blocks[0].Text)
	}
	if !HasBlock(p.Blocks[0].Text) {
		t.Error("HasBlock doesn't know the block")
	}
}

func TestWhoIsShownWhat(t *testing.T) {
	d := &disk{}
	for i, typ := range store.Types() {
		d.put(store.Memory{ID: string(typ), Tenant: "t", Type: typ, Text: fmt.Sprintf("the harbour crane number %d needs grease", i)})
	}
	d.put(store.Memory{ID: "standing", Tenant: "t", Type: store.Preference, Text: "Answer in French", Standing: true})
	e := d.engine(t, Config{TopK: 9})
	ask := func(edit func(*Conversation)) []string {
		c := talk("s", "which harbour crane needs grease?")
		edit(&c)
		ids := newIDs(e.Plan(t.Context(), c))
		slices.Sort(ids)
		return ids
	}
	for _, c := range []struct {
		name string
		edit func(*Conversation)
		want []string
	}{
		{"a person", func(*Conversation) {}, []string{"error_lesson", "event", "preference", "solution", "standing", "user_fact"}},
		{"a sub-agent", func(c *Conversation) { c.Child = true }, []string{"error_lesson", "solution"}},
		{"a structured answer", func(c *Conversation) { c.Structured = true }, []string{"error_lesson", "event", "solution", "user_fact"}},
		{"replay only", func(c *Conversation) { c.Recall, c.Skip = false, "holdout" }, []string{}},
		{"another user", func(c *Conversation) { c.Owner.User = "bob" }, []string{}},
		{"another user's agent of the same name", func(c *Conversation) { c.Owner.User, c.Owner.Agent = "bob", "ann" }, []string{}},
	} {
		if got := ask(c.edit); !slices.Equal(got, c.want) {
			t.Errorf("%s is shown %v, want %v", c.name, got, c.want)
		}
	}
}

func TestScopesByGrant(t *testing.T) {
	d := &disk{}
	shared := fact("shared", "the harbour crane needs grease")
	shared.Scope, shared.Standing = store.Shared, true
	d.put(shared)
	c := talk("s", "which harbour crane needs grease?")
	if p := d.engine(t, Config{}).Plan(t.Context(), c); len(p.Blocks) != 0 {
		t.Errorf("without a grant: %+v", p)
	}
	e := d.engine(t, Config{Grants: func(store.Owner) []store.Scope { return []store.Scope{store.Shared} }})
	if got := newIDs(e.Plan(t.Context(), c)); !slices.Equal(got, []string{"shared"}) {
		t.Errorf("with a grant: %v", got)
	}
	if got := newIDs(e.Plan(t.Context(), talk("s2", "hello"))); len(got) != 0 {
		t.Errorf("a standing memory of a shared scope is always-set: %v", got)
	}
}

func TestStandingOnceAndAgainWhenChanged(t *testing.T) {
	d := &disk{}
	for i := range 8 {
		d.put(store.Memory{ID: fmt.Sprint("s", i), Tenant: "t", Type: store.Preference, Standing: true, Text: fmt.Sprintf("From now on rule number %d", i), Importance: float64(i+1) / 10})
	}
	e := d.engine(t, Config{})
	c := talk("s", "hello")
	p := e.Plan(t.Context(), c)
	if got := newIDs(p); !slices.Equal(got, []string{"s7", "s6", "s5", "s4", "s3"}) {
		t.Fatalf("first turn gets %v, want the five most important", got)
	}
	e.Commit(p)
	if p := e.Plan(t.Context(), talk("s", "hello", "thanks")); len(p.New) != 0 {
		t.Errorf("second turn gets %v", p.New)
	}
	m := store.Memory{ID: "s7", Tenant: "t", Type: store.Preference, Standing: true, Text: "From now on another rule", Revision: 1}
	d.put(m)
	p = e.Plan(t.Context(), talk("s", "hello", "thanks"))
	if got := newIDs(p); !slices.Equal(got, []string{"s7"}) || !strings.Contains(p.Blocks[len(p.Blocks)-1].Text, "(replaces s7)") {
		t.Errorf("after a change: %v\n%+v", got, p.Blocks)
	}
	long := &disk{}
	for i := range 5 {
		long.put(store.Memory{ID: fmt.Sprint("l", i), Tenant: "t", Type: store.Preference, Standing: true, Text: fmt.Sprint(i, strings.Repeat(" wordy", 40))})
	}
	p = long.engine(t, Config{}).Plan(t.Context(), talk("s", "hello"))
	if n := len(p.New); n < 1 || n > 3 {
		t.Errorf("%d standing memories of 60 tokens each, want them within 200", n)
	}
}

func TestNothingThatTheRequestSays(t *testing.T) {
	d := &disk{}
	m := fact("crane", "The harbour crane needs grease every March")
	m.Evidence = []store.Evidence{{Session: "old", Turn: 1, Quote: "the crane wants grease each March"}}
	d.put(m)
	e := d.engine(t, Config{})
	ask := "does the harbour crane need grease in March?"
	if p := e.Plan(t.Context(), talk("a", ask)); p.Status != Injected {
		t.Fatalf("plan %+v", p)
	}
	c := talk("b", ask)
	c.Texts = append(c.Texts, "As you know, the crane wants grease each March.")
	p := e.Plan(t.Context(), c)
	e.Commit(p)
	if p.Status != None || verdicts(d)["crane"] != "evidence_present" {
		t.Errorf("with the evidence in the request: %+v, verdicts %v", p, verdicts(d))
	}
	c = talk("c", ask)
	c.Texts = append(c.Texts, "notes: The harbour crane needs grease every March")
	if p := e.Plan(t.Context(), c); p.Status != None {
		t.Errorf("with the memory's text in the request: %+v", p)
	}
	// A quote of one word counts from this very session only.
	m.Evidence[0].Quote = "yes"
	d.put(m)
	c = talk("d", ask)
	c.Texts = append(c.Texts, "yes")
	if p := e.Plan(t.Context(), c); p.Status != Injected {
		t.Errorf("with an accidental yes: %+v", p)
	}
	c = talk("old", ask)
	c.Texts = append(c.Texts, "yes")
	if p := e.Plan(t.Context(), c); p.Status != None {
		t.Errorf("learned from this very session: %+v", p)
	}
}

func verdicts(d *disk) map[string]string {
	out := map[string]string{}
	for _, w := range d.whys {
		for _, c := range w.Considered {
			out[c.ID] = c.Verdict
		}
	}
	return out
}

func TestAlreadySaid(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	e.Commit(e.Plan(t.Context(), talk("s", "what is my dog called?")))
	p := e.Plan(t.Context(), talk("s", "what is my dog called?", "so what is my dog called?"))
	e.Commit(p)
	if p.Status != Replayed || verdicts(d)["dog"] != "already_said" {
		t.Errorf("second question: %+v, verdicts %v", p, verdicts(d))
	}
	d.put(fact("dog2", "User's dog is called Biscuit")) // the same words under another id
	if p := e.Plan(t.Context(), talk("s", "what is my dog called?", "so what is my dog called?")); p.Status != Replayed {
		t.Errorf("the same words under another id: %+v", p)
	}
}

func TestBudgets(t *testing.T) {
	d := &disk{}
	for i := range 30 {
		d.put(fact(fmt.Sprintf("m%02d", i), fmt.Sprintf("harbour crane %c%c%c %s", 'a'+i, 'b'+i%7, 'c'+i%5, strings.Repeat(fmt.Sprintf("bolt%d ", i), 60))))
	}
	for i := range 300 { // without them nobody would need the crane's name
		d.put(fact(fmt.Sprintf("n%03d", i), fmt.Sprintf("note%d", i)))
	}
	e := d.engine(t, Config{})
	var words []string
	carried := 0
	for turn := range 8 {
		words = append(words, "what about the harbour crane?")
		p := e.Plan(t.Context(), talk("s", words...))
		e.Commit(p)
		carried = 0
		for _, b := range p.Blocks {
			n := store.Tokens(b.Text)
			carried += n
			if n > 800 {
				t.Errorf("a block of %d tokens", n)
			}
			if len(b.Refs) > 5 {
				t.Errorf("a block of %d memories", len(b.Refs))
			}
		}
		if carried > 2400 {
			t.Errorf("turn %d carries %d tokens", turn, carried)
		}
	}
	if carried < 1500 {
		t.Errorf("only %d tokens carried: the test doesn't reach the budget", carried)
	}
	d.whys = nil
	tight := d.engine(t, Config{Tokens: 300})
	p := tight.Plan(t.Context(), talk("tight", "what about the harbour crane?"))
	tight.Commit(p)
	if n := store.Tokens(p.Blocks[0].Text); n > 300 || len(p.New) == 0 || !slices.Contains(slices.Collect(maps.Values(verdicts(d))), "budget") {
		t.Errorf("a block of %d tokens in a budget of 300, verdicts %v", n, verdicts(d))
	}
	short := &disk{}
	for i := range 9 {
		short.put(fact(fmt.Sprint("m", i), fmt.Sprintf("harbour crane item %d", i)))
	}
	p = short.engine(t, Config{}).Plan(t.Context(), talk("s", "harbour crane?"))
	if len(p.New) != 5 {
		t.Errorf("%d memories, want the top five", len(p.New))
	}
}

func TestWhyKeepsEveryPart(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	e.Commit(e.Plan(t.Context(), talk("s", "what is my dog called?")))
	if len(d.whys) != 1 {
		t.Fatalf("%d records", len(d.whys))
	}
	w := d.whys[0]
	if w.Exchange != "x-s1" || w.Session != "s" || w.Status != "injected" || w.Query != "what is my dog called?" || w.Gate == 0 || len(w.Considered) < 2 {
		t.Errorf("record %+v", w)
	}
	for _, part := range []string{"words", "own", "near", "session", "recency", "importance", "gate", "final"} {
		if _, ok := w.Considered[0].Parts[part]; !ok {
			t.Errorf("no part %q in %v", part, w.Considered[0].Parts)
		}
	}
	if last := w.Considered[len(w.Considered)-1]; last.ID != "fr" || last.Parts["standing"] != 1 || last.Verdict != chosen {
		t.Errorf("the standing memory is recorded as %+v", last)
	}
}

// stuck is a searcher that only ends with its context.
type stuck struct{}

func (stuck) Search(ctx context.Context, _ index.Query) (index.Result, error) {
	<-ctx.Done()
	return index.Result{}, fmt.Errorf("search: %w", ctx.Err())
}

func (stuck) List(ctx context.Context, _ index.Query) ([]*store.Memory, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Empty(string, []store.Scope) bool { return false }

func TestTroubleGivesAReason(t *testing.T) {
	d := &disk{}
	reg := prometheus.NewRegistry()
	e, err := New(Config{Deadline: time.Millisecond}, stuck{}, d, d, nil, reg)
	if err != nil {
		t.Fatal(err)
	}
	p := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	if p.Status != Skipped || p.Reason != "deadline" || len(p.Blocks) != 0 {
		t.Errorf("plan of a stuck search: %+v", p)
	}
	e.Commit(p)
	if got := counted(t, reg, "hindsight_recalls_total", "deadline"); got != 1 {
		t.Errorf("recalls that met the deadline = %v", got)
	}
	d.fail = &store.Off{Reason: "disk full"}
	if p := d.engine(t, Config{}).Plan(t.Context(), talk("s", "what is my dog called?")); p.Status != Skipped || p.Reason != "store" {
		t.Errorf("plan of a store that is off: %+v", p)
	}
	// A search that fails leaves the replay alone.
	d.fail = nil
	d.SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "r", Key: key(fmt.Sprint("r", 0, "one")), Text: note("x"), LastUsed: now}})
	if p := e.Plan(context.WithoutCancel(t.Context()), talk("r", "one", "what is my dog called?")); p.Status != Replayed || p.Reason != "deadline" || len(p.Blocks) != 1 {
		t.Errorf("plan of a stuck search with a block to replay: %+v", p)
	}
}

func TestConfigurationErrorsNameTheField(t *testing.T) {
	_, err := New(Config{TopK: -1, Ranking: "best"}, stuck{}, &disk{}, &disk{}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "top k") || !strings.Contains(err.Error(), "best") {
		t.Errorf("error %v, want both problems", err)
	}
}

// counted is a counter's value, of the one label value if there is a label.
func counted(t *testing.T, reg *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestMetrics(t *testing.T) {
	d := &disk{}
	facts(d)
	x := index.New(index.Config{}, d)
	t.Cleanup(x.Close)
	reg := prometheus.NewRegistry()
	e, err := New(Config{Deadline: time.Minute}, x, d, d, nil, reg)
	if err != nil {
		t.Fatal(err)
	}
	p := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	e.Commit(p)
	e.Commit(e.Plan(t.Context(), talk("s2", "what?")))
	if got := counted(t, reg, "hindsight_injected_tokens_total", ""); got <= float64(store.Tokens(p.Blocks[0].Text)) {
		t.Errorf("injected tokens = %v", got)
	}
	if got := counted(t, reg, "hindsight_recalls_total", "injected"); got != 2 { // the second by the always-set
		t.Errorf("recalls that injected = %v", got)
	}
}

func TestConcurrentPlans(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{Sessions: 3})
	var wg sync.WaitGroup
	texts := make([]string, 8)
	for w := range texts {
		wg.Go(func() {
			for i := range 40 {
				c := talk(fmt.Sprint("s", i%5), "what is my dog called?", "where is my boat?")
				p := e.Plan(t.Context(), c)
				if len(p.Blocks) == 0 {
					t.Errorf("plan %+v", p)
					return
				}
				texts[w] = p.Blocks[len(p.Blocks)-1].Text
				e.Commit(p)
				if i%10 == 9 {
					d.forget("nobody")
					e.Withdraw(ann, fmt.Sprint("gone", w))
				}
			}
		})
	}
	wg.Wait()
	if texts = unique(texts); len(texts) != 1 {
		t.Errorf("one body got %d different blocks", len(texts))
	}
}
