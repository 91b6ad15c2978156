package fakellm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func do(s *Server, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

// post sends a body and reads the answer into a generic value.
func post(t *testing.T, s *Server, path, body string) map[string]any {
	t.Helper()
	w := do(s, http.MethodPost, path, body)
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return object(t, w.Body.Bytes())
}

func object(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// dig follows member names and indexes.
func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

const (
	ordered = `Do it. [[think I should call it.]] [[tool a {"x":1}]] [[tool b {}]] [[then]] [[tool a {"x":2}]]`
	told    = "The tool says: two"
)

// The same conversation in each format: two parallel calls, one more after
// their results, and the end.
func TestOneTableForEachFormat(t *testing.T) {
	s := New(Config{})
	words, _ := json.Marshal(ordered)

	t.Run("messages", func(t *testing.T) {
		history := []string{`{"role":"user","content":` + string(words) + `}`}
		next := func() map[string]any {
			return post(t, s, "/v1/messages", `{"model":"m","max_tokens":9,"messages":[`+strings.Join(history, ",")+`]}`)
		}
		say := func(v map[string]any, results ...string) {
			content, _ := json.Marshal(v["content"])
			history = append(history, `{"role":"assistant","content":`+string(content)+`}`)
			var parts []string
			for _, b := range v["content"].([]any) {
				if dig(b, "type") == "tool_use" {
					parts = append(parts, `{"type":"tool_result","tool_use_id":"`+dig(b, "id").(string)+`","content":"`+results[len(parts)]+`"}`)
				}
			}
			history = append(history, `{"role":"user","content":[`+strings.Join(parts, ",")+`]}`)
		}
		first := next()
		if dig(first, "content", 0, "thinking") != "I should call it." || dig(first, "content", 2, "name") != "b" || first["stop_reason"] != "tool_use" {
			t.Errorf("%v", first)
		}
		say(first, "one", "one")
		second := next()
		if dig(second, "content", 1, "input", "x") != 2.0 {
			t.Errorf("%v", second)
		}
		say(second, "two <system-reminder>\\nnot a word\\n</system-reminder>")
		if end := next(); dig(end, "content", 1, "text") != told || end["stop_reason"] != "end_turn" {
			t.Errorf("%v", end)
		}
	})

	t.Run("responses", func(t *testing.T) {
		first := post(t, s, "/v1/responses", `{"model":"m","instructions":"Help.","input":`+string(words)+`}`)
		if dig(first, "output", 0, "summary", 0, "text") != "I should call it." || dig(first, "output", 2, "name") != "b" {
			t.Errorf("%v", first)
		}
		result := func(v map[string]any, i int, text string) string {
			return `{"type":"function_call_output","call_id":"` + dig(v, "output", i, "call_id").(string) + `","output":"` + text + `"}`
		}
		second := post(t, s, "/v1/responses", `{"model":"m","previous_response_id":"`+first["id"].(string)+`","input":[`+result(first, 1, "one")+`,`+result(first, 2, "one")+`]}`)
		if dig(second, "output", 1, "arguments") != `{"x":2}` {
			t.Errorf("%v", second)
		}
		end := post(t, s, "/v1/responses", `{"model":"m","previous_response_id":"`+second["id"].(string)+`","input":[`+result(second, 1, "two")+`]}`)
		if dig(end, "output", 1, "content", 0, "text") != told {
			t.Errorf("%v", end)
		}
		if got := object(t, do(s, http.MethodGet, "/v1/responses/"+end["id"].(string), "").Body.Bytes()); !cmp.Equal(got, end) {
			t.Error(cmp.Diff(end, got))
		}
	})

	t.Run("chat", func(t *testing.T) {
		body := func(more string) string {
			return `{"model":"m","messages":[{"role":"user","content":` + string(words) + `}` + more + `]}`
		}
		first := post(t, s, "/v1/chat/completions", body(""))
		if dig(first, "choices", 0, "message", "tool_calls", 1, "function", "name") != "b" || dig(first, "choices", 0, "message", "reasoning_content") != "I should call it." {
			t.Errorf("%v", first)
		}
		message, _ := json.Marshal(dig(first, "choices", 0, "message"))
		second := post(t, s, "/v1/chat/completions", body(`,`+string(message)+`,{"role":"tool","content":"one"},{"role":"tool","content":"one"}`))
		if dig(second, "choices", 0, "message", "tool_calls", 0, "function", "arguments") != `{"x":2}` {
			t.Errorf("%v", second)
		}
	})
}

// sse is the events' data of a stream, which must all parse.
func sse(t *testing.T, s *Server, path, body string) []map[string]any {
	t.Helper()
	w := do(s, http.MethodPost, path, body)
	var out []map[string]any
	for l := range bytes.Lines(w.Body.Bytes()) {
		if data, ok := bytes.CutPrefix(l, []byte("data: ")); ok {
			out = append(out, object(t, data))
		}
	}
	return out
}

// A stream says what the plain answer says, and each event is where an SDK
// wants it.
func TestStreamsOfEachFormat(t *testing.T) {
	words, _ := json.Marshal("My badge is B4411. [[think Easy.]]")
	types := func(events []map[string]any) []string {
		var out []string
		for _, e := range events {
			if n := len(out); n == 0 || out[n-1] != e["type"] { // repeated deltas count once
				out = append(out, e["type"].(string))
			}
		}
		return out
	}
	s := New(Config{})
	got := sse(t, s, "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":`+string(words)+`}]}`)
	want := []string{
		"message_start", "ping", "content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}
	if d := cmp.Diff(want, types(got)); d != "" {
		t.Error(d)
	}
	text := ""
	for _, e := range got {
		if piece, ok := dig(e, "delta", "text").(string); ok {
			text += piece
		}
	}
	if text != "All right, noted: My badge is B4411." {
		t.Error(text)
	}

	got = sse(t, s, "/v1/responses", `{"model":"m","stream":true,"include":["reasoning.encrypted_content"],"input":`+string(words)+`}`)
	want = []string{
		"response.created", "response.in_progress", "response.output_item.added", "response.reasoning_summary_part.added",
		"response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "response.reasoning_summary_part.done",
		"response.output_item.done", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
	}
	if d := cmp.Diff(want, types(got)); d != "" {
		t.Error(d)
	}
	for i, e := range got {
		if e["sequence_number"] != float64(i) {
			t.Errorf("event %d has number %v", i, e["sequence_number"])
		}
	}
	done := got[len(got)-1]
	if dig(done, "response", "output", 1, "content", 0, "text") != text || dig(done, "response", "output", 0, "encrypted_content") != seal("Easy.") {
		t.Errorf("%v", done)
	}
}

// What a provider refuses is refused in the format's own shape.
func TestRefusals(t *testing.T) {
	s := New(Config{})
	use := `{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"a","input":{}}]},`
	result := `{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}`
	text := `{"type":"text","text":"note","cache_control":{"type":"ephemeral"}}`
	messages := func(list string) string { return `{"model":"m","max_tokens":9,"messages":[` + list + `]}` }
	for name, tc := range map[string]struct {
		path, body, want string
		status           int
	}{
		"no max_tokens":      {"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens", 400},
		"empty text":         {"/v1/messages", messages(`{"role":"user","content":[{"type":"text","text":""}]}`), "non-empty", 400},
		"text before result": {"/v1/messages", messages(use + `{"role":"user","content":[` + text + `,` + result + `]}`), "tool_use_id", 400},
		"text after result":  {"/v1/messages", messages(use + `{"role":"user","content":[` + result + `,` + text + `]}`), "", 200},
		"result missing":     {"/v1/messages", messages(use + `{"role":"user","content":"go on"}`), "toolu_1", 400},
		"system between":     {"/v1/messages", messages(use + `{"role":"system","content":"s"},{"role":"user","content":[` + result + `]}`), "", 200},
		"a fifth marker":     {"/v1/messages", messages(`{"role":"user","content":[` + strings.Repeat(text+",", 4) + text + `]}`), "found 5", 400},
		"four markers":       {"/v1/messages", messages(`{"role":"user","content":[` + strings.Repeat(text+",", 3) + text + `]}`), "", 200},
		"changed thought": {"/v1/messages", messages(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"changed","signature":"` +
			seal("thought") + `"}]},{"role":"user","content":"y"}`), "signature", 400},
		"counted":           {"/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "input_tokens", 200},
		"unknown response":  {"/v1/responses", `{"model":"m","previous_response_id":"resp_x","input":"x"}`, "previous_response_not_found", 400},
		"output alone":      {"/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}`, "no tool call found", 400},
		"changed reasoning": {"/v1/responses", `{"model":"m","input":[{"type":"reasoning","summary":[],"encrypted_content":"x"}]}`, "invalid_encrypted_content", 400},
		"no input":          {"/v1/responses", `{"model":"m"}`, "input", 400},
		"unknown item":      {"/v1/responses", `{"model":"m","input":[{"type":"item_reference","id":"msg_x"}]}`, "item_not_found", 400},
	} {
		w := do(s, http.MethodPost, tc.path, tc.body)
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		shape := `"type":"error"`
		if tc.status == 400 && strings.HasSuffix(tc.path, "/messages") != strings.Contains(w.Body.String(), shape) {
			t.Errorf("%s: another API's shape: %s", name, w.Body)
		}
	}
}

// A response that isn't to be stored can't be come back to; one that was can be
// deleted, and its items can be referred to.
func TestKeptResponses(t *testing.T) {
	s := New(Config{})
	v := post(t, s, "/v1/responses", `{"model":"m","store":false,"input":"My name is Ann."}`)
	if w := do(s, http.MethodGet, "/v1/responses/"+v["id"].(string), ""); w.Code != http.StatusNotFound {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	v = post(t, s, "/v1/responses", `{"model":"m","input":"My name is Ann."}`)
	path := "/v1/responses/" + v["id"].(string)
	again := post(t, s, "/v1/responses", `{"model":"m","input":[{"role":"user","content":"My name is Ann."},{"type":"item_reference","id":"`+
		dig(v, "output", 0, "id").(string)+`"},{"role":"user","content":[{"type":"input_text","text":"I like tea."}]}]}`)
	if dig(again, "output", 0, "content", 0, "text") != "All right, noted: I like tea." {
		t.Errorf("%v", again)
	}
	if w := do(s, http.MethodDelete, path, ""); w.Code != http.StatusOK {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if w := do(s, http.MethodGet, path, ""); w.Code != http.StatusNotFound {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// The delay holds up whole answers in every format too.
func TestDelayOfWholeAnswers(t *testing.T) {
	const delay = 20 * time.Millisecond
	s := New(Config{Delay: delay})
	for path, body := range map[string]string{
		"/v1/chat/completions": chat(user("x")),
		"/v1/messages":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
		"/v1/responses":        `{"model":"m","input":"x"}`,
	} {
		w := httptest.NewRecorder()
		began := time.Now()
		s.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
		if took := time.Since(began); w.Code != 200 || took < delay {
			t.Errorf("%s: status %d after %s", path, w.Code, took)
		}
	}
}
