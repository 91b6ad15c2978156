package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hindsight/proxy/dialect"
)

func TestSessionSignals(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000003"
	w := newWorld(t, acme)
	find := func(extra m, h ...string) *Turn { return w.identify(w.incoming(by("ann", h...), extra, user("hello"))) }
	want := find(nil, "Hindsight-Session", id)
	if want.External != id || !strings.HasPrefix(want.Session, "s") || strings.Contains(want.Session, id) {
		t.Errorf("session %q external %q", want.Session, want.External)
	}
	for name, got := range map[string]*Turn{
		"claude code":     find(nil, "X-Claude-Code-Session-Id", id),
		"codex":           find(nil, "session-id", id, "thread-id", id),
		"pi":              find(nil, "session_id", id),
		"opencode":        find(nil, "x-session-id", id, "x-session-affinity", id),
		"open webui":      find(nil, "X-OpenWebUI-Chat-Id", id),
		"goose":           find(nil, "agent-session-id", id),
		"metadata":        find(m{"metadata": m{"session_id": id}}),
		"client metadata": find(m{"client_metadata": m{"session_id": id}}),
		"body":            find(m{"session_id": id}),
		"ours beats it":   find(nil, "Hindsight-Session", id, "X-OpenWebUI-Chat-Id", "another-chat-id"),
		"own id":          find(nil, "Hindsight-Session", want.Session),
	} {
		if got.Session != want.Session {
			t.Errorf("%s: session %q (%s), want %q", name, got.Session, got.External, want.Session)
		}
	}
	other := w.identify(w.incoming(by("bob", "Hindsight-Session", want.Session), nil, user("hello")))
	wantDistinct(t, "another's own id", other.Session, want.Session)
	for name, h := range map[string][]string{
		"empty":      {"Hindsight-Session", ""},
		"template":   {"Hindsight-Session", "{{CHAT_ID}}"},
		"too short":  {"X-OpenWebUI-Chat-Id", "abc"},
		"too long":   {"Hindsight-Session", strings.Repeat("x", 201)},
		"unreadable": {"Hindsight-Session", "a\x01b"},
	} {
		if got := find(nil, h...); got.External != "" || got.Off != "" {
			t.Errorf("%s: external %q off %q", name, got.External, got.Off)
		}
	}
}

// Row 73: two children and the parent at once, under the parent's id.
func TestSubAgents(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000003"
	clients := map[string][3][]string{
		"claude code": {
			{"X-Claude-Code-Session-Id", id},
			{"X-Claude-Code-Session-Id", id, "X-Claude-Code-Agent-Id", "a7629c0cd03773a39"},
			{"X-Claude-Code-Session-Id", id, "X-Claude-Code-Agent-Id", "b7629c0cd03773a39"},
		},
		"codex": {
			{"session-id", id, "thread-id", id},
			{"session-id", id, "thread-id", "00000000-0000-4000-8000-000000000004", "x-openai-subagent", "collab_spawn", "x-codex-parent-thread-id", id},
			{"session-id", id, "thread-id", "00000000-0000-4000-8000-000000000005", "x-openai-subagent", "collab_spawn", "x-codex-parent-thread-id", id},
		},
		"opencode": {
			{"x-session-id", "ses_00000000000000000000000001"},
			{"x-session-id", "ses_00000000000000000000000002", "x-parent-session-id", "ses_00000000000000000000000001"},
			{"x-session-id", "ses_00000000000000000000000003", "x-parent-session-id", "ses_00000000000000000000000001"},
		},
		"claude code in a named session": {
			{"Hindsight-Session", "work", "X-Claude-Code-Session-Id", id},
			{"Hindsight-Session", "work", "X-Claude-Code-Session-Id", id, "X-Claude-Code-Agent-Id", "a7629c0cd03773a39"},
			{"Hindsight-Session", "work", "X-Claude-Code-Session-Id", id, "X-Claude-Code-Agent-Id", "b7629c0cd03773a39"},
		},
	}
	for name, h := range clients {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, acme)
			parent := w.identify(w.incoming(by("ann", h[0]...), nil, user("use two helpers")))
			one := w.identify(w.incoming(by("ann", h[1]...), nil, user("list the files")))
			two := w.identify(w.incoming(by("ann", h[2]...), nil, user("list the files")))
			wantDistinct(t, "sessions", parent.Session, one.Session, two.Session)
			wantSame(t, "parents", parent.Session, one.Parent, two.Parent)
			if parent.Child || !one.Child || !two.Child || !one.Conversation().Child {
				t.Errorf("child: %v %v %v", parent.Child, one.Child, two.Child)
			}
			for _, turn := range []*Turn{one, two, parent} {
				w.answer(turn, dialect.Answer{Text: "a.txt"})
			}
			if got := w.st.events(one.Session); len(got) != 2 || got[0] != "1 tool_result: list the files" {
				t.Errorf("a sub-agent's events: %q", got)
			}
			if got := w.st.sessions[two.Session].Parent; got != parent.Session {
				t.Errorf("recorded parent %q", got)
			}
			notice := w.ask(by("ann", h[0]...), "ok", user("use two helpers"), assistant("a.txt"),
				user("[SYSTEM NOTIFICATION - NOT USER INPUT]\nagent finished: a.txt"))
			if notice.Fresh != -1 || notice.Skip != "not_a_user_turn" {
				t.Errorf("a notification is taken for words: fresh %d %q", notice.Fresh, notice.Skip)
			}
			for _, e := range w.st.events(parent.Session) {
				if strings.Contains(e, "user_input") && strings.Contains(e, "NOTIFICATION") {
					t.Errorf("a notification is recorded as words: %s", e)
				}
			}
		})
	}
}

// Row 67: side calls and a turn at once; temporary chats.
func TestOpenWebUIChat(t *testing.T) {
	w := newWorld(t, acme)
	h := by("ann", "X-OpenWebUI-Chat-Id", "00000000-0000-4000-8000-000000000001", "Hindsight-Session", "")
	turns := []*Turn{
		w.identify(w.incoming(h, nil, user("### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n<chat_history>\nUSER: hi\n</chat_history>"))),
		w.identify(w.incoming(by("ann", "Hindsight-Session", "c1", "Hindsight-Task", "tags_generation"), nil, user("hi"))),
		w.identify(w.incoming(h, nil, user("hi, I am Ann"))),
	}
	for i, turn := range turns {
		if side := i < 2; turn.Side != side || (turn.Skip == "side_call") != side {
			t.Errorf("request %d: side %v skip %q", i, turn.Side, turn.Skip)
		}
		w.answer(turn, dialect.Answer{Text: fmt.Sprint("answer ", i)})
	}
	if len(w.st.sessions) != 1 || len(w.st.exchanges) != 1 {
		t.Errorf("%d sessions, %d exchanges: want the turn alone", len(w.st.sessions), len(w.st.exchanges))
	}
	for _, h := range [][]string{
		{"X-OpenWebUI-Chat-Id", "local:9f6c1a34"}, {"Hindsight-Session", "local:9f6c1a34"},
	} {
		got := w.ask(by("ann", h...), "hi", user("a secret"))
		if got.Off != "temporary" || len(w.st.exchanges) != 1 {
			t.Errorf("temporary chat: off %q, %d exchanges", got.Off, len(w.st.exchanges))
		}
	}
}

// Row 74: templates sent as they are.
func TestUnexpandedTemplates(t *testing.T) {
	w := newWorld(t, Config{Tenant: "acme", TrustHeaders: true, DefaultUser: "someone"})
	for _, words := range []string{"I am Ann", "I am Bob"} {
		got := w.ask(headers("Authorization", "Bearer sk-1", "Hindsight-User", "{{USER_ID}}", "Hindsight-Task", "{{TASK}}"), "hi", user(words))
		if got.Off != "no_user" || got.Side {
			t.Errorf("off %q side %v", got.Off, got.Side)
		}
	}
	if got := w.ask(by("ann", "Hindsight-Task", "{{TASK}}"), "hi", user("hello")); got.Side || got.Off != "" {
		t.Errorf("an unexpanded task made a side call: %v %q", got.Side, got.Off)
	}
}

// The one rule for unknown clients' side calls that needs the session.
func TestUnknownSideCall(t *testing.T) {
	w := newWorld(t, acme)
	h := by("ann", "Hindsight-Session", "chat-1")
	tools := m{"tools": []m{{"type": "function", "function": m{"name": "f"}}}, "stream": true}
	w.answer(w.identify(w.incoming(h, tools, system("You help."), user("hello"))), dialect.Answer{Text: "hi"})
	side := w.identify(w.incoming(h, nil, system("You name things."), user("Name this: hello, hi")))
	if !side.Side {
		t.Error("not taken for a side call")
	}
	w.answer(side, dialect.Answer{Text: "Greetings"})
	if len(w.st.exchanges) != 1 {
		t.Errorf("%d exchanges recorded", len(w.st.exchanges))
	}
}

func TestSeveralAnswersToOneMessageAreOneInput(t *testing.T) {
	w := newWorld(t, acme)
	h := by("ann", "Hindsight-Session", "c1")
	a := w.identify(w.incoming(h, m{"model": "one"}, user("hello")))
	b := w.identify(w.incoming(h, m{"model": "two"}, user("hello")))
	wantDistinct(t, "exchanges", a.Exchange, b.Exchange)
	w.answer(a, dialect.Answer{Text: "hi from one"})
	w.answer(b, dialect.Answer{Text: "hi from two"})
	regenerated := w.ask(h, "hi again", user("hello"))
	want := "1 user_input: hello|1 final_output: hi from one|1 final_output: hi from two|1 final_output: hi again"
	if got := strings.Join(w.st.events(regenerated.Session), "|"); got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
}

func TestCredential(t *testing.T) {
	w := newWorld(t, acme)
	got := w.ask(by("ann"), "hi", user("hello"))
	want := Credential{Header: "Authorization", Value: "Bearer sk-one", Dialect: "chat"}
	if c, ok := w.k.Credential(got.Session); !ok || c != want {
		t.Errorf("credential %+v %v", c, ok)
	}
	if c, ok := w.k.CredentialOf(w.st.sessions[got.Session].Cred); !ok || c != want {
		t.Errorf("credential by its hash: %+v %v", c, ok)
	}
	if _, ok := w.k.Credential("sunknown"); ok {
		t.Error("a credential for an unknown session")
	}
	w.pass(9 * time.Minute)
	w.ask(by("ann"), "hi", user("hello"), assistant("hi"), user("still here"))
	w.pass(9 * time.Minute)
	if _, ok := w.k.Credential(got.Session); !ok {
		t.Error("dropped although it was used")
	}
	w.pass(2 * time.Minute)
	if _, ok := w.k.Credential(got.Session); ok {
		t.Error("kept for more than 10 minutes")
	}

	token := w.ask(headers("Authorization", "Bearer eyJa.b.c", "Hindsight-User", "ann"), "hi", user("with a token"))
	if _, ok := w.k.Credential(token.Session); ok {
		t.Error("a token is kept")
	}
	refused := w.identify(w.incoming(by("cat"), nil, user("refused")))
	w.fail(refused, 401)
	if _, ok := w.k.Credential(refused.Session); ok {
		t.Error("a refused credential is kept")
	}
	mixed := talk{w: w, h: by("dan")}
	mixed.say("hello", "hi")
	mixed.h = headers("Authorization", "Bearer sk-two", "Hindsight-User", "dan")
	if _, ok := w.k.Credential(mixed.say("more", "ok").Session); ok {
		t.Error("a session of two credentials has one")
	}
}

func TestIsRandom(t *testing.T) {
	for id, want := range map[string]bool{
		"call_ORaRuFGvTKwzWiAIGNDCqXkS":              true,
		"toolu_01A09q90qw90lq917835lq9":              true,
		"chatcmpl-tool-8f14e45fceea167a5a36dedd4bea": true,
		"00000000-0000-4000-8000-000000000004":       true,
		"fc_68a5f0c0d1e08191b0d3c7b2a1f4e5d6":        true,
		"functions.Read:1":                           false,
		"call_2_0":                                   false,
		"D681PevKs":                                  false,
		"customer-support-agent":                     false,
		"customersupportassistant":                   false,
		"my-app-prefix-v2":                           false,
		"1764512345678901234":                        false,
		"":                                           false,
	} {
		if got := isRandom(id); got != want {
			t.Errorf("isRandom(%q) = %v", id, got)
		}
	}
}
