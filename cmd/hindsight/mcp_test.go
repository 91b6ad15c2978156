package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What an agent writes over MCP the proxy tells the next conversation, and what
// a conversation taught the agent finds.
func TestMCPAndProxyShareOneMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(worldToken)
	a.write("My staging server is called heron.")
	w.conversation().say("What is my staging server called?")
	if body := string(w.last().body); !strings.Contains(body, "heron") {
		t.Errorf("the proxy tells nothing of it: %s", body)
	}
	c := w.conversation()
	r := c.say("My name is Ann and my badge is B4411.")
	c.say("I prefer tabs over spaces.")
	var closed struct {
		State    string
		Memories []struct{ Text string }
	}
	a.call("session_close", map[string]any{"session": r.session()}, &closed)
	if closed.State != "done" || len(closed.Memories) == 0 {
		t.Errorf("closed: %+v", closed)
	}
	if got := a.finds("Which badge do I have?"); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "B4411") }) {
		t.Errorf("what the session taught isn't found: %v", got)
	}
}

// keyOf is an entry of auth.keys.
func keyOf(token, fields string) string {
	sum := sha256.Sum256([]byte(token))
	return fmt.Sprintf(`{"name":"%s","sha256":"%s",%s}`, strings.ToLower(token), hex.EncodeToString(sum[:]), fields)
}

// keyed is a world with callers of several kinds.
func keyed(t *testing.T) *world {
	return newWorld(t, "HINDSIGHT_AUTH_MODE=keys", "HINDSIGHT_AUTH_KEYS=["+strings.Join([]string{
		keyOf("ANN", `"tenant":"acme","user":"ann","role":"mcp"`),
		keyOf("BOB", `"tenant":"acme","user":"bob","role":"mcp"`),
		keyOf("EVE", `"tenant":"other","user":"ann","role":"mcp"`),
		keyOf("READER", `"tenant":"acme","user":"ann","read":["user:ann"],"write":["agent:nobody"],"role":"mcp"`),
		keyOf("TEAM", `"tenant":"acme","read":["shared"],"write":["shared"],"role":"admin"`),
		keyOf("NOBODY", `"tenant":"acme","role":"mcp"`),
		keyOf("PROXY", `"tenant":"acme","user":"ann","role":"proxy"`),
	}, ",")+"]")
}

func TestMCPTokens(t *testing.T) {
	t.Parallel()
	w := keyed(t)
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, path := range []string{"/mcp", "/mcp/sse", "/mcp/ws"} {
		for _, c := range []struct {
			name, token string
			header      string
			want        int
		}{
			{"no token", "", "", http.StatusUnauthorized},
			{"a wrong token", "Bearer nonsense", "", http.StatusUnauthorized},
			{"another scheme", "Basic QU5OOg==", "", http.StatusUnauthorized},
			{"a key of the proxy", "Bearer PROXY", "", http.StatusForbidden},
			{"a key for nobody", "Bearer NOBODY", "", http.StatusForbidden},
			{"a page of elsewhere", "Bearer ANN", "Origin: https://evil.example", http.StatusForbidden},
			{"another name of this machine", "Bearer ANN", "Host: evil.example", http.StatusForbidden},
			// Key mode implies no user.
			{"the admin token without a tenant and a user", "Bearer " + worldToken, "", http.StatusForbidden},
		} {
			if path != "/mcp" && c.name == "the admin token without a tenant and a user" {
				continue
			}
			method, body := http.MethodGet, ""
			if path == "/mcp" {
				method, body = http.MethodPost, hello
			}
			req, err := http.NewRequest(method, w.st.adminURL()+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if c.token != "" {
				req.Header.Set("Authorization", c.token)
			}
			if name, value, ok := strings.Cut(c.header, ": "); ok && name == "Host" {
				req.Host = value
			} else if ok {
				req.Header.Set(name, value)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != c.want {
				t.Errorf("%s, %s: status %d, want %d", path, c.name, resp.StatusCode, c.want)
			}
		}
	}
	// An MCP key opens nothing else.
	req, _ := http.NewRequest(http.MethodGet, w.st.adminURL()+"/api/v1/memories", nil)
	req.Header.Set("Authorization", "Bearer ANN")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the management API answered a key of MCP with %d", resp.StatusCode)
	}
}

// TestMCPStaysInsideItsGrant has other callers try everything with the id of one
// of ann's memories, and with her session.
func TestMCPStaysInsideItsGrant(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := keyed(t)
	ann := w.agent("ANN")
	id := ann.write("My locker code word is heron.")
	for _, token := range []string{"BOB", "EVE", "TEAM"} {
		a := w.agent(token)
		for tool, args := range map[string]map[string]any{
			"memory_update":  {"id": id, "content": "My locker code word is magpie."},
			"memory_forget":  {"id": id},
			"memory_verify":  {"id": id, "confirmed": false},
			"session_close":  {"session": "nobody-knows"},
			"memory_search":  {"query": "locker", "scope": "user:ann/agent:x"},
			"memory_list":    {"scope": "user:zoe"},
			"memory_write":   {"content": "I was here.", "scope": "user:zoe"},
			"memory_unknown": {},
		} {
			if text, wrong := a.try(tool, args); !wrong {
				t.Errorf("%s: %s %v answered %s", token, tool, args, text)
			}
		}
		if got := a.finds("locker code word heron"); len(got) > 0 {
			t.Errorf("%s finds %v", token, got)
		}
		if got := a.ask("resources/read", map[string]any{"uri": "memory://" + id}); got.Error == nil {
			t.Errorf("%s reads %s", token, got.Result)
		}
		if got := a.ask("resources/subscribe", map[string]any{"uri": "memory://" + id}); got.Error == nil {
			t.Errorf("%s follows ann's memory", token)
		}
		if got := a.ask("resources/list", map[string]any{}); strings.Contains(string(got.Result), id) {
			t.Errorf("%s lists %s", token, got.Result)
		}
		stolen := &agent{t: t, url: ann.url, token: token, session: ann.session}
		if status, body := stolen.post(map[string]any{"jsonrpc": "2.0", "id": 9, "method": "tools/list"}); status != http.StatusNotFound {
			t.Errorf("%s uses ann's session: %d %s", token, status, body)
		}
	}
	reader := w.agent("READER")
	if got := reader.finds("locker code word"); len(got) != 1 {
		t.Errorf("the reader finds %v", got)
	}
	if text, wrong := reader.try("memory_forget", map[string]any{"id": id}); !wrong {
		t.Errorf("the reader forgot it: %s", text)
	}
	if got := ann.finds("locker code word"); len(got) != 1 || !strings.Contains(got[0], "heron") {
		t.Errorf("ann has %v", got)
	}
	w.agent("TEAM").write("The team meets at noon.")
	if got := w.agent("BOB").finds("When does the team meet?"); len(got) > 0 {
		t.Errorf("without a grant bob reads the shared scope: %v", got)
	}
}
