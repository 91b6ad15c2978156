package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/store"
)

// Row 57 and 72: retries of what failed, repetitions of what didn't.
func TestRetries(t *testing.T) {
	w := newWorld(t, acme)
	in := func(h ...string) Incoming { return w.incoming(by("ann", h...), nil, user("what is 2+2?")) }
	var exchanges, sessions []string
	for range 7 { // seven in 34 s, the upstream broken
		turn := w.identify(in())
		exchanges, sessions = append(exchanges, turn.Exchange), append(sessions, turn.Session)
		w.fail(turn, 503)
		w.pass(4 * time.Second)
	}
	turn := w.identify(in())
	if !turn.Retry {
		t.Error("not taken for a retry")
	}
	wantSame(t, "exchange", append(exchanges, turn.Exchange)...)
	wantSame(t, "session", append(sessions, turn.Session)...)
	w.answer(turn, dialect.Answer{Text: "4"})
	if want, got := []string{"1 user_input: what is 2+2?", "1 final_output: 4"}, w.st.events(turn.Session); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}

	again := w.identify(in())
	w.answer(again, dialect.Answer{Text: "4"})
	wantDistinct(t, "the same body after an answer", turn.Session, again.Session)
	wantDistinct(t, "exchanges", turn.Exchange, again.Exchange)

	announced := w.identify(in("X-Stainless-Retry-Count", "1"))
	wantSame(t, "announced retry", again.Exchange, announced.Exchange)
	w.fail(announced, 500)

	late := w.identify(w.incoming(by("ann"), nil, user("anybody there?")))
	w.fail(late, 503)
	w.pass(2 * time.Minute)
	if later := w.identify(w.incoming(by("ann"), nil, user("anybody there?"))); later.Retry {
		t.Error("a repetition after two minutes is taken for a retry")
	}
}

func TestRetryOfATruncatedAnswerIsOneUserInput(t *testing.T) {
	w := newWorld(t, acme)
	first := w.identify(w.incoming(by("ann"), nil, user("tell me a story")))
	w.st.journal(w.k.Begin(first, inject.Plan{}))
	w.st.journal(w.k.Finish(first, dialect.Answer{Text: "Once"}, End{Status: store.Truncated, HTTP: 200}))
	second := w.ask(by("ann"), "Once upon a time.", user("tell me a story"))
	wantSame(t, "exchange", first.Exchange, second.Exchange)
	want := []string{"1 user_input: tell me a story", "1 final_output: Once upon a time."}
	if got := w.st.events(first.Session); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

// A client that gives up and repeats: the late end of its first try must not
// replace the answer of the second.
func TestLateEndOfAnAbandonedTry(t *testing.T) {
	w := newWorld(t, acme)
	first := w.identify(w.incoming(by("ann"), nil, user("slow one")))
	w.st.journal(w.k.Begin(first, inject.Plan{}))
	second := w.identify(w.incoming(by("ann", "X-Stainless-Retry-Count", "1"), nil, user("slow one")))
	wantSame(t, "exchange", first.Exchange, second.Exchange)
	w.answer(second, dialect.Answer{Text: "done"})
	if x := w.k.Finish(first, dialect.Answer{Text: "do"}, End{Status: store.Aborted, HTTP: 200}); x != nil {
		t.Errorf("the abandoned try is recorded as %s", x.Status)
	}
}

// Row 57: edits, cuts and forks.
func TestEditsAndForks(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	c.say("plan a trip to Oslo", "Sure.")
	c.say("for three days", "Day one: …")
	before := w.st.events(c.turns[0].Session)
	edited := w.identify(w.incoming(by("ann"), nil, user("plan a trip to Oslo"), assistant("Sure."), user("for five days")))
	wantSame(t, "edit", c.turns[0].Session, edited.Session)
	if edited.Fresh != 1 || edited.Words != "for five days" {
		t.Errorf("fresh %d %q, want the edited message", edited.Fresh, edited.Words)
	}
	if edited.Places[0].Key != c.turns[1].Places[0].Key {
		t.Error("the unedited message's place changed")
	}
	if edited.Places[1].Key == c.turns[1].Places[1].Key {
		t.Error("the edited message kept its place")
	}
	w.answer(edited, dialect.Answer{Text: "Day one, slowly: …"})
	want := append(before, "3 user_input: for five days", "3 final_output: Day one, slowly: …")
	if got := w.st.events(edited.Session); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
	cut := w.ask(by("ann"), "Sure again.", user("plan a trip to Oslo"))
	wantDistinct(t, "a history cut to its opener is a new conversation", cut.Session, edited.Session)
}

// Row 60: one message that grows.
func TestGrowingMessageIsOneTurn(t *testing.T) {
	w := newWorld(t, acme)
	text := "Answer the question with the tools.\nQuestion: how is the weather in Oslo?\n"
	first := w.ask(by("ann"), "Action: weather[Oslo]", system("ReAct"), user(text))
	var last *Turn
	for i := range 3 {
		text += fmt.Sprintf("Action: weather[Oslo]\nObservation: rain %d\n", i)
		w.pass(time.Minute)
		last = w.ask(by("ann"), "Action: weather[Oslo]", system("ReAct"), user(text))
		wantSame(t, "session", first.Session, last.Session)
		if last.Fresh != -1 || last.Skip != "tool_turn" {
			t.Errorf("fresh %d, skip %q: want replay only", last.Fresh, last.Skip)
		}
		if len(last.Places) != 1 || last.Places[0].Key != first.Places[0].Key {
			t.Errorf("places %v, want that of the first form", last.Places)
		}
	}
	inputs := 0
	for _, e := range w.st.events(first.Session) {
		if strings.HasPrefix(e, "2 ") {
			t.Errorf("a second turn: %s", e)
		}
		if strings.Contains(e, "user_input") {
			inputs++
		}
	}
	if inputs != 1 {
		t.Errorf("%d user inputs, want 1", inputs)
	}
	// The conversation goes on behind the message: its place stays.
	next := w.ask(by("ann"), "bye", system("ReAct"), user(text), assistant("Action: weather[Oslo]"), user("thanks"))
	wantSame(t, "session", first.Session, next.Session)
	if next.Places[0].Key != first.Places[0].Key {
		t.Error("the grown message lost the place of its first form")
	}
	// A process that knows nothing of the first form finds it under the present one.
	w.start(acme)
	later := w.ask(by("ann"), "bye", system("ReAct"), user(text), assistant("Action: weather[Oslo]"), user("thanks"), assistant("bye"), user("bye"))
	wantSame(t, "session", first.Session, later.Session)
	if form := next.Places[0].Form; form.IsZero() || form != last.Places[0].Form || form != later.Places[0].Key {
		t.Errorf("the present form is %v and %v, after a restart %v", last.Places[0].Form, form, later.Places[0])
	}

	for name, other := range map[string]*Turn{
		"another user":   w.ask(by("bob"), "x", system("ReAct"), user(text+"more\n")),
		"another system": w.ask(by("ann"), "x", system("other"), user(text+"more\n")),
	} {
		wantDistinct(t, name, first.Session, other.Session)
	}
	w.pass(11 * time.Minute)
	wantDistinct(t, "too late", first.Session, w.ask(by("ann"), "x", system("ReAct"), user(text+"more\n")).Session)
	a, b := w.ask(by("cat"), "hi", user("hello")), w.ask(by("cat"), "hi", user("hello, can you help me?"))
	wantDistinct(t, "two openers", a.Session, b.Session)
	if b.Fresh != 0 {
		t.Error("a longer greeting isn't taken for new words")
	}
}
