package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hindsight/inject"
	"hindsight/store"
)

// withCat is a world in which something is known about the default user.
func withCat(t *testing.T) *world {
	t.Helper()
	w := newOpenAI(t)
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	return w
}

// A block goes to the head of the words, in the shape that they have, and
// nowhere else; the answer knows what it says.
func TestResponsesAreInjected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after string }{
		"a string":             {`"input":"`, `What is my cat called?","instructions":"Be brief."`},
		"a string item":        {`"instructions":"Be brief.","input":[{"role":"user","content":"`, `What is my cat called?"}]`},
		"parts":                {`"input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,"},`, `{"type":"input_text","text":"What is my cat called?"}]}]`},
		"behind reasoning":     {`"input":[{"role":"user","content":"Hi"},{"type":"reasoning","id":"rs_7","summary":[],"encrypted_content":"gAAA\u002b="},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]},{"role":"user","content":"`, `What is my cat called?"}],"store":false`},
		"a developer at last":  {`"input":[{"role":"user","content":"`, `What is my cat called?"},{"role":"developer","content":"Be brief."}]`},
		"streamed":             {`"stream":true,"input":"`, `What is my cat called?"`},
		"odd numbers, unknown": {`"seed":9007199254740993,"t":1.0,"x":{"a":1e400,"a":2},"input":"`, `What is my cat called?"`},
	} {
		t.Run(name, func(t *testing.T) {
			oneInThree(t)
			t.Parallel()
			w := withCat(t)
			r := w.sendResponses(c.before + c.after)
			sent := string(w.last().body)
			head, rest, ok := strings.Cut(sent, c.before)
			block, ok2 := strings.CutSuffix(rest, c.after+"}")
			if !ok || !ok2 || head != `{"model":"fake-1",` && !strings.HasPrefix(head, `{"model":`) {
				t.Fatalf("more than a block was put in: %s", sent)
			}
			if r.memory() != "injected" || !hasBlock([]byte(block)) || r.header.Get("Hindsight-Memories") == "" {
				t.Errorf("%s: %s", r.memory(), block)
			}
			if !strings.Contains(inject.Strip(r.text()), "Mitzi") {
				t.Errorf("the note was of no use: %q", r.text())
			}
			s := w.session(r.session())
			if fmt.Sprint(s.said()) != "[What is my cat called?]" && name != "behind reasoning" {
				t.Errorf("words %q", s.said())
			}
			if x := s.Exchanges; len(x) != 1 || x[0].Status != store.Complete {
				t.Errorf("exchanges %+v", x)
			}
		})
	}
}

// With nothing to inject the upstream gets the client's bytes, whatever they
// are, and the client the upstream's.
func TestResponsesPassUnchanged(t *testing.T) {
	t.Parallel()
	w := withCat(t)
	for name, body := range map[string]string{
		"nothing known":    ` { "model" : "fake-1", "input" : "How deep is the Mariana Trench? \u00e9" }` + "\n",
		"an output":        `{"model":"m","input":[{"role":"user","content":"What is my cat called?"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}]}`,
		"a custom output":  `{"model":"m","input":[{"role":"user","content":"What is my cat called? "},{"type":"custom_tool_call","call_id":"d","name":"f","input":""},{"type":"custom_tool_call_output","call_id":"d","output":"x"}]}`,
		"a yes":            `{"model":"m","previous_response_id":"resp_x","input":[{"type":"mcp_approval_response","approval_request_id":"a","approve":true}]}`,
		"references alone": `{"model":"m","input":[{"type":"item_reference","id":"msg_1"}]}`,
		"a stored prompt":  `{"model":"m","prompt":{"id":"pmpt_1","variables":{"q":"What is my cat called?"}}}`,
		"nothing new":      `{"model":"m","previous_response_id":"resp_y"}`,
		"instructions":     `{"model":"m","instructions":"What is my cat called?","input":[{"role":"developer","content":"x"}]}`,
		"two inputs":       `{"model":"m","input":"What is my cat called?","input":"x"}`,
		"not JSON":         `{"model":"m","input":"What is my cat called?"`,
		"a title":          `{"model":"m","input":"What is my cat called?","text":{"format":{"type":"json_schema","name":"t","schema":{"type":"object","properties":{"title":{"type":"string"}}}}}}`,
		"a probe":          `{"model":"m","input":"What is my cat called?","max_output_tokens":1}`,
	} {
		r, err := w.post("/v1/responses", body)
		if err != nil {
			t.Fatal(err)
		}
		if sent := w.last(); string(sent.body) != body || sent.path != "/v1/responses" {
			t.Errorf("%s: the upstream got %s", name, sent.body)
		}
		if strings.HasPrefix(r.memory(), "injected") {
			t.Errorf("%s: %s", name, r.memory())
		}
	}
}

// Other calls of the same API are none of memory's business.
func TestOtherResponsesCallsPass(t *testing.T) {
	t.Parallel()
	w := withCat(t)
	w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		fmt.Fprintf(rw, "%s %s", r.Method, r.URL.RequestURI())
		return true
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/responses/resp_1?include=x", ""}, {"GET", "/v1/responses/resp_1/input_items", ""}, {"DELETE", "/v1/responses/resp_1", ""},
		{"POST", "/v1/responses/resp_1/cancel", ""}, {"POST", "/v1/responses/compact", `{"input":"What is my cat called?"}`},
		{"POST", "/v1/responses/input_tokens", `{"input":"What is my cat called?"}`}, {"GET", "/v1/responses", ""},
	} {
		req, err := http.NewRequest(c.method, w.st.proxyURL()+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(raw) != c.method+" "+c.path || string(w.last().body) != c.body {
			t.Errorf("%s %s: got %q, %v; the upstream got %q", c.method, c.path, raw, err, w.last().body)
		}
		if h := resp.Header.Get("Hindsight-Status"); h != "" {
			t.Errorf("%s %s: %s", c.method, c.path, h)
		}
	}
}

// The client asks for a WebSocket first and falls back to POST, where memory
// works.
func TestResponsesAfterARefusedWebSocket(t *testing.T) {
	t.Parallel()
	w := withCat(t)
	req, err := http.NewRequest(http.MethodGet, w.st.proxyURL()+"/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Openai-Beta", "responses_websockets=2026-02-06")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired || len(w.seen()) != 0 {
		t.Errorf("answered %s, the upstream saw %d requests", resp.Status, len(w.seen()))
	}
	if r := w.sendResponses(`"stream":true,"input":"What is my cat called?"`); r.memory() != "injected" {
		t.Errorf("then %s", r.memory())
	}
}

// Errors of ours have OpenAI's form on this route.
func TestResponsesErrorForm(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t, "HINDSIGHT_MAX_BODY=4KiB")
	r, err := w.post("/v1/responses", `{"input":"`+strings.Repeat("x", 8<<10)+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Error struct{ Type, Code string } }
	w.decode(r.body, &v)
	if r.status != http.StatusRequestEntityTooLarge || v.Error.Type != "invalid_request_error" || v.Error.Code == "" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A refused block is taken back, but nothing that the provider keeps or runs on
// its own is asked for twice.
func TestResponsesRefusedBlock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		members string
		again   bool
	}{
		"stateless":                   {`"store":false`, true},
		"stored":                      {`"store":true`, true},
		"a chain, not stored":         {`"store":false,"previous_response_id":"resp_1"`, true},
		"a chain":                     {`"previous_response_id":"resp_1"`, false},
		"a conversation":              {`"store":true,"conversation":"conv_abcdef"`, false},
		"a conversation as an object": {`"conversation":{"id":"conv_abcdef"}`, false},
		"in the background":           {`"background":true`, false},
	} {
		t.Run(name, func(t *testing.T) {
			oneInThree(t)
			t.Parallel()
			w := withCat(t)
			speak := w.answer
			w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
				if !hasBlock(body) {
					return speak(rw, r, bytes.Replace(body, []byte(`{"id":"conv_abcdef"}`), []byte(`"conv_abcdef"`), 1))
				}
				rw.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(rw, `{"error":{"message":"odd","code":"invalid_value"}}`)
				return true
			}
			body := `{"model":"m",` + c.members + `,"input":"What is my cat called?"}`
			r, err := w.post("/v1/responses", body)
			if err != nil {
				t.Fatal(err)
			}
			all := w.seen()
			switch {
			case c.again && (r.status != http.StatusOK || len(all) != 2 || string(all[1].body) != body):
				t.Errorf("%d after %d requests", r.status, len(all))
			case !c.again && (r.status != http.StatusBadRequest || len(all) != 1):
				t.Errorf("%d after %d requests", r.status, len(all))
			}
		})
	}
}
