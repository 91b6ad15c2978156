package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hindsight/inject"
	"hindsight/internal/fakellm"
)

// turn is what the client says in one turn, and what its tools answer to the
// calls that follow.
type turn struct {
	words string
	tools []string
}

// talk is the first n turns of a conversation with questions that memories
// answer, others, statements and tool rounds.
func talk(n int) []turn {
	return []turn{
		{words: "Good morning, let's get to work."},
		{words: "Which port does the staging database listen on?"},
		{words: `Look at the deploy. [[tool restart {"port": 8080}]]`, tools: []string{"Error: port in use, try 8081", "Error: port in use, try 8082", "Listening on 8082."}},
		{words: "What is my cat called?"},
		{words: "OK."},
		{words: "OK."},
		{words: "我的工牌号是多少？"},
		{words: `Who owns the billing service? [[tool owners {"of": "billing"}]]`, tools: []string{"Error: no such service, try 2", "Error: no such service, try 3", "Team Three."}},
		{words: "How deep is the Mariana Trench?"},
		{words: "Where do I live?"},
		{words: "OK."},
		{words: "Thanks. From now on I mean the new service when I say billing."},
		{words: "Which port does the staging database listen on?"},
		{words: "When does my passport expire?"},
		{words: `Run the checks. [[tool check {"level": 1}]]`, tools: []string{"Error: too low, try 2", "All good."}},
		{words: "What am I allergic to?"},
		{words: "Write a haiku about rain."},
		{words: "我的猫叫什么名字？"},
		{words: "OK."},
		{words: "Who owns the billing service?"},
	}[:n]
}

// usage is what the model reports of its prompt cache.
type usage struct {
	Prompt  int `json:"prompt_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// hold holds a conversation with whoever send leads to; after is called between
// two turns.
func hold(t *testing.T, turns []turn, send func(body string) reply, after func(turn int)) (replies []reply, uses []usage) {
	t.Helper()
	messages := []string{`{"role":"system","content":"You are a helper.\nBe brief."}`}
	for i, tu := range turns {
		words, err := json.Marshal(tu.words)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, `{"content": `+string(words)+`,  "role":"user"}`)
		tools := tu.tools
		for {
			r := send(`{"model":"` + fakellm.Model + `","messages":[` + strings.Join(messages, ",") + `]}`)
			var v struct {
				Choices []struct{ Message json.RawMessage }
				Usage   usage
			}
			var m struct {
				Calls []struct{ ID string } `json:"tool_calls"`
			}
			if err := json.Unmarshal(r.body, &v); err != nil || r.status != 200 {
				t.Fatalf("turn %d: %d %s", i, r.status, r.body)
			}
			if err := json.Unmarshal(v.Choices[0].Message, &m); err != nil {
				t.Fatal(err)
			}
			replies, uses = append(replies, r), append(uses, v.Usage)
			messages = append(messages, string(v.Choices[0].Message))
			if len(m.Calls) == 0 {
				break
			}
			if len(tools) == 0 {
				t.Fatalf("turn %d: a call that no tool answers: %s", i, r.body)
			}
			messages = append(messages, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, m.Calls[0].ID, tools[0]))
			tools = tools[1:]
		}
		if len(tools) > 0 {
			t.Fatalf("turn %d: tools that nobody called: %q", i, tools)
		}
		after(i)
	}
	return replies, uses
}

// messagesOf is the inside of a body's messages array, as it came.
func messagesOf(t *testing.T, body []byte) []byte {
	t.Helper()
	const open = `"messages":[`
	i := bytes.Index(body, []byte(open))
	if i < 0 || !bytes.HasSuffix(body, []byte("]}")) {
		t.Fatalf("no messages in %s", body)
	}
	return body[i+len(open) : len(body)-2]
}

func TestEachRequestBeginsWithTheOneBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turns, restart int
		injected       int // turns that get a block
	}{{10, 4, 5}, {20, 13, 7}} {
		t.Run(fmt.Sprintf("%d turns", c.turns), func(t *testing.T) {
			w := newWorld(t)
			for _, text := range []string{
				"The staging database listens on port 5433.", "The user's cat is called Mitzi.", "The user lives in Lisbon.",
				"The billing service is owned by team Heron.", "用户的工牌号是4411。", "The user's passport expires in March 2031.",
				"The user is allergic to walnuts.",
			} {
				w.remember("local", fmt.Sprintf(`"text":%q,"type":"user_fact"`, text))
			}
			replies, uses := hold(t, talk(c.turns), func(body string) reply { return w.send(body) }, func(i int) {
				if i == c.restart {
					w.restart()
				}
			})
			direct := fakellm.New(fakellm.Config{})
			_, plain := hold(t, talk(c.turns), func(body string) reply { return ask(direct, body) }, func(int) {})

			injected := 0
			for i, r := range replies {
				switch r.memory() {
				case "injected":
					injected++
				case "off", "none":
					if injected > 0 {
						t.Errorf("request %d: %s after a block", i, r.memory())
					}
				}
				if r.session() != replies[0].session() {
					t.Errorf("request %d: another session", i)
				}
			}
			if injected != c.injected {
				t.Errorf("%d turns got a block, want %d", injected, c.injected)
			}
			all := w.seen()
			if len(all) != len(replies) {
				t.Fatalf("%d requests, %d answers", len(all), len(replies))
			}
			for i := 1; i < len(all); i++ {
				before, now := messagesOf(t, all[i-1].body), messagesOf(t, all[i].body)
				if !bytes.HasPrefix(now, append(before[:len(before):len(before)], ',')) {
					t.Errorf("request %d doesn't begin with the one before:\n%s\n%s", i, before, now)
				}
				if got, want := uses[i].Details.Cached, uses[i-1].Prompt; got != want {
					t.Errorf("request %d: %d tokens cached of the %d sent before", i, got, want)
				}
			}
			if last := messagesOf(t, all[len(all)-1].body); bytes.Count(last, []byte("<hindsight-notes:")) != injected {
				t.Errorf("%d blocks in the last request, want %d", bytes.Count(last, []byte("<hindsight-notes:")), injected)
			}
			if !strings.Contains(inject.Strip(replies[1].text()), "5433") {
				t.Errorf("the note was of no use: %s", replies[1].text())
			}
			kept, without := kept(uses), kept(plain)
			t.Logf("of what was sent before, cached: %.3f with the proxy, %.3f without", kept, without)
			if kept != without {
				t.Errorf("the share kept is %.3f, and %.3f without the proxy", kept, without)
			}
		})
	}
}

// kept is the share of the tokens sent before that the cache had, over a
// conversation.
func kept(uses []usage) float64 {
	cached, sent := 0, 0
	for i := 1; i < len(uses); i++ {
		cached, sent = cached+uses[i].Details.Cached, sent+uses[i-1].Prompt
	}
	return float64(cached) / float64(sent)
}

// ask asks a model server without a network.
func ask(model http.Handler, body string) reply {
	rec := httptest.NewRecorder()
	model.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	return reply{rec.Code, rec.Header(), rec.Body.Bytes()}
}
