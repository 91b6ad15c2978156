package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// cranes remembers seven facts that one question finds.
func cranes(w *world) {
	for i, what := range []string{"grease", "paint", "a hook", "new brakes", "an operator", "a cable", "a lamp"} {
		w.remember("ann", fmt.Sprintf(`"type":"user_fact","text":"Harbour crane number %d needs %s."`, i+1, what))
	}
}

const craneQuestion = "What does my harbour crane need?"

// A profile bounds what one model is shown: the same question, two models.
func TestProfileOfAModel(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann", `HINDSIGHT_INJECT_PROFILES={"tiny-*":{"top_k":2},"tiny-strict":{"gate":9}}`)
	cranes(w)
	given := func(model string) (string, int) {
		t.Helper()
		r := w.send(strings.Replace(w.conversation().add("user", craneQuestion).body(), `"model":"`+fakellm.Model+`"`, `"model":"`+model+`"`, 1))
		ids := r.header.Get("Hindsight-Memories")
		if ids == "" {
			return r.memory(), 0
		}
		return r.memory(), strings.Count(ids, ",") + 1
	}
	for _, c := range []struct {
		model, status string
		memories      int
	}{
		{fakellm.Model, "injected", 5},
		{"Tiny-Chat", "injected", 2},
		{"tiny-strict", "none", 0},                // the more specific pattern
		{"maker/some-3b-instruct", "injected", 3}, // small by its own name
		{"some-70b-instruct", "injected", 5},
	} {
		if status, n := given(c.model); status != c.status || n != c.memories {
			t.Errorf("%s: %s with %d memories, want %s with %d", c.model, status, n, c.status, c.memories)
		}
	}
}

// All blocks of a request together take at most a twentieth of the model's
// context, where that is known.
func TestBlocksFitTheModelsContext(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann", `HINDSIGHT_INJECT_PROFILES={"local":{"context":2200}}`)
	cranes(w)
	for model, most := range map[string]int{"gpt-4": 8192 / 20, "local": 2200 / 20, "phi-3-mini-4k": 4096 / 20} {
		c := w.conversation()
		carried := 0
		for range 4 {
			r := w.send(strings.Replace(c.add("user", craneQuestion).body(), `"model":"`+fakellm.Model+`"`, `"model":"`+model+`"`, 1))
			c.add("assistant", r.text())
			carried = 0
			var sent struct{ Messages []struct{ Content string } }
			w.decode(w.last().body, &sent)
			for _, m := range sent.Messages {
				if block, ok := strings.CutSuffix(m.Content, "\n"+craneQuestion); ok {
					carried += store.Tokens(block)
				}
			}
		}
		if carried == 0 || carried > most {
			t.Errorf("%s: blocks of %d tokens, want some, at most %d", model, carried, most)
		}
	}
}

// With inject.cite the model is asked to name what it used; the answer reaches
// the client as it came, and a named memory counts as used.
func TestCitedMemoryIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann", "HINDSIGHT_INJECT_CITE=true", "HINDSIGHT_REFLECT_MODEL=rules")
	m := w.remember("ann", `"type":"user_fact","text":"The boathouse key hangs behind the barometer."`)
	other := w.remember("ann", `"type":"preference","text":"Answer briefly.","standing":true`)
	cited := "It hangs behind the barometer. [" + m.ID[:store.ShortID] + "]"
	w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		if !strings.Contains(string(body), "with its id in brackets") {
			t.Errorf("nothing asks for ids: %s", body)
		}
		fmt.Fprintf(rw, `{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}]}`, cited)
		return true
	}
	r := w.conversation().say("Where is my boathouse key?")
	if r.text() != cited || r.memory() != "injected" {
		t.Fatalf("%s: %s", r.memory(), r.body)
	}
	if s := w.session(r.session()); s.Events[len(s.Events)-1].Text != cited {
		t.Errorf("recorded: %+v", s.Events)
	}
	w.close(r.session())
	uses := map[string]int{}
	for _, m := range w.memories("ann") {
		uses[m.ID] = m.Uses
	}
	if uses[m.ID] != 1 || uses[other.ID] != 0 {
		t.Errorf("uses %v, want one of %s alone", uses, m.ID)
	}
	w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.Contains(string(body), "in brackets") {
			t.Errorf("ids are asked for beside JSON: %s", body)
		}
		return false
	}
	c := w.conversation()
	c.extra = `"response_format":{"type":"json_object"},`
	if r := c.say("Where is my boathouse key?"); r.memory() != "injected" {
		t.Errorf("a structured request: %s", r.memory())
	}
}

// With inject.stateful off nothing goes into what the provider keeps: there it
// would stay. What is said is recorded all the same.
func TestNothingWhereTheProviderKeepsIt(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for _, stateful := range []bool{true, false} {
		w := newOpenAI(t, "HINDSIGHT_DEFAULT_USER=ann", fmt.Sprintf("HINDSIGHT_INJECT_STATEFUL=%v", stateful))
		m := w.remember("ann", `"type":"user_fact","text":"The boathouse key hangs behind the barometer."`)
		question := `"input":"Where is my boathouse key?"`
		for form, keeps := range map[string]bool{`"store":false,`: false, "": true, `"conversation":"conv_68a1b2c3d4",`: true} {
			r := w.sendResponses(form + question)
			want := "injected"
			if keeps && !stateful {
				want = "off"
			}
			if r.memory() != want || strings.Contains(string(w.last().body), m.ID[:store.ShortID]) != (want == "injected") {
				t.Errorf("stateful %v, %q: %s, want %s; the upstream got %s", stateful, form, r.memory(), want, w.last().body)
			}
			if said := w.session(r.session()).said(); len(said) != 1 {
				t.Errorf("stateful %v, %q: recorded %v", stateful, form, said)
			}
		}
	}
}

// An important memory that nobody has confirmed for half a year is shown with
// "please check", once a month: not in the next session, not after a restart.
// Where the words stand already they stay.
func TestPleaseCheckOnceAMonth(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann")
	old := time.Now().AddDate(0, 0, -200)
	_, err := w.st.store.PutMemories(t.Context(), []store.Memory{{
		ID: "mboathouse", Tenant: "default", Scope: store.UserScope("ann"), Type: store.UserFact, Layer: store.Semantic, State: store.Active,
		Text: "The boathouse key hangs behind the barometer.", Importance: 0.8, CreatedAt: old, UpdatedAt: old, Revision: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	asks := func() bool { return strings.Contains(string(w.last().body), "barometer. (please check)") }
	first := w.conversation()
	if r := first.say("Where is my boathouse key?"); r.memory() != "injected" || !asks() {
		t.Fatalf("the first session: %s, %s", r.memory(), w.last().body)
	}
	if r := w.conversation().say("And where is my boathouse key?"); r.memory() != "injected" || asks() {
		t.Errorf("the second session: %s, %s", r.memory(), w.last().body)
	}
	w.restart()
	if r := w.conversation().say("So where is my boathouse key?"); r.memory() != "injected" || asks() {
		t.Errorf("after a restart: %s, %s", r.memory(), w.last().body)
	}
	if r := first.say("Thanks."); r.memory() != "replayed" || !asks() {
		t.Errorf("the first session goes on: %s, %s", r.memory(), w.last().body)
	}
}

// Nothing is told that the request says itself: the words from which a memory was
// learned, or its own; nor what an earlier block of the conversation says.
func TestNothingThatStandsInTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann", "HINDSIGHT_REFLECT_MODEL=rules")
	words := "My name is Ann and my badge is B4411."
	r := w.conversation().say(words)
	if kept, _ := w.close(r.session()); len(kept) == 0 {
		t.Fatal("nothing was learned")
	}
	if r := w.conversation().say("What is my badge?"); r.memory() != "injected" {
		t.Fatalf("the question alone: %s", r.memory())
	}
	if r := w.conversation().say(words + " What is my badge?"); r.memory() != "none" {
		t.Errorf("with the words it was learned from: %s, %s", r.memory(), w.last().body)
	}
	if r := w.conversation().add("user", words).add("assistant", "Noted.").say("What is my badge?"); r.memory() != "none" {
		t.Errorf("with these words earlier in the history: %s, %s", r.memory(), w.last().body)
	}
	c := w.conversation()
	c.say("What is my badge?")
	if r := c.say("Sorry, what is my badge again?"); r.memory() != "replayed" || strings.Count(string(w.last().body), "] My name") != 1 {
		t.Errorf("with a block that says it: %s, %s", r.memory(), w.last().body)
	}
}
