package clients

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	dialectmessages "hindsight/proxy/dialect/messages"
)

// The upstream of a replay says what the client's history says that it said,
// streamed or not.
func TestMessagesAnswer(t *testing.T) {
	conv := Conversation{Requests: []Request{
		{Method: "POST", Path: "/v1/messages", Kind: "main", Body: json.RawMessage(`{"messages":[{"role":"user","content":"hi"}]}`)},
		{Method: "POST", Path: "/v1/messages", Kind: "subagent", Body: json.RawMessage(`{"messages":[{"role":"user","content":"other"},{"role":"assistant","content":"no"}]}`)},
		{Method: "POST", Path: "/v1/messages", Kind: "main", Body: json.RawMessage(`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[
			{"type":"thinking","thinking":"Hm.","signature":"S"},{"type":"text","text":"Let's {{filler:3}} see."},{"type":"tool_use","id":"toolu_1","name":"f","input":{"city":"Zürich"}}]}]}`)},
	}}
	want := dialect.Answer{
		ID: "msg_replay_7", Model: "replay", Text: "Let's fil see.", Reasoning: "Hm.", Finish: "tool_use", Choices: 1, Whole: true,
		Calls: []dialect.Call{{ID: "toolu_1", Name: "f", Arguments: `{"city":"Zürich"}`}},
	}
	own := dialect.Answer{ID: "msg_replay_7", Model: "replay", Text: "Own words.", Finish: "end_turn", Choices: 1, Whole: true}
	for i, want := range map[int]dialect.Answer{0: want, 2: own} {
		for _, stream := range []bool{false, true} {
			rec := httptest.NewRecorder()
			messages{}.write(rec, messages{}.answer(conv, i, "Own words."), 7, stream)
			got := dialectmessages.Dialect{}.ReadAnswer(rec.Body.Bytes(), stream)
			got.Usage = dialect.Usage{}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("request %d, stream %v (-want +got):\n%s\n%s", i, stream, d, rec.Body)
			}
		}
	}
}

func TestMessagesPerson(t *testing.T) {
	for id, want := range map[string]string{
		`"hash-ann"`: "hash-ann",
		`"{\"device_id\":\"d\",\"account_uuid\":\"a\",\"session_id\":\"s\"}"`: "a",
		`"{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"s\"}"`:  "d",
		`null`: "",
	} {
		if got := (messages{}).person([]byte(`{"metadata":{"user_id":` + id + `}}`)); got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// A request that nothing ties to the ones before it is another conversation.
func TestStartsAnew(t *testing.T) {
	first := Request{Method: "POST", Path: "/v1/messages?beta=true", Headers: [][2]string{{"X-Claude-Code-Session-Id", "one"}}, Body: json.RawMessage(`{"messages":[{"role":"user","content":"hi"}]}`)}
	for name, c := range map[string]struct {
		header, body string
		want         bool
	}{
		"nothing":           {"", `{"messages":[{"role":"user","content":"hi"}]}`, true},
		"the same session":  {"one", `{"messages":[{"role":"user","content":"hi"}]}`, false},
		"another session":   {"two", `{"messages":[{"role":"user","content":"hi"}]}`, true},
		"an answer's there": {"", `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x"}]}`, false},
	} {
		r := Request{Method: "POST", Path: "/v1/messages", Headers: [][2]string{{"x-claude-code-session-id", c.header}}, Body: json.RawMessage(c.body)}
		if got := r.startsAnew([]Request{first}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
