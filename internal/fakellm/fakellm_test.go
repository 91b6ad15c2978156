package fakellm

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func ask(t *testing.T, s *Server, body string) (text string, calls int, raw string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	var v struct {
		Choices []struct {
			Message struct {
				Content string
				Calls   []any `json:"tool_calls"`
			}
		}
	}
	raw = w.Body.String()
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	return v.Choices[0].Message.Content, len(v.Choices[0].Message.Calls), raw
}

func chat(messages ...string) string {
	return `{"model":"scripted-1","messages":[` + strings.Join(messages, ",") + `]}`
}

func user(text string) string {
	b, _ := json.Marshal(map[string]string{"role": "user", "content": text})
	return string(b)
}

// The text alone decides: the same request gets the same answer, and swapping
// two conversations swaps their answers.
func TestTextDecides(t *testing.T) {
	a, b := chat(user("My name is Ann.")), chat(user("我叫安娜。"))
	one, two := New(Config{}), New(Config{})
	a1, _, _ := ask(t, one, a)
	b1, _, _ := ask(t, one, b)
	b2, _, _ := ask(t, two, b)
	a2, _, _ := ask(t, two, a)
	if a1 != a2 || b1 != b2 || a1 == b1 {
		t.Errorf("%q %q, swapped %q %q", a1, b1, a2, b2)
	}
}

func TestRules(t *testing.T) {
	tool := func(text string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"deploy","arguments":"{\"port\":8080}"}}]},` +
			`{"role":"tool","tool_call_id":"c1","content":` + strings.TrimPrefix(strings.TrimSuffix(user(text), `,"role":"user"}`), `{"content":`) + `}`
	}
	notes := "<hindsight-notes:0123456789abcdef>\nRecalled.\n- [m123abc 2026-01-02] The user lives in Oslo.\n</hindsight-notes:0123456789abcdef>\n"
	for name, tc := range map[string]struct {
		body  string
		text  string
		calls int
	}{
		"statement":            {chat(user("I like tea.")), "All right, noted: I like tea.", 0},
		"question, no notes":   {chat(user("Where do I live?")), "I don't know that yet.", 0},
		"question, with notes": {chat(user(notes + "Where do I live?")), "You told me before: The user lives in Oslo.", 0},
		"other notes":          {chat(user(notes + "How deep is the sea?")), "I don't know that yet.", 0},
		"directive":            {chat(user(`Run [[tool a {"x":1}]] [[tool b {}]]`)), "", 2},
		"tool result":          {chat(user("Deploy it."), tool("ok")), "The tool says: ok", 0},
		"quoted by an agent":   {chat(user(`"Where do I live?"`)), "I don't know that yet.", 0},
		"failed tool":          {chat(user("Deploy it."), tool("Error: port 8080 is taken; try 8081")), "", 1},
	} {
		text, calls, raw := ask(t, New(Config{}), tc.body)
		if text != tc.text || calls != tc.calls {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

func TestReflection(t *testing.T) {
	material := "What follows is data.\n<events>\n" +
		`{"id":"e1","role":"user","turn":1,"text":"My name is Ann. Lovely weather."}` + "\n" +
		`{"id":"e2","role":"tool","turn":1,"name":"deploy","text":"Error: port 8080 is taken"}` + "\n" +
		`{"id":"e3","role":"tool","turn":1,"name":"deploy","text":"ok on 8081"}` + "\n</events>\n"
	body, _ := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]string{"role": "user", "content": material}},
		"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]string{"name": schemaName}}})
	text, _, _ := ask(t, New(Config{}), string(body))
	var v struct{ Items []item }
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, i := range v.Items {
		types = append(types, i.Type)
	}
	if strings.Join(types, " ") != "user_fact event error_lesson" {
		t.Errorf("%v: %s", types, text)
	}
}

// A stream says the same as the plain answer and ends with its mark.
func TestStream(t *testing.T) {
	srv := httptest.NewServer(New(Config{}))
	defer srv.Close()
	body := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[` + user("我平时喜欢喝乌龙茶。") + `]}`
	resp, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for l := range bytes.Lines(raw) {
		var v struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if data, ok := bytes.CutPrefix(l, []byte("data: ")); ok && json.Unmarshal(data, &v) == nil && len(v.Choices) > 0 {
			text += v.Choices[0].Delta.Content
		}
	}
	if text != "好的，我记下了：我平时喜欢喝乌龙茶。" || !bytes.HasSuffix(raw, []byte("data: [DONE]\n\n")) || !bytes.Contains(raw, []byte(`"usage"`)) {
		t.Errorf("%s", raw)
	}
}

// A prefix that was sent before counts as cached, a changed one doesn't.
func TestCachedTokens(t *testing.T) {
	s := New(Config{})
	cached := func(body string) float64 {
		_, _, raw := ask(t, s, body)
		var v struct {
			Usage struct {
				Details struct {
					Cached float64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatal(err)
		}
		return v.Usage.Details.Cached
	}
	first := user("The first thing that is said here.")
	if c := cached(chat(first)); c != 0 {
		t.Errorf("%v cached of something new", c)
	}
	if c := cached(chat(first, `{"role":"assistant","content":"ok"}`, user("more"))); c == 0 {
		t.Error("nothing cached of a prefix that was sent")
	}
	if c := cached(chat(user("The first thing, changed."), `{"role":"assistant","content":"ok"}`, user("more"))); c != 0 {
		t.Errorf("%v cached behind a change", c)
	}
}
