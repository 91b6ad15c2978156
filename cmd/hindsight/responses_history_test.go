package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// holdResponses holds a conversation over the responses route; input makes the
// body's members of what is new and of all that was said. after is called
// between two turns.
func holdResponses(t *testing.T, turns []turn, send func(fresh, all []string, last string) response, after func(turn int)) (replies []response) {
	t.Helper()
	var all []string
	last := ""
	for i, tu := range turns {
		words, err := json.Marshal(tu.words)
		if err != nil {
			t.Fatal(err)
		}
		fresh := []string{`{"content": [ {"text":` + string(words) + `, "type":"input_text"}],  "role":"user"}`}
		tools := tu.tools
		for {
			all = append(all, fresh...)
			r := send(fresh, all, last)
			last = r.ID
			replies = append(replies, r)
			for _, raw := range r.Output {
				all = append(all, string(raw))
			}
			if r.call() == "" {
				break
			}
			if len(tools) == 0 {
				t.Fatalf("turn %d: a call that no tool answers: %s", i, r.body)
			}
			fresh = []string{fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, r.call(), tools[0])}
			tools = tools[1:]
		}
		if len(tools) > 0 {
			t.Fatalf("turn %d: tools that nobody called: %q", i, tools)
		}
		after(i)
	}
	return replies
}

// inputOf is the inside of a body's input array, as it came.
func inputOf(t *testing.T, body []byte) []byte {
	t.Helper()
	const open = `"input":[`
	i := bytes.Index(body, []byte(open))
	if i < 0 || !bytes.HasSuffix(body, []byte("]}")) {
		t.Fatalf("no input in %s", body)
	}
	return body[i+len(open) : len(body)-2]
}

func rememberTalk(w *world) {
	w.t.Helper()
	for _, text := range []string{
		"The staging database listens on port 5433.", "The user's cat is called Mitzi.", "The user lives in Lisbon.",
		"The billing service is owned by team Heron.", "用户的工牌号是4411。", "The user's passport expires in March 2031.",
		"The user is allergic to walnuts.",
	} {
		w.remember("local", fmt.Sprintf(`"text":%q,"type":"user_fact"`, text))
	}
}

// Where the client sends the whole history each time, each request begins with
// the one before, reasoning and calls untouched, tool rounds included.
func TestResponsesBeginWithTheOneBefore(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
			t.Parallel()
			w := newOpenAI(t)
			rememberTalk(w)
			replies := holdResponses(t, talk(20), func(_, all []string, _ string) response {
				return w.sendResponses(fmt.Sprintf(`"stream":%t,"store":false,"instructions":"Be brief.","input":[%s]`, stream, strings.Join(all, ",")))
			}, func(i int) {
				if i == 13 {
					w.restart()
				}
			})
			injected := 0
			for i, r := range replies {
				if r.memory() == "injected" {
					injected++
				}
				if r.session() != replies[0].session() {
					t.Errorf("request %d: another session", i)
				}
			}
			if injected != 7 {
				t.Errorf("%d turns got a block, want 7", injected)
			}
			all := w.seen()
			for i := 1; i < len(all); i++ {
				before, now := inputOf(t, all[i-1].body), inputOf(t, all[i].body)
				if !bytes.HasPrefix(now, append(before[:len(before):len(before)], ',')) {
					t.Errorf("request %d doesn't begin with the one before:\n%s\n%s", i, before, now)
				}
				if got, want := replies[i].Usage.Details.Cached, replies[i-1].Usage.Input; got != want {
					t.Errorf("request %d: %d tokens cached of the %d sent before", i, got, want)
				}
			}
			if n := bytes.Count(all[len(all)-1].body, []byte("<hindsight-notes:")); n != injected {
				t.Errorf("%d blocks in the last request, want %d", n, injected)
			}
			if n := bytes.Count(all[len(all)-1].body, []byte(`"encrypted_content":"gAAA\u002b`)); n != len(all)-1 {
				t.Errorf("%d thoughts in the last request, want %d", n, len(all)-1)
			}
			w.holdsTalk(replies[0].session())
		})
	}
}

// holdsTalk checks that the session has every turn of the talk, in order.
func (w *world) holdsTalk(id string) {
	w.t.Helper()
	var want []string
	for _, tu := range talk(20) {
		want = append(want, tu.words)
	}
	s := w.session(id)
	if got := s.said(); !slices.Equal(got, want) {
		w.t.Errorf("words %q, want %q", got, want)
	}
	tools := map[string]int{}
	for _, e := range s.Events {
		if e.Kind == "tool_result" {
			tools[e.Name]++
		}
	}
	if fmt.Sprint(tools) != "map[check:2 owners:3 restart:3]" {
		w.t.Errorf("tools' results %v", tools)
	}
}

// Where the provider keeps the conversation only what is new goes there: words
// and outputs as the client sent them, each memory once, and the same turns are
// told of at the end.
func TestResponsesThatTheProviderKeeps(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]func(last string) string{
		"previous_response_id": func(last string) string {
			if last == "" {
				return ""
			}
			return fmt.Sprintf(`"previous_response_id":%q,`, last)
		},
		"conversation": func(string) string { return `"conversation":"conv_68a1b2c3d4",` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOpenAI(t)
			rememberTalk(w)
			var fresh []string
			replies := holdResponses(t, talk(20), func(now, _ []string, last string) response {
				fresh = append(fresh, strings.Join(now, ","))
				return w.sendResponses(form(last) + `"input":[` + strings.Join(now, ",") + `]`)
			}, func(i int) {
				if i == 13 {
					w.restart()
				}
			})
			injected := map[string]int{}
			for i, r := range replies {
				sent := inputOf(t, w.seen()[i].body)
				switch {
				case r.memory() != "injected":
					if string(sent) != fresh[i] {
						t.Errorf("request %d: %s, and the upstream got %s", i, r.memory(), sent)
					}
				case bytes.Contains(sent, []byte("function_call_output")):
					t.Errorf("request %d: a block beside an output: %s", i, sent)
				default:
					for id := range strings.SplitSeq(r.header.Get("Hindsight-Memories"), ",") {
						injected[id]++
					}
				}
				if r.session() != replies[0].session() {
					t.Errorf("request %d: another session", i)
				}
			}
			if len(injected) != 7 {
				t.Errorf("%d memories were told, want 7", len(injected))
			}
			for id, n := range injected {
				if n != 1 {
					t.Errorf("%s was told %d times", id, n)
				}
			}
			w.holdsTalk(replies[0].session())
		})
	}
}

// What was said so far follows the chain that the client makes, not the
// session: another branch hasn't heard of it.
func TestResponsesFork(t *testing.T) {
	t.Parallel()
	w := withCat(t)
	root := w.sendResponses(`"input":"Good morning!"`)
	on := func(after response, words string) response {
		return w.sendResponses(fmt.Sprintf(`"previous_response_id":%q,"input":%q`, after.ID, words))
	}
	first := on(root, "What is my cat called?")
	again := on(first, "Tell me again: what is my cat called?")
	fork := on(root, "Now then, what is my cat called?")
	for i, c := range []struct {
		r    response
		want string
	}{{first, "injected"}, {again, "none"}, {fork, "injected"}} {
		if c.r.memory() != c.want || c.r.session() != root.session() {
			t.Errorf("request %d: %s, want %s; session %s of %s", i+2, c.r.memory(), c.want, c.r.session(), root.session())
		}
	}
}

// What "it" is stands in the turns before, and those aren't in the request.
func TestResponsesKnowTheTurnsBefore(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t, "HINDSIGHT_TOP_K=1")
	codes := map[string]string{}
	for _, of := range []string{"harbour crane", "garden gate"} {
		codes[of] = w.remember("local", `"text":"The access code of the `+of+` is 44`+of[:1]+`.","type":"user_fact"`).ID
	}
	for of, id := range codes {
		first := w.sendResponses(`"input":"Good morning, we talk about the `+of+`."`, "Hindsight-Memory: write")
		r := w.sendResponses(fmt.Sprintf(`"previous_response_id":%q,"input":"What is its access code?"`, first.ID))
		if got := r.header.Get("Hindsight-Memories"); got != id {
			t.Errorf("%s: %s, memories %s, want %s", of, r.memory(), got, id)
		}
	}
}

// The same for an answer that is only referred to.
func TestResponsesKnowWhatAReferenceSaid(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t, "HINDSIGHT_TOP_K=1")
	things := []string{"harbour crane", "garden gate"}
	ids := make([]string, len(things))
	for i, of := range things {
		ids[i] = w.remember("local", `"text":"The access code of the `+of+` is 44`+of[:1]+`.","type":"user_fact"`).ID
	}
	for i, of := range things {
		w.answer = func(rw http.ResponseWriter, _ *http.Request, _ []byte) bool {
			fmt.Fprintf(rw, `{"id":"resp_%d","status":"completed","output":[{"id":"msg_%d","type":"message","content":[{"type":"output_text","text":"Let us take the %s."}]}]}`, i, i, of)
			return true
		}
		words := string(userItem(fmt.Sprintf("Choose number %d.", i)))
		w.sendResponses(`"input":[`+words+`]`, "Hindsight-Memory: write")
		r := w.sendResponses(fmt.Sprintf(`"input":[%s,{"type":"item_reference","id":"msg_%d"},%s]`, words, i, userItem("What is its access code?")))
		if got := r.header.Get("Hindsight-Memories"); got != ids[i] {
			t.Errorf("%s: %s, memories %s, want %s", of, r.memory(), got, ids[i])
		}
	}
}

// Words that begin with the last ones are a turn of their own where the
// provider keeps those.
func TestResponsesThatBeginAlike(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t)
	first := w.sendResponses(`"conversation":"conv_68a1b2c3d4","input":"Tell me of the first of the two bridges."`)
	w.sendResponses(`"conversation":"conv_68a1b2c3d4","input":"Tell me of the first of the two bridges.\nAnd of the second."`)
	if got := w.session(first.session()).said(); len(got) != 2 {
		t.Errorf("words %q", got)
	}
}

// Two conversations in which the same was answered to the same words: the one
// whose history is as long goes on, thoughts that lie between not counted.
func TestResponsesThatAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t)
	const answer = `{"type":"reasoning","summary":[],"encrypted_content":"gAAA"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"OK."}]}`
	w.answer = func(rw http.ResponseWriter, _ *http.Request, _ []byte) bool {
		fmt.Fprint(rw, `{"status":"completed","output":[`+answer+`]}`)
		return true
	}
	send := func(items ...string) response {
		return w.sendResponses(`"store":false,"input":[` + strings.Join(items, ",") + `]`)
	}
	hello, again := string(userItem("Hello.")), string(userItem("Go on."))
	short := send(again)
	send(hello)
	long := send(hello, answer, again)
	if r := send(again, answer, string(userItem("And now?"))); r.session() != short.session() || r.session() == long.session() {
		t.Errorf("session %s, want %s, not %s", r.session(), short.session(), long.session())
	}
}

// One client sends past answers as references alone. The session is found by
// their ids, and what they said is the recorder's own.
func TestResponsesByReference(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart=%t", restart), func(t *testing.T) {
			t.Parallel()
			w := withCat(t)
			var items []string
			var first response
			for i, words := range []string{"Good morning!", "What is my cat called?", "OK.", "OK.", "Where does the sun rise?"} {
				items = append(items, string(userItem(words)))
				r := w.sendResponses(`"stream":true,"input":[` + strings.Join(items, ",") + `]`)
				if i == 0 {
					first = r
				}
				if r.session() != first.session() {
					t.Errorf("request %d: another session", i+1)
				}
				for _, raw := range r.Output {
					var it struct{ ID string }
					w.decode(raw, &it)
					items = append(items, fmt.Sprintf(`{"type":"item_reference","id":%q}`, it.ID))
				}
				if i > 0 && !hasBlock(w.last().body) {
					t.Errorf("request %d: %s", i+1, r.memory())
				}
				if restart {
					w.restart()
				}
			}
			all := w.seen()
			for i := 1; i < len(all); i++ {
				before, now := inputOf(t, all[i-1].body), inputOf(t, all[i].body)
				if !bytes.HasPrefix(now, append(before[:len(before):len(before)], ',')) {
					t.Errorf("request %d doesn't begin with the one before:\n%s\n%s", i+1, before, now)
				}
			}
			answers := 0
			for _, e := range w.session(first.session()).Events {
				if e.Kind == "final_output" && e.Text != "" {
					answers++
				}
			}
			if answers != 5 {
				t.Errorf("%d answers are recorded", answers)
			}
		})
	}
}
