package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

const facts = `The staging database listens on port 5433.|The user's cat is called Mitzi.|The user lives in Lisbon.|The billing service is owned by team Heron.|用户的工牌号是4411。|The user's passport expires in March 2031.|The user is allergic to walnuts.`

// holdMessages is [hold] in Anthropic's format; tools' results are parts of
// user messages, and every other answer is streamed to the client.
func holdMessages(t *testing.T, w *world, turns []turn, after func(turn int)) (replies []reply, cached, sent []int) {
	t.Helper()
	var messages []string
	for i, tu := range turns {
		words, _ := json.Marshal(tu.words)
		if i%2 == 0 {
			messages = append(messages, `{"content": `+string(words)+`,  "role":"user"}`)
		} else {
			messages = append(messages, `{"role":"user","content":[{"type":"text","text":`+string(words)+`}]}`)
		}
		tools := tu.tools
		for {
			r := w.sendMessages(messagesBody(messages...))
			var v struct {
				Content []block
				Usage   struct {
					Input int `json:"input_tokens"`
					Read  int `json:"cache_read_input_tokens"`
				}
			}
			messages = append(messages, w.answered(r))
			w.decode(r.body, &v)
			replies, cached, sent = append(replies, r), append(cached, v.Usage.Read), append(sent, v.Usage.Input+v.Usage.Read)
			last := v.Content[len(v.Content)-1]
			if last.Type != "tool_use" {
				break
			}
			if len(tools) == 0 {
				t.Fatalf("turn %d: a call that no tool answers: %s", i, r.body)
			}
			messages = append(messages, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, last.ID, tools[0]))
			tools = tools[1:]
		}
		after(i)
	}
	return replies, cached, sent
}

func TestMessagesEachRequestBeginsWithTheOneBefore(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newAnthropic(t)
	for _, text := range strings.Split(facts, "|") {
		w.remember("local", fmt.Sprintf(`"text":%q,"type":"user_fact"`, text))
	}
	replies, cached, sent := holdMessages(t, w, talk(20), func(i int) {
		if i == 13 {
			w.restart()
		}
	})
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
	all := w.seen()
	if len(all) != len(replies) || injected != 7 {
		t.Fatalf("%d requests, %d answers, %d turns got a block", len(all), len(replies), injected)
	}
	for i := 1; i < len(all); i++ {
		before, now := messagesOf(t, all[i-1].body), messagesOf(t, all[i].body)
		if !bytes.HasPrefix(now, append(before[:len(before):len(before)], ',')) {
			t.Errorf("request %d doesn't begin with the one before:\n%s\n%s", i, before, now)
		}
		if cached[i] != sent[i-1] {
			t.Errorf("request %d: %d tokens cached of the %d sent before", i, cached[i], sent[i-1])
		}
	}
	if n := bytes.Count(all[len(all)-1].body, []byte("<hindsight-notes:")); n != injected {
		t.Errorf("%d blocks in the last request, want %d", n, injected)
	}
	var words []string
	for _, tu := range talk(20) {
		words = append(words, tu.words)
	}
	w.wantSaid(replies[0].session(), "local", words...)
}

// The block of a question stays where it is through the tool rounds that
// follow it, and nothing gets in front of a tool's result.
func TestMessagesToolRounds(t *testing.T) {
	t.Parallel()
	w := newAnthropic(t)
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	w.remember("local", `"text":"The staging database listens on port 5433.","type":"solution"`)
	history := []string{userSays("What is my cat called?")}
	w.sendMessages(messagesBody(history...), "Hindsight-Session: rounds")
	block := w.last().blockIn(t)[0]
	if !strings.Contains(block, "Mitzi") {
		t.Fatalf("no block in %s", w.last().body)
	}
	for round := range 3 {
		id := fmt.Sprintf("toolu_01A9kQ3xZb7T%d", round)
		history = append(history,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"S=="},{"type":"tool_use","id":"`+id+`","name":"find","input":{"n":1.0}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","is_error":true,"content":[{"type":"text","text":"none"}]}]}`)
		r := w.sendMessages(messagesBody(history...), "Hindsight-Session: rounds")
		got := w.last()
		if r.memory() != "skipped;reason=tool_turn" && r.memory() != "replayed" {
			t.Errorf("round %d: %s", round, r.memory())
		}
		with := got.blockIn(t)
		if with[0] != block || strings.Join(with[1:], "") != "" {
			t.Errorf("round %d carries %q", round, with)
		}
		for i, m := range got.messages(t)[1:] {
			if string(m) != history[i+1] {
				t.Errorf("round %d: message %d was changed: %s", round, i+1, m)
			}
		}
	}
	// Words behind a result are a turn; the block goes between the two.
	const result = `{"type":"tool_result","tool_use_id":"toolu_01A9kQ3xZb7T9","content":"x"}`
	const words = `{"type":"text","text":"Never mind. Which port does the staging database listen on?","cache_control":{"type":"ephemeral"}}`
	history = append(history, `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01A9kQ3xZb7T9","name":"find","input":{}}]}`, `{"role":"user","content":[`+result+`,`+words+`]}`)
	r := w.sendMessages(messagesBody(history...), "Hindsight-Session: rounds")
	last := string(w.last().messages(t)[len(history)-1])
	if r.memory() != "injected" || !strings.HasPrefix(last, `{"role":"user","content":[`+result+`,{"type":"text","text":"<hindsight-notes:`) || !strings.HasSuffix(last, `"},`+words+`]}`) {
		t.Errorf("%s: %s", r.memory(), last)
	}
	s := w.session(r.session())
	failed := 0
	for _, e := range s.Events {
		if e.Kind == store.ToolResult && e.Failed && e.Text == "none" && e.Name == "find" {
			failed++
		}
	}
	if failed != 3 || strings.Join(s.said(), "|") != "What is my cat called?|Never mind. Which port does the staging database listen on?" {
		t.Errorf("%d failed results, words %q", failed, s.said())
	}
}

// With nothing to inject the proxy can't be told from the upstream by a byte,
// and the paths below messages are none of its business.
func TestMessagesNothingToInjectChangesNoByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=local")
	w.answer = func(rw http.ResponseWriter, r *http.Request, _ []byte) bool {
		rw.Header().Set("Request-Id", "req_1")
		rw.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "0")
		rw.Header()["Date"] = []string{"Sun, 29 Nov 2026 10:00:00 GMT"}
		switch r.Header.Get("Answer") {
		case "stream":
			rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			for _, piece := range []string{"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xe4", "\xbd\xa0\"}}\n\n", "event: message_stop\ndata: {\"type\":\"message_stop\"       }\n\n"} {
				fmt.Fprint(rw, piece)
				rw.(http.Flusher).Flush()
			}
		case "refusal":
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Retry-After", "7")
			rw.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(rw, `{"type":"error", "error":{"type":"rate_limit_error","message":"slow  down"}}`)
		default:
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprint(rw, `{ "id":"msg_1", "content":[{"type":"text","text":"caf\u00e9","n":1e400}],"stop_reason":"end_turn" }`+"\n")
		}
		return true
	}
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	for name, c := range map[string]struct{ path, body, status string }{
		"a question":       {"/messages?beta=true", messagesBody(userSays("How deep is the Mariana Trench?")), "none"},
		"odd JSON":         {"/messages", "\n{ \"messages\" : [ {\"content\":[{\"text\":\"\\u00fcber \\/ How high is Everest?\",\"type\":\"text\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"role\":\"user\"} ],\t\"x\":9007199254740993,\"temperature\":1.0,\"big\":1e400,\"model\":\"m\"} \r\n", "none"},
		"a tool's result":  {"/messages", messagesBody(userSays("Go."), `{"role":"assistant","content":[{"type":"redacted_thinking","data":"AA"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1.0}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":null}]}`), "skipped;reason=tool_turn"},
		"an image":         {"/messages", messagesBody(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"text","text":"Who painted this?"}]}`), "none"},
		"a prefill":        {"/messages", messagesBody(userSays("Count to three."), `{"role":"assistant","content":"One,"}`), "none"},
		"cut JSON":         {"/messages", `{"model":"m","messages":[{"role":"user","content":"hi`, "skipped;reason=parse"},
		"counting tokens":  {"/messages/count_tokens", messagesBody(userSays("What is my cat called?")), ""},
		"a batch":          {"/messages/batches", `{"requests":[{"custom_id":"a","params":` + messagesBody(userSays("What is my cat called?")) + `}]}`, ""},
		"counting by beta": {"/messages/count_tokens?beta=true", "not JSON", ""},
	} {
		for _, answer := range []string{"plain", "stream", "refusal"} {
			headers := []string{"Answer: " + answer, "Anthropic-Version: 2023-06-01", "Anthropic-Beta: a-1,b-2", "X-Api-Key: sk-test", "X-App: cli"}
			direct := post(t, w.env["LLM_API_BASE"]+c.path, c.body, headers...)
			wanted := w.last()
			got := post(t, w.st.proxyURL()+"/v1"+c.path, c.body, headers...)
			arrived := w.last()
			if string(arrived.body) != c.body || arrived.path != wanted.path || cmp.Diff(wanted.header, arrived.header) != "" {
				t.Errorf("%s, %s: the upstream got %s %q %s", name, answer, arrived.path, arrived.body, cmp.Diff(wanted.header, arrived.header))
			}
			if got.memory() != c.status {
				t.Errorf("%s, %s: status %q, want %q", name, answer, got.memory(), c.status)
			}
			for h := range got.header {
				if strings.HasPrefix(h, "Hindsight-") && c.status != "" {
					got.header.Del(h)
				}
			}
			if got.status != direct.status || !bytes.Equal(got.body, direct.body) || cmp.Diff(direct.header, got.header) != "" {
				t.Errorf("%s, %s: the client got %d %q %s", name, answer, got.status, got.body, cmp.Diff(direct.header, got.header))
			}
		}
	}
}

// anthropicError reads an error as Anthropic's clients do.
func (r reply) anthropicError(t *testing.T) (kind, message string) {
	t.Helper()
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal(r.body, &e); err != nil || e.Type != "error" || e.Error.Message == "" || r.header.Get("Content-Type") != "application/json" {
		t.Fatalf("not an error of the API: %s %q (%v)", r.header.Get("Content-Type"), r.body, err)
	}
	return e.Error.Type, e.Error.Message
}

func TestMessagesErrorsOfOurOwn(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()
	w := newWorld(t, "LLM_API_BASE=http://"+address+"/v1", "HINDSIGHT_MAX_BODY=64KiB")
	r := w.sendMessages(messagesBody(userSays("My name is Ann.")))
	if kind, message := r.anthropicError(t); r.status != http.StatusBadGateway || kind != "api_error" || !strings.Contains(message, address) {
		t.Errorf("%d %s: %s", r.status, kind, message)
	}
	r = w.sendMessages(messagesBody(userSays(strings.Repeat("x", 65<<10))))
	if kind, message := r.anthropicError(t); r.status != http.StatusRequestEntityTooLarge || kind != "request_too_large" || !strings.Contains(message, "65536") {
		t.Errorf("%d %s: %s", r.status, kind, message)
	}
}

// An upstream that refuses the block gets the client's own bytes.
func TestMessagesRefusedBlockIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		w := newAnthropic(t)
		w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
			if !hasBlock(body) {
				return w.speakMessages(rw, r, body)
			}
			rw.WriteHeader(status)
			fmt.Fprint(rw, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content: odd"}}`)
			return true
		}
		w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
		body := messagesBody(userSays("What is my cat called?"))
		r := w.sendMessages(body)
		all := w.seen()
		if len(all) != 2 || !hasBlock(all[0].body) || string(all[1].body) != body || r.status != http.StatusOK || r.memory() != "skipped;reason=upstream_refused" {
			t.Errorf("%d: %d requests, the client got %d %s", status, len(all), r.status, r.memory())
		}
	}
}

// A streamed answer is found again by its text and by its call's id; one that
// breaks off is no good answer.
func TestMessagesStreamed(t *testing.T) {
	t.Parallel()
	w := newAnthropic(t)
	stream := func(messages ...string) reply {
		return w.sendMessages(strings.Replace(messagesBody(messages...), `{"model"`, `{"stream":true,"model"`, 1))
	}
	const ask = `Look at the deploy. [[tool restart {"port": 8080}]]`
	first := stream(userSays(ask))
	if !bytes.HasSuffix(first.body, []byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")) {
		t.Fatalf("the client got %s", first.body)
	}
	s := w.session(first.session())
	var call store.Event
	for _, e := range s.Events {
		if e.Kind == store.ToolCall {
			call = e
		}
	}
	if call.Name != "restart" || call.Text != `{"port": 8080}` || s.Exchanges[0].Status != store.Complete {
		t.Fatalf("recorded %+v, %+v", s.Events, s.Exchanges)
	}
	history := []string{
		userSays(ask),
		`{"role":"assistant","content":[{"type":"tool_use","id":"` + call.CallID + `","name":"restart","input":{"port":8080}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + call.CallID + `","content":"Listening."}]}`,
	}
	second := stream(history...)
	if second.session() != first.session() {
		t.Error("the tool round is in another session")
	}
	broken := w.answer
	w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(rw, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\n")
		return true
	}
	cut := stream(userSays("And then?"))
	w.answer = broken
	if s := w.session(cut.session()); s.Exchanges[0].Status != store.Truncated {
		t.Errorf("a stream without its end is %s", s.Exchanges[0].Status)
	}
}
