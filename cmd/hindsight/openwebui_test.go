package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// webUITasks are the requests that Open WebUI sends beside a turn.
func webUITasks(w *world, words string) map[string]string {
	history := "\n### Chat History:\n<chat_history>\nUSER: " + words + "\n</chat_history>"
	out := map[string]string{}
	for name, ask := range map[string]string{
		"title_generation":     "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history." + history,
		"tags_generation":      "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history." + history,
		"follow_up_generation": "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next." + history,
	} {
		c := w.conversation()
		c.extra = `"stream":false,"max_tokens":1000,`
		out[name] = c.add("user", ask).body()
	}
	return out
}

// Title, tags, follow-ups and the turn itself at once under one chat id: one
// turn is kept, and no side call is touched, remembered or takes the place of
// the turn. Whether or not the client says what its calls are for.
func TestWebUITasksBesideATurn(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string]func(task string) []string{
		"forwarded user info": func(string) []string {
			return []string{"X-OpenWebUI-User-Id: ann", "X-OpenWebUI-Chat-Id: 8f1d7a52-90b1-4a9c-bb52-2f1d0e6c7a10"}
		},
		"templates": func(task string) []string {
			return []string{"Hindsight-User: ann", "Hindsight-Session: 8f1d7a52-90b1-4a9c-bb52-2f1d0e6c7a10", "Hindsight-Task: " + task}
		},
		"an empty chat id": func(task string) []string {
			return []string{"Hindsight-User: ann", "Hindsight-Session: ", "Hindsight-Task: " + task}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("ann", `"text":"From now on answer in French.","type":"preference","standing":true`)
			w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
			c := w.conversation(headers("")...)
			var session string
			for turn, words := range []string{craneCode, "thanks"} {
				from := len(w.seen())
				tasks := webUITasks(w, words)
				sent := c.add("user", words).body()
				var wg sync.WaitGroup
				for task, body := range tasks {
					wg.Go(func() {
						r, err := w.trySend(body, headers(task)...)
						if err != nil || r.memory() != "skipped;reason=side_call" || r.memories() != "" {
							t.Errorf("%s: %v, %s", task, err, r.memory())
						}
					})
				}
				var main reply
				wg.Go(func() {
					var err error
					if main, err = w.trySend(sent, c.headers...); err != nil {
						t.Error(err)
					}
				})
				wg.Wait()
				c.add("assistant", main.text())
				if session == "" {
					session = main.session()
				}
				if want := []string{"injected", "replayed"}[turn]; main.memory() != want || main.session() != session || session == "" {
					t.Errorf("the turn: %s in session %q, want %s in %q", main.memory(), main.session(), want, session)
				}
				untouched := 0
				for _, a := range w.seen()[from:] {
					for _, body := range tasks {
						if string(a.body) == body {
							untouched++
						}
					}
				}
				if untouched != 3 {
					t.Errorf("%d side calls arrived as they were sent, want 3", untouched)
				}
			}
			s := w.wantSaid(session, "ann", craneCode, "thanks")
			if len(s.Exchanges) != 2 {
				t.Errorf("%d exchanges, want 2", len(s.Exchanges))
			}
			w.wantSessions(1)
			// An empty id is no id: it joins nothing. Any other one does.
			if r := w.conversation(c.headers...).say("good morning"); (r.session() == session) != (name != "an empty chat id") {
				t.Errorf("another conversation under the same headers: session %s, the first is %s", r.session(), session)
			}
		})
	}
}

// A temporary chat leaves nothing at all: no session, no memory, not even a
// tenant or the knowledge that somebody has a name.
func TestTemporaryChatLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{
		"Open WebUI's header": "X-OpenWebUI-Chat-Id: local:9a1be7c0", "a template": "Hindsight-Session: local:9a1be7c0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.conversation("X-OpenWebUI-User-Id: ann", header, "Hindsight-Session-End: true")
			for _, words := range []string{"Remember this: my badge is B4411.", "What is my badge?"} {
				sent := c.add("user", words).body()
				r := c.send()
				if r.memory() != "off;reason=temporary" || r.session() != "" || string(w.last().body) != sent {
					t.Errorf("%s, session %q, upstream %s", r.memory(), r.session(), w.last().body)
				}
			}
			w.wantSessions(0)
			if kept := w.memories("ann"); len(kept) != 0 {
				t.Errorf("kept %+v", kept)
			}
			var v struct{ Tenants []json.RawMessage }
			w.decode(w.admin("GET", "/api/v1/tenants", ""), &v)
			if len(v.Tenants) != 0 {
				t.Errorf("tenants %s", v.Tenants)
			}
			w.restart()
			w.wantSessions(0)
		})
	}
}

// Headers whose templates nobody filled in name nobody: no memory for either
// of two people, and never the default user's.
func TestUnfilledTemplates(t *testing.T) {
	t.Parallel()
	for user, env := range map[string]string{"ann": "HINDSIGHT_DEFAULT_USER=ann", "local": "HINDSIGHT_TENANT=default"} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			unfilledTemplates(t, user, env)
		})
	}
}

// A request that names two users is nobody's: a proxy that adds its header to the one
// that a client sent itself must not give out another's memory, nor the default's.
func TestTwoUsersInOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann")
	w.remember("ann", `"text":"From now on answer in French.","type":"preference","standing":true`)
	body := `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	ask := func(name string, values ...string) string {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, w.st.proxyURL()+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer sk-test")
		req.Header[name] = values
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.Header.Get("Hindsight-Status")
	}
	for _, name := range []string{"Hindsight-User", "X-Openwebui-User-Id"} {
		for _, two := range [][]string{{"ann", "eve"}, {"eve", "ann"}, {"", "ann", "eve"}} {
			if got := ask(name, two...); got != "off;reason=no_user" || string(w.last().body) != body {
				t.Errorf("%s %q: %s, upstream %s", name, two, got, w.last().body)
			}
		}
		if got := ask(name, "ann", "ann"); got != "injected" {
			t.Errorf("%s, the same twice: %s", name, got)
		}
	}
}

func unfilledTemplates(t *testing.T, user, env string) {
	w := newWorld(t, env)
	for _, user := range []string{user, "bob"} {
		w.remember(user, `"text":"From now on answer in French.","type":"preference","standing":true`)
	}
	for _, name := range []string{"{{USER_ID}}", "${USER}", "{user}", "$USER_ID", "%USERNAME%", "<user-id>", "undefined", "null", "None", "anonymous"} {
		for _, key := range []string{"sk-test", "sk-other"} {
			c := w.conversation("Hindsight-User: "+name, "Hindsight-Task: {{TASK}}", "Hindsight-Session: {{CHAT_ID}}", "Authorization: Bearer "+key)
			sent := c.add("user", "hello").body()
			if r := c.send(); r.memory() != "off;reason=no_user" || r.session() != "" || string(w.last().body) != sent {
				t.Errorf("%s: %s, session %q, upstream %s", name, r.memory(), r.session(), w.last().body)
			}
		}
	}
	w.wantSessions(0)
	// With a user, a task that was not filled in is no task and the turn is one.
	c := w.conversation("Hindsight-User: bob", "Hindsight-Task: {{TASK}}", "Hindsight-Session: {{CHAT_ID}}")
	r := c.say("hello")
	if r.memory() != "injected" || !strings.Contains(w.last().blocks(t)[0], "French") {
		t.Errorf("a turn: %s", r.memory())
	}
	w.wantSaid(r.session(), "bob", "hello")
	other := w.conversation("Hindsight-User: bob", "Hindsight-Session: {{CHAT_ID}}").say("good morning")
	if other.session() == r.session() {
		t.Error("two conversations joined by a template")
	}
}
