package inject

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// history is a client that keeps a conversation and sends all of it each time.
type history struct {
	c     Conversation
	lines []string // what the model sees, message by message
}

func (h *history) say(words string) {
	c := &h.c
	c.Context = append(c.Context, words)
	c.Places = append(c.Places, Place{Key: key(fmt.Sprint(c.Session, len(h.lines), words)), Message: len(h.lines)})
	c.Texts = append(c.Texts, words)
	c.Fresh, c.Skip, c.Words = len(c.Places)-1, "", words
	h.lines = append(h.lines, words)
}

// answer adds an answer, or with tool a tool call and its result, after which
// nobody has spoken.
func (h *history) answer(text string, tool bool) {
	h.lines = append(h.lines, text)
	h.c.Texts = append(h.c.Texts, text)
	if tool {
		h.lines = append(h.lines, "result of "+text)
		h.c.Fresh, h.c.Skip = -1, "tool_turn"
	}
}

// request is what goes out: the plan's blocks spliced into the messages.
func (h *history) request(t *testing.T, e *Engine) (string, Plan) {
	t.Helper()
	h.c.Exchange = fmt.Sprint("x", len(h.lines))
	h.c.BodyHash = key(strings.Join(h.lines, "\n"))
	p := e.Plan(t.Context(), h.c)
	e.Commit(p)
	out := slices.Clone(h.lines)
	for _, b := range p.Blocks {
		out[b.Message] = b.Text + "\n" + out[b.Message]
	}
	return strings.Join(out, "\x00"), p
}

func facts(d *disk) {
	d.put(
		fact("dog", "User's dog is called Biscuit"),
		fact("boat", "User's boat lies in Porto"),
		fact("bike", "User's bicycle was stolen in May"),
		store.Memory{ID: "fr", Tenant: "t", Text: "Answer in French", Type: store.Preference, Standing: true},
	)
}

// TestReplayLaw: over ten turns with tool rounds and a restart in the middle,
// each request begins with all bytes of the one before.
func TestReplayLaw(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	h := &history{c: Conversation{Owner: ann, Session: "s", Recall: true, Now: now, Zone: time.UTC}}
	last := ""
	step := func() Plan {
		t.Helper()
		got, p := h.request(t, e)
		if !strings.HasPrefix(got, last) {
			t.Fatalf("the request of %d messages doesn't begin with the one before:\n%q\n%q", len(h.lines), got, last)
		}
		last = got
		return p
	}
	asks := []string{"what is my dog called?", "thanks", "where is my boat?", "continue", "was my bicycle stolen?", "what is my dog called?", "ok", "where is my boat?", "tell me a story", "bye"}
	blocks := 0
	for turn, words := range asks {
		h.c.Now = h.c.Now.Add(10 * time.Minute)
		h.say(words)
		p := step()
		if p.Status == Injected {
			blocks++
		}
		for range turn % 3 {
			h.answer("call", true)
			if p := step(); p.Status != Replayed || p.Reason != "" || len(p.New) > 0 {
				t.Fatalf("tool round: status %q, reason %q, new %v", p.Status, p.Reason, p.New)
			}
		}
		h.answer("answer", false)
		if turn == 4 {
			e = d.engine(t, Config{}) // a restart
		}
		if turn == 6 {
			m := fact("dog", "User's dog is called Crumb now")
			m.Revision = 1
			d.put(m) // an edit doesn't change what was said
		}
	}
	if blocks != 3 {
		t.Errorf("%d blocks in all, want 3: one for each fact, each once", blocks)
	}
	if n := strings.Count(last, openTag); n != 3 {
		t.Errorf("the last request carries %d blocks, want 3", n)
	}
	if n := strings.Count(last, "Answer in French"); n != 1 {
		t.Errorf("the standing preference is said %d times, want once", n)
	}
}

func TestForgottenBlockGoesAsAWhole(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	c := talk("s", "what is my dog called and where is my boat?")
	p := e.Plan(t.Context(), c)
	if got := newIDs(p); !slices.Contains(got, "dog") || !slices.Contains(got, "boat") {
		t.Fatalf("injected %v, want both facts", got)
	}
	e.Commit(p)
	d.forget("boat")
	c.Fresh, c.Skip, c.BodyHash = -1, "tool_turn", key("another body")
	if p := e.Plan(t.Context(), c); len(p.Blocks) != 0 || p.Status != Skipped || p.Reason != "tool_turn" {
		t.Errorf("plan after a forget: %+v", p)
	}
	retry := talk("s", "what is my dog called and where is my boat?")
	if got := newIDs(e.Plan(t.Context(), retry)); slices.Contains(got, "boat") || !slices.Contains(got, "dog") {
		t.Errorf("the same body after a forget gets %v, want the dog without the boat", got)
	}
}

func TestWithdraw(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	c := talk("s", "what is my dog called?")
	e.Commit(e.Plan(t.Context(), c))
	e.Withdraw(ann, "s")
	for name, e := range map[string]*Engine{"same process": e, "restarted": d.engine(t, Config{})} {
		if p := e.Plan(t.Context(), c); len(p.Blocks) != 0 || p.Status != Skipped || p.Reason != "upstream_refused" {
			t.Errorf("%s: plan of a withdrawn session: %+v", name, p)
		}
		if p := e.Plan(t.Context(), talk("other", "where is my boat?")); p.Status != Injected {
			t.Errorf("%s: another session: %+v", name, p)
		}
	}
	// A session that has no block yet can be withdrawn too, and a plan made
	// before doesn't bring it back.
	late := e.Plan(t.Context(), talk("s2", "where is my boat?"))
	e.Withdraw(ann, "s2")
	e.Commit(late)
	if p := d.engine(t, Config{}).Plan(t.Context(), talk("s2", "where is my boat?")); p.Reason != "upstream_refused" {
		t.Errorf("withdrawn before its first block: %+v", p)
	}
}

func TestForgetTakesBlocksOutOfMemory(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	c := talk("s", "what is my dog called?")
	c.BodyHash = store.Hash{1}
	e.Commit(e.Plan(t.Context(), c))
	e.Forget(ann.Tenant, store.UserScope("bob"))
	e.Forget("other", ann.Scope())
	if e.ledger.recent.Len() != 1 || len(e.ledger.sessions) != 1 || len(e.recent.made) != 1 {
		t.Fatal("another's erasure took a block out of memory")
	}
	e.Forget(ann.Tenant, ann.Scope())
	if e.ledger.recent.Len() != 0 || len(e.ledger.sessions) != 0 || len(e.recent.made) != 0 {
		t.Errorf("%d sessions and %d blocks are still in memory", e.ledger.recent.Len(), len(e.recent.made))
	}
}

func TestUncommittedPlanLeavesNoTrace(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	e.Plan(t.Context(), talk("s", "what is my dog called?"))
	d.put(fact("dog", "User's dog is called Crumb"))
	p := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	if p.Status != Injected || !strings.Contains(p.Blocks[0].Text, "Crumb") {
		t.Errorf("second plan: %+v", p)
	}
	if len(d.ledger) != 0 || len(d.whys) != 0 {
		t.Errorf("a plan alone wrote %v, %v", d.ledger, d.whys)
	}
}

func TestSameBodyGetsTheSameBytes(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	a := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	side := e.Plan(t.Context(), talk("s", "what is my dog called?")) // in parallel
	e.Commit(a)
	d.put(fact("dog", "User's dog is called Crumb"))
	retry := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	fan := e.Plan(t.Context(), talk("s2", "what is my dog called?"))
	for name, p := range map[string]Plan{"parallel": side, "retry": retry, "new session": fan} {
		if p.Status != Injected || len(p.Blocks) != 1 || p.Blocks[0].Text != a.Blocks[0].Text {
			t.Errorf("%s: %+v, want the bytes of %+v", name, p, a)
		}
		if diff := cmp.Diff(a.New, p.New); diff != "" {
			t.Errorf("%s: new (-first +this):\n%s", name, diff)
		}
	}
	e.Commit(fan)
	e.Commit(retry)
	if got, want := d.ledger["s2"][0].Key, talk("s2", "what is my dog called?").Places[0].Key; got != want {
		t.Errorf("the other session keeps its block under %v, want its own key %v", got, want)
	}
	later := talk("s3", "what is my dog called?")
	later.Now = now.Add(2 * time.Minute)
	if p := e.Plan(t.Context(), later); !strings.Contains(p.Blocks[0].Text, "Crumb") {
		t.Errorf("after a minute the same body still gets the old block: %+v", p)
	}
	other := talk("s4", "what is my dog called?")
	other.Owner.User = "bob"
	if p := e.Plan(t.Context(), other); len(p.Blocks) != 0 {
		t.Errorf("another user's same body gets a block: %+v", p)
	}
}

// A message that has grown keeps its block where only its present form is known:
// after a restart.
func TestGrownMessageKeepsItsBlock(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	first := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	e.Commit(first)
	grown := talk("s", "what is my dog called? Observation: it barks")
	grown.Places[0].Key, grown.Places[0].Form, grown.Fresh = talk("s", "what is my dog called?").Places[0].Key, grown.Places[0].Key, -1
	for range 2 { // the second keeps nothing more
		p := e.Plan(t.Context(), grown)
		e.Commit(p)
		if p.Status != Replayed || p.Blocks[0].Text != first.Blocks[0].Text {
			t.Fatalf("the grown message gets %+v", p)
		}
	}
	if n := len(d.ledger["s"]); n != 2 {
		t.Errorf("%d blocks are kept, want that of each form", n)
	}
	e = d.engine(t, Config{}) // a restart
	grown.Places[0].Key, grown.Places[0].Form = grown.Places[0].Form, store.Hash{}
	if p := e.Plan(t.Context(), grown); p.Status != Replayed || p.Blocks[0].Text != first.Blocks[0].Text {
		t.Errorf("after a restart it gets %+v", p)
	}
}

// TestEmptyResultIsNotKept: what was learned in between answers the same
// question.
func TestEmptyResultIsNotKept(t *testing.T) {
	d := &disk{}
	e := d.engine(t, Config{})
	p := e.Plan(t.Context(), talk("s", "what is my dog called?"))
	if p.Status != None {
		t.Fatalf("plan over nothing: %+v", p)
	}
	e.Commit(p)
	facts(d)
	if p := e.Plan(t.Context(), talk("s2", "what is my dog called?")); p.Status != Injected {
		t.Errorf("plan after learning: %+v", p)
	}
}

func TestFirstBlockOfAPlaceStays(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	c := talk("s", "what is my dog called?")
	first := e.Plan(t.Context(), c)
	d.put(fact("dog", "User's dog is called Crumb"))
	second := e.Plan(t.Context(), c)
	e.Commit(first)
	e.Commit(second)
	c.Fresh, c.BodyHash = -1, key("later")
	if p := e.Plan(t.Context(), c); p.Blocks[0].Text != first.Blocks[0].Text {
		t.Errorf("the second block replaced the first: %q", p.Blocks[0].Text)
	}
}

func TestLedgerSlides(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{})
	c := talk("s", "what is my dog called?")
	e.Commit(e.Plan(t.Context(), c))
	c.Fresh, c.BodyHash = -1, key("later")
	for range 3 {
		c.Now = c.Now.Add(20 * time.Hour)
		p := e.Plan(t.Context(), c)
		if p.Status != Replayed {
			t.Fatalf("a block used 20 h ago: %+v", p)
		}
		e.Commit(p)
		e = d.engine(t, Config{}) // the use is on disk too
	}
	c.Now = c.Now.Add(25 * time.Hour)
	if p := e.Plan(t.Context(), c); len(p.Blocks) != 0 {
		t.Errorf("a block used 25 h ago is replayed: %+v", p)
	}
}

func TestLedgerIsReadOnceAndBounded(t *testing.T) {
	d := &disk{}
	facts(d)
	e := d.engine(t, Config{Sessions: 2})
	for _, s := range []string{"a", "b", "a", "a", "c", "a", "b"} { // c evicts b, not a
		e.Commit(e.Plan(t.Context(), talk(s, "what is my dog called?", "hm "+s)))
	}
	if d.loads != 4 {
		t.Errorf("%d reads of the ledger, want 4: a, b, c and b again", d.loads)
	}
	begins := talk("d", "what is my dog called?")
	begins.New = true
	if e.Commit(e.Plan(t.Context(), begins)); d.loads != 4 {
		t.Error("the ledger of a session that begins is read")
	}
}
