package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

// Row 49: two users, one key, the same opener.
func TestSameWordsOfTwoUsersAreTwoSessions(t *testing.T) {
	w := newWorld(t, acme)
	ann, bob := talk{w: w, h: by("ann")}, talk{w: w, h: by("bob")}
	for i := range 3 {
		ann.say("hello", fmt.Sprintf("hi %d", i))
		bob.say("hello", fmt.Sprintf("hi %d", i))
	}
	wantSame(t, "ann's", ann.turns[0].Session, ann.turns[1].Session, ann.turns[2].Session)
	wantSame(t, "bob's", bob.turns[0].Session, bob.turns[1].Session, bob.turns[2].Session)
	wantDistinct(t, "ann and bob", ann.turns[0].Session, bob.turns[0].Session)
	if ann.turns[2].Places[0].Key == bob.turns[2].Places[0].Key {
		t.Error("two users share a place")
	}
}

// Row 50: fifty equal openers in parallel, none of them a retry.
func TestEqualOpenersInParallelAreSessionsOfTheirOwn(t *testing.T) {
	w := newWorld(t, acme)
	const n = 50
	turns := make([]*Turn, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { turns[i] = w.identify(w.incoming(by("ann"), nil, system("help"), user("hello"))) })
	}
	all.Wait()
	for i := range n {
		all.Go(func() { w.answer(turns[i], dialect.Answer{Text: fmt.Sprintf("answer %d", i)}) })
	}
	all.Wait()
	var ids, exchanges []string
	for i, first := range turns {
		ids, exchanges = append(ids, first.Session), append(exchanges, first.Exchange)
		second := w.ask(by("ann"), "fine", system("help"), user("hello"), assistant(fmt.Sprintf("answer %d", i)), user("go on"))
		wantSame(t, "follow-up", first.Session, second.Session)
		if first.Places[0].Key != second.Places[0].Key {
			t.Errorf("conversation %d: the opener's place changed", i)
		}
	}
	wantDistinct(t, "sessions", ids...)
	wantDistinct(t, "exchanges", exchanges...)
}

// Row 51: a window of the last six messages; a summary in place of the start.
func TestTrimmedHistoryStaysInItsSession(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	for i := range 20 {
		if len(c.history) > 6 {
			c.history = c.history[len(c.history)-6:]
		}
		c.say(fmt.Sprintf("question %d", i), "OK.")
	}
	var ids []string
	for _, turn := range c.turns {
		ids = append(ids, turn.Session)
	}
	wantSame(t, "window", ids...)
	inputs := 0
	for _, e := range w.st.events(ids[0]) {
		if strings.Contains(e, "user_input") {
			inputs++
		}
	}
	if inputs != 20 {
		t.Errorf("%d user inputs recorded, want 20", inputs)
	}
	c.history = append([]m{system("Summary of the conversation so far: many questions.")}, c.history[len(c.history)-2:]...)
	wantSame(t, "summary", ids[0], c.say("and now?", "done").Session)
}

// Compaction that drops every answer and keeps the human's words.
func TestCompactionWithoutAnswersContinuesItsSession(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	c.say("write a parser", "a")
	c.say("now test it", "b")
	c.say("now ship it", "c")
	compacted := w.ask(by("ann"), "d", user("write a parser"), user("now test it"), user("now ship it"),
		user("Another language model started to solve this problem and produced a summary: all shipped."), user("and tidy up"))
	wantSame(t, "compaction", c.turns[0].Session, compacted.Session)

	// Two user messages that open every conversation of an application are a
	// template, not a chain.
	one := w.ask(by("bob"), "x", system("at 10:01"), user("You talk to Bob."), user("hello"))
	two := w.ask(by("bob"), "y", system("at 10:02"), user("You talk to Bob."), user("hello"))
	wantDistinct(t, "template", one.Session, two.Session)
}

// Row 52: one prompt_cache_key over ten conversations.
func TestSharedCacheKeyIsNoSession(t *testing.T) {
	w := newWorld(t, acme)
	key := m{"prompt_cache_key": "6f1c2a34-9d1e-4b52-8c7f-0a1b2c3d4e5f"}
	var all []*talk
	for range 10 {
		all = append(all, &talk{w: w, h: by("ann"), extra: key})
	}
	for round := range 3 {
		for i, c := range all {
			c.say(fmt.Sprintf("question %d", round), fmt.Sprintf("answer %d of %d", round, i))
		}
	}
	var ids []string
	for _, c := range all {
		wantSame(t, "conversation", c.turns[0].Session, c.turns[1].Session, c.turns[2].Session)
		ids = append(ids, c.turns[0].Session)
	}
	wantDistinct(t, "sessions", ids...)

	w.start(acme) // the verdict outlives the process
	fresh := talk{w: w, h: by("ann"), extra: key}
	wantDistinct(t, "after a restart", append(ids, fresh.say("question 0", "answer").Session)...)
}

func TestUniqueCacheKeyNamesTheSession(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann"), extra: m{"prompt_cache_key": "6f1c2a34-9d1e-4b52-8c7f-0a1b2c3d4e5f"}}
	first := c.say("hello", "hi")
	if want := "6f1c2a34-9d1e-4b52-8c7f-0a1b2c3d4e5f"; first.External != want {
		t.Errorf("external id %q, want %q", first.External, want)
	}
	wantSame(t, "turns", first.Session, c.say("again", "hi again").Session)
	constant := talk{w: w, h: by("ann"), extra: m{"prompt_cache_key": "customer-support-agent"}}
	if got := constant.say("hello", "hi"); got.External != "" {
		t.Errorf("a constant key became session %q", got.External)
	}
}

// Row 75: ids that count alone, and ids that don't.
func TestToolCallIDs(t *testing.T) {
	w := newWorld(t, acme)
	round := func(h string, words, id string) (*Turn, *Turn) {
		first := w.identify(w.incoming(by(h), nil, user(words)))
		w.answer(first, dialect.Answer{Calls: []dialect.Call{{ID: id, Name: "Read", Arguments: "{}"}}})
		return first, w.ask(by(h), "done with "+words, user(words), calling(id, "Read"), tool(id, "content"))
	}
	a1, a2 := round("ann", "read a.txt", "functions.Read:1")
	b1, b2 := round("ann", "read b.txt", "functions.Read:1")
	wantSame(t, "first", a1.Session, a2.Session)
	wantSame(t, "second", b1.Session, b2.Session)
	wantDistinct(t, "numbered ids", a1.Session, b1.Session)
	// Without the words before it a numbered id proves nothing.
	lost := w.ask(by("ann"), "x", calling("functions.Read:1", "Read"), tool("functions.Read:1", "content"))
	wantDistinct(t, "numbered id alone", lost.Session, a1.Session, b1.Session)

	c1, _ := round("ann", "read c.txt", "call_Qm7bW2xT9kLp4RzN8vYc")
	alone := w.ask(by("ann"), "x", calling("call_Qm7bW2xT9kLp4RzN8vYc", "Read"), tool("call_Qm7bW2xT9kLp4RzN8vYc", "content"))
	wantSame(t, "random id alone", c1.Session, alone.Session)
	thief := w.ask(by("bob"), "x", user("read c.txt"), calling("call_Qm7bW2xT9kLp4RzN8vYc", "Read"), tool("call_Qm7bW2xT9kLp4RzN8vYc", "content"))
	wantDistinct(t, "another's id", thief.Session, c1.Session)

	// An upstream that repeats its "random" ids: good alone no more.
	d1, _ := round("ann", "read d.txt", "call_Qm7bW2xT9kLp4RzN8vYc")
	wantDistinct(t, "repeated id", d1.Session, c1.Session)
	c3 := w.ask(by("ann"), "x", user("read c.txt"), calling("call_Qm7bW2xT9kLp4RzN8vYc", "Read"), tool("call_Qm7bW2xT9kLp4RzN8vYc", "content"), user("more"))
	wantSame(t, "repeated id after its words", c1.Session, c3.Session)
}

// Row 76: the same words after the same answer, three times.
func TestRepeatedWordsAreThreePlaces(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	c.say("start", "OK.")
	for range 3 {
		c.say("continue", "OK.")
	}
	last := c.turns[3]
	keys := map[store.Hash]bool{}
	for _, p := range last.Places {
		keys[p.Key] = true
	}
	if len(keys) != 4 {
		t.Fatalf("%d places, want 4", len(keys))
	}
	for i, turn := range c.turns {
		if got, want := turn.Places[i].Key, last.Places[i].Key; got != want {
			t.Errorf("place %d changed", i)
		}
	}
	want := []string{
		"1 user_input: start", "1 final_output: OK.", "2 user_input: continue", "2 final_output: OK.",
		"3 user_input: continue", "3 final_output: OK.", "4 user_input: continue", "4 final_output: OK.",
	}
	if got := w.st.events(last.Session); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

// The canonical form of a place: what clients change between turns.
func TestPlacesSurviveWhatClientsChange(t *testing.T) {
	w := newWorld(t, acme)
	ask := func(messages ...m) *Turn { return w.ask(by("ann", "Hindsight-Session", "s1"), "answer", messages...) }
	parts := func(role string, texts ...string) m {
		var p []m
		for _, x := range texts {
			p = append(p, m{"type": "text", "text": x, "cache_control": m{"type": "ephemeral"}})
		}
		return m{"role": role, "content": p}
	}
	plain := ask(system("s"), user("hello"), assistant("hi"), user("go"))
	for name, other := range map[string]*Turn{
		"arrays and cache_control": ask(parts("system", "s"), parts("user", "hello"), parts("assistant", "hi"), parts("user", "go")),
		"a reminder":               ask(user("hello"), assistant("hi"), parts("user", "<system-reminder>today is Monday</system-reminder>", "go")),
		"another system":           ask(system("t"), system("u"), user("hello"), assistant("hi"), user("go"), system("<system-reminder>x</system-reminder>")),
		"refusal and reasoning":    ask(user("hello"), m{"role": "assistant", "content": "hi", "refusal": nil, "reasoning_content": "hm"}, user("go")),
		"thoughts dropped":         ask(user("hello"), assistant("<think>hm</think>\n\nhi\n"), user("go")),
		"a tool round gone":        ask(user("hello"), calling("call_1", "f"), tool("call_1", "x"), assistant("hi"), user("go")),
		"a window":                 ask(assistant("hi"), user("go")),
	} {
		if got, want := other.Places[len(other.Places)-1].Key, plain.Places[1].Key; got != want {
			t.Errorf("%s: another place", name)
		}
	}
	if other := ask(user("hello"), assistant("ho"), user("go")); other.Places[1].Key == plain.Places[1].Key {
		t.Error("the answer before isn't part of a place")
	}
}

func TestEventsOfAToolLoop(t *testing.T) {
	w := newWorld(t, acme)
	h := by("ann")
	first := w.identify(w.incoming(h, nil, user("what runs on 8080?")))
	w.answer(first, dialect.Answer{Reasoning: "look", Calls: []dialect.Call{{ID: "call_1", Name: "ss", Arguments: `{"p":8080}`}}})
	second := w.identify(w.incoming(h, nil, user("what runs on 8080?"), calling("call_1", "ss"), tool("call_1", "nginx")))
	if second.Fresh != -1 || second.Skip != "tool_turn" {
		t.Errorf("fresh %d skip %q", second.Fresh, second.Skip)
	}
	w.answer(second, dialect.Answer{Text: "nginx does."})
	want := []string{
		"1 user_input: what runs on 8080?", "1 model_reasoning: look", `1 tool_call: {"p":8080}`,
		"1 tool_result: nginx", "1 final_output: nginx does.",
	}
	if got := w.st.events(first.Session); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
	x := w.st.exchanges[second.Exchange]
	if e := x.Events[0]; e.Name != "ss" || e.CallID != "call_1" {
		t.Errorf("tool result %+v doesn't name its call", e)
	}
	if x.Tokens == 0 || x.Sent == 0 || x.HTTP != 200 || x.Status != store.Complete || x.Answer.IsZero() {
		t.Errorf("incomplete record: %+v", x)
	}
}

// The echo rule: the answer's hash comes back in a later exchange.
func TestEcho(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	for i := range 3 {
		c.say(fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	var echoed []store.Hash
	for _, turn := range c.turns {
		echoed = append(echoed, w.st.exchanges[turn.Exchange].Echoed...)
	}
	want := []store.Hash{w.st.exchanges[c.turns[0].Exchange].Answer, w.st.exchanges[c.turns[1].Exchange].Answer}
	if !cmp.Equal(want, echoed) {
		t.Errorf("echoed %v, want each answer that came back once: %v", echoed, want)
	}
}

// Of a session that this very request begins the store can know nothing; of one
// that a client names, or that goes on, it may.
func TestWhichRequestBeginsASession(t *testing.T) {
	w := newWorld(t, acme)
	ann := talk{w: w, h: by("ann")}
	ann.say("hello", "hi")
	ann.say("and then?", "that")
	named := w.ask(by("ann", "Hindsight-Session", "my-session"), "hi", user("hello again"))
	if a, b, c := ann.turns[0].Conversation(), ann.turns[1].Conversation(), named.Conversation(); !a.New || b.New || c.New {
		t.Errorf("new: %v, %v, %v", a.New, b.New, c.New)
	}
}
