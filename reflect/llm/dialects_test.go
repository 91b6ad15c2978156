package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// spoken is one answer of a server in some dialect.
type spoken struct {
	kind string // its content type
	text string
}

const sse = "text/event-stream"

// asked asks a server that refuses as many forms, and returns the requests.
func asked(t *testing.T, e Endpoint, refuse int, s spoken) (Answer, []*http.Request, []map[string]any, error) {
	t.Helper()
	var reqs []*http.Request
	var bodies []map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body map[string]any
		if json.Unmarshal(raw, &body) != nil || err != nil {
			t.Errorf("body %s: %v", raw, err)
		}
		if bytes.Contains(raw, []byte(`"store":true`)) {
			t.Error("the question is kept")
		}
		reqs, bodies = append(reqs, r), append(bodies, body)
		if len(reqs) <= refuse {
			http.Error(w, `{"type":"error","error":{"type":"invalid_request_error"}}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", s.kind)
		_, _ = io.WriteString(w, s.text)
	}))
	defer srv.Close()
	e.Base = srv.URL + "/v1"
	a, err := New(Config{}).Ask(t.Context(), e, question)
	return a, reqs, bodies, err
}

func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "event: x\ndata: %s\n\n", d)
	}
	return b.String()
}

func TestEveryDialectAnswersInEveryForm(t *testing.T) {
	key := Endpoint{Dialect: Messages, Model: "m", Header: "X-Api-Key", Value: "sk-1"}
	for _, c := range []struct {
		name   string
		e      Endpoint
		refuse int
		s      spoken
		want   Answer
		path   string
		field  string // of the body, in the form that is asked for last
	}{
		{"messages by tool, streamed", key, 0, spoken{sse, events(
			`{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}}`,
			`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"items\""}}`,
			`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":":[]}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`)},
			Answer{Text: `{"items":[]}`, Input: 7, Output: 9, Form: ByTool}, "/v1/messages", "tool_choice"},
		{"messages by words, streamed and cut", key, 1, spoken{sse, events(
			`{"type":"content_block_delta","delta":{"type":"text_delta","text":"[]"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`)},
			Answer{Text: "[]", Output: 2, Form: ByWords, Cut: true}, "/v1/messages", "max_tokens"},
		{"messages whole", key, 0, spoken{"application/json",
			`{"type":"message","content":[{"type":"text","text":"Here:"},{"type":"tool_use","input":{"items":[]}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}`},
			Answer{Text: `{"items":[]}`, Input: 1, Output: 2, Form: ByTool}, "/v1/messages", "tools"},
		{"responses by schema, streamed", Endpoint{Dialect: Responses}, 0, spoken{sse, events(
			`{"type":"response.created","response":{"status":"in_progress"}}`,
			`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`,
			`{"type":"response.output_text.delta","delta":"[]"}`,
			`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":5,"output_tokens":6}}}`)},
			Answer{Text: "[]", Input: 5, Output: 6, Form: BySchema}, "/v1/responses", "text"},
		{"responses by tool, streamed", Endpoint{Dialect: Responses}, 2, spoken{sse, events(
			`{"type":"response.function_call_arguments.delta","delta":"{}"}`,
			`{"type":"response.completed","response":{"status":"completed"}}`)},
			Answer{Text: "{}", Form: ByTool}, "/v1/responses", "tool_choice"},
		{"responses whole and cut", Endpoint{Dialect: Responses}, 1, spoken{"application/json",
			`{"status":"incomplete","output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"[]"}]}],"usage":{"input_tokens":1,"output_tokens":2}}`},
			Answer{Text: "[]", Input: 1, Output: 2, Form: ByObject, Cut: true}, "/v1/responses", "text"},
		{"chat by tool, streamed", Endpoint{}, 2, spoken{sse, events(
			`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"n","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`)},
			Answer{Text: "{}", Form: ByTool}, "/v1/chat/completions", "tool_choice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, reqs, bodies, err := asked(t, c.e, c.refuse, c.s)
			if diff := cmp.Diff(c.want, a, cmpopts.IgnoreUnexported(Answer{}), cmpopts.IgnoreFields(Answer{}, "Header")); err != nil || diff != "" {
				t.Fatalf("%v %s", err, diff)
			}
			last := len(reqs) - 1
			if last != c.refuse || reqs[last].URL.Path != c.path || bodies[last][c.field] == nil || bodies[last]["stream"] != true {
				t.Errorf("request %d to %s: %v", last, reqs[last].URL.Path, bodies[last])
			}
			if c.e.Value != "" && (reqs[last].Header.Get("X-Api-Key") != c.e.Value || reqs[last].Header.Get("Anthropic-Version") == "" || reqs[last].Header.Get("Authorization") != "") {
				t.Errorf("headers %v", reqs[last].Header)
			}
		})
	}
}

func TestHalfAnAnswerIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		d Dialect
		s spoken
	}{
		"messages cut off": {Messages, spoken{sse, events(`{"type":"content_block_delta","delta":{"text":"[]"}}`)}},
		"messages fault":   {Messages, spoken{sse, events(`{"type":"content_block_delta","delta":{"text":"[]"}}`, `{"type":"error","error":{"type":"overloaded_error"}}`)}},
		"responses cut":    {Responses, spoken{sse, events(`{"type":"response.output_text.delta","delta":"[]"}`)}},
		"responses failed": {Responses, spoken{sse, events(`{"type":"response.output_text.delta","delta":"[]"}`, `{"type":"response.failed","response":{"status":"failed"}}`)}},
		"chat fault":       {Chat, spoken{sse, events(`{"choices":[{"delta":{"content":"[]"}}]}`, `{"error":"oops"}`)}},
	} {
		if a, _, _, err := asked(t, Endpoint{Dialect: c.d}, 0, c.s); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if _, err := New(Config{}).Ask(t.Context(), Endpoint{Base: "http://127.0.0.1:9", Dialect: "telegraph"}, question); err == nil {
		t.Error("a dialect that nobody speaks was spoken")
	}
}
