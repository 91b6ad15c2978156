package session

import (
	"context"
	"fmt"
	"testing"
)

// Two conversations that end alike are told apart by the answers before, however
// far back: look-ups that stop at the newest would take the one used last.
func TestConversationsThatEndAlike(t *testing.T) {
	w := newWorld(t, acme)
	var talks [2]talk
	for i := range talks {
		talks[i] = talk{w: w, h: by("ann")}
		talks[i].say("hello", fmt.Sprintf("hello, this is number %d", i))
		talks[i].say("go on", "yes")
	}
	for range 4 {
		for i := range talks {
			talks[i].say("go on", "yes")
			wantSame(t, "the conversation", talks[i].turns[0].Session, talks[i].turns[len(talks[i].turns)-1].Session)
		}
	}
	wantDistinct(t, "the two", talks[0].turns[0].Session, talks[1].turns[0].Session)
}

// Where the newest answer decides, nothing else is asked for; a history that is
// unknown is looked up forty answers back.
func TestHowMuchIsLookedUp(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	for i := range 60 {
		c.say(fmt.Sprintf("question %d", i), fmt.Sprintf("answer %d", i))
	}
	w.start(acme) // anew: nothing is in memory
	asked := w.st.asked
	c.say("question 60", "answer 60")
	if n := w.st.asked - asked; n != 1 {
		t.Errorf("%d keys are looked up, want 1", n)
	}
	wantSame(t, "the session", c.turns[0].Session, c.turns[60].Session)

	for i := range 39 { // said where we weren't
		c.history = append(c.history, user(fmt.Sprintf("aside %d", i)), assistant(fmt.Sprintf("away %d", i)))
	}
	asked = w.st.asked
	c.say("question 61", "answer 61")
	if n := w.st.asked - asked; n != 40 {
		t.Errorf("%d keys are looked up, want 40", n)
	}
	wantSame(t, "the session", c.turns[0].Session, c.turns[61].Session)
}

// A call without an id can't be looked up; the answer before it can.
func TestAnswerWithoutAMark(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	first := c.say("hello", "hi")
	c.history = append(c.history, user("what time is it?"), calling("", "clock"), tool("", "noon"))
	wantSame(t, "the session", first.Session, w.ask(c.h, "It is noon.", c.history...).Session)
}

// A disk that is too slow to be asked: what memory knows of the conversation does.
func TestSlowStore(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	first := c.say("hello", "hi")
	over, cancel := context.WithCancel(context.Background())
	cancel()
	c.history = append(c.history, user("how are you?"))
	if next := w.k.Identify(over, w.incoming(c.h, nil, c.history...)); next.Off != "" || next.Session != first.Session {
		t.Errorf("off %q, session %s, want %s", next.Off, next.Session, first.Session)
	}
	w.start(acme) // nothing is in memory
	if next := w.k.Identify(over, w.incoming(c.h, nil, c.history...)); next.Off != "deadline" {
		t.Errorf("off %q, want the deadline", next.Off)
	}
}
