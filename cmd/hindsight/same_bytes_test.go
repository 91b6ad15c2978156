package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answers of the upstream, by the header Answer of the request.
func writeAnswer(w http.ResponseWriter, r *http.Request, _ []byte) bool {
	h := w.Header()
	h["Date"] = []string{"Sun, 29 Nov 2026 10:00:00 GMT"}
	h.Set("X-Request-Id", "req_1")
	h["x-lower-Case"] = []string{"kept"}
	h.Add("Set-Cookie", "a=1")
	h.Add("Set-Cookie", "b=2")
	switch r.Header.Get("Answer") {
	case "plain":
		h.Set("Content-Type", "application/json")
		fmt.Fprint(w, `{ "id":"chatcmpl-1", "choices":[{"index":0,"message":{"role":"assistant","content":"caf\u00e9 \ud83d\ude00 \/","n":1e400}}],"usage":null }`+"\n")
	case "stream":
		h.Set("Content-Type", "text/event-stream")
		for _, piece := range []string{": PROCESSING\n\n", ": PROCESSING\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\xe4", "\xbd\xa0\"}}]}\r\n\r\n", "event: x\ndata:1\n\n\n", "data: {\"choices\":[],\"usage\":{}}\n\n", "data: [DONE]\n\n"} {
			fmt.Fprint(w, piece)
			w.(http.Flusher).Flush()
		}
	case "gzip":
		h.Set("Content-Type", "application/json")
		h.Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, `{"choices":[{"message":{"role":"assistant","content":"packed"}}]}`)
		z.Close()
	case "broken":
		h.Set("Content-Type", "application/json")
		fmt.Fprint(w, "{\"choices\":[{\xff")
	case "empty":
		w.WriteHeader(http.StatusNoContent)
	case "refusal":
		h.Set("Content-Type", "application/problem+json")
		h.Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error": {"message":"slow  down"} }`)
	default:
		return false
	}
	return true
}

// post sends a request as it is and reads the answer as it comes.
func post(t testing.TB, url, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-test")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Encoding", "gzip, zstd") // so that net/http leaves the answer alone
	req.Header.Set("User-Agent", "OpenAI/Python 2.9.0")
	req.Header.Set("X-Stainless-Lang", "python")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, raw}
}

// With nothing to inject the proxy can't be told from the upstream by a byte,
// on either side.
func TestNothingToInjectChangesNoByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=local")
	w.answer = writeAnswer
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	w.remember("local", `"text":"The staging database listens on port 5433.","type":"solution"`)
	tools := `[{"role":"user","content":"Restart it."},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"restart","arguments":"{\"n\": 1.0}"}}]},{"role":"tool","tool_call_id":"call_1","content":"done"}]`
	bodies := map[string]struct{ body, status string }{
		"a question": {`{"model":"m","messages":[{"role":"user","content":"How deep is the Mariana Trench?"}]}`, "none"},
		"odd JSON": {"\n{ \"messages\" : [ {\"content\":\"\\u00fcber \\/ \\ud83d\\ude00 \u2028 How high is Everest?\",\"role\":\"user\",\"x\":null} ],\t\"seed\":9007199254740993," +
			`"temperature":1.0,"top_p":1e-400,"big":1e400,"logit_bias":{},"enable_thinking":false,"vllm_xargs":{"a":1},"stream_options":{"include_usage":false},"model":"m"} ` + "\r\n", "none"},
		"a tool history":     {`{"model":"m","seed":1.0,"messages":` + tools + `}`, "skipped;reason=tool_turn"},
		"parts":              {`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Who painted this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`, "none"},
		"a prefill":          {`{"model":"m","messages":[{"role":"user","content":"Count to three."},{"role":"assistant","content":"One,","prefix":true}]}`, "none"},
		"no JSON":            {"model=m&prompt=hello\x00\xff", "skipped;reason=parse"},
		"cut JSON":           {`{"model":"m","messages":[{"role":"user","content":"hi`, "skipped;reason=parse"},
		"no messages":        {`{"model":"m","prompt":"hi"}`, "skipped;reason=parse"},
		"an unknown shape":   {`{"model":"m","messages":{"role":"user","content":"hi"}}`, "skipped;reason=parse"},
		"another root":       {`[{"role":"user","content":"hi"}]`, "skipped;reason=parse"},
		"two keys of a kind": {`{"model":"m","messages":[],"messages":[{"role":"user","content":"hi"}]}`, "skipped;reason=parse"},
		"nothing at all":     {"", "skipped;reason=parse"},
	}
	parse := 0
	for name, c := range bodies {
		for _, answer := range []string{"plain", "stream", "gzip", "broken", "empty", "refusal"} {
			direct := post(t, w.env["LLM_API_BASE"]+"/chat/completions", c.body, "Answer: "+answer)
			wanted := w.last()
			got := post(t, w.st.proxyURL()+"/v1/chat/completions", c.body, "Answer: "+answer)
			arrived := w.last()
			if n := len(w.seen()); n%2 != 0 {
				t.Fatalf("%s, %s: %d requests", name, answer, n)
			}
			if !bytes.Equal(arrived.body, wanted.body) || string(wanted.body) != c.body || arrived.path != wanted.path {
				t.Errorf("%s, %s: the upstream got %s %q", name, answer, arrived.path, arrived.body)
			}
			if d := cmp.Diff(wanted.header, arrived.header); d != "" {
				t.Errorf("%s, %s: the upstream got other headers: %s", name, answer, d)
			}
			if got.status != direct.status || !bytes.Equal(got.body, direct.body) {
				t.Errorf("%s, %s: the client got %d %q", name, answer, got.status, got.body)
			}
			if got.memory() != c.status {
				t.Errorf("%s, %s: status %q, want %q", name, answer, got.memory(), c.status)
			}
			for h := range got.header {
				if strings.HasPrefix(h, "Hindsight-") {
					got.header.Del(h)
				}
			}
			if d := cmp.Diff(direct.header, got.header); d != "" {
				t.Errorf("%s, %s: the client got other headers: %s", name, answer, d)
			}
			if strings.HasSuffix(c.status, "parse") {
				parse++
			}
		}
	}
	if want := fmt.Sprintf("hindsight_fail_open_total{reason=\"parse\"} %d\n", parse); !bytes.Contains(w.admin(http.MethodGet, "/metrics", ""), []byte(want)) {
		t.Errorf("not counted: %s", want)
	}
}

// What isn't a memory route passes as it is, without a header of ours.
func TestOtherRoutesPassUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answer = writeAnswer
	for _, path := range []string{"/embeddings", "/audio/transcriptions?x=%2F&y", "/files"} {
		body := "--b\r\n\x00\xff\xfe" + path
		direct := post(t, w.env["LLM_API_BASE"]+path, body, "Answer: stream", "Content-Type: multipart/form-data; boundary=b")
		got := post(t, w.st.proxyURL()+"/v1"+path, body, "Answer: stream", "Content-Type: multipart/form-data; boundary=b")
		all := w.seen()
		a, b := all[len(all)-2], all[len(all)-1]
		if a.path != b.path || !bytes.Equal(a.body, b.body) || cmp.Diff(a.header, b.header) != "" {
			t.Errorf("%s: the upstream got %s %q %s", path, b.path, b.body, cmp.Diff(a.header, b.header))
		}
		if !bytes.Equal(direct.body, got.body) || cmp.Diff(direct.header, got.header) != "" {
			t.Errorf("%s: the client got %q %s", path, got.body, cmp.Diff(direct.header, got.header))
		}
	}
}
