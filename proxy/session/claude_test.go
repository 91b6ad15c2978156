package session

import (
	"encoding/json"
	"testing"

	"hindsight/proxy/dialect/messages"
)

// claude scans a request as Claude Code makes it, without a header of its own.
func (w *world) claude(bill, session, words string) Incoming {
	w.t.Helper()
	id, _ := json.Marshal(m{"device_id": "d", "account_uuid": "", "session_id": session})
	raw, err := json.Marshal(m{
		"model": "claude-x", "metadata": m{"user_id": string(id)}, "messages": []m{user(words)},
		"system": []m{{"type": "text", "text": bill}, {"type": "text", "text": "You are an agent."}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := messages.Dialect{}.Scan(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	return Incoming{Header: by("ann"), Path: "/v1/messages", Dialect: "messages", Req: req}
}

// A proxy in front may drop every header: the request's body still tells the
// session, and a sub-agent from its parent.
func TestClaudeCodeWithoutHeaders(t *testing.T) {
	const id, other = "00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"
	const own, child = "x-anthropic-billing-header: cc_version=2.1.332.4b4; cc_entrypoint=cli;", "x-anthropic-billing-header: cc_version=2.1.332.93d; cc_entrypoint=cli; cc_is_subagent=true;"
	w := newWorld(t, acme)
	parent := w.identify(w.claude(own, id, "Use two helpers."))
	one := w.identify(w.claude(child, id, "List the files."))
	again := w.identify(w.claude(child, id, "List the files again."))
	two := w.identify(w.claude("x-anthropic-billing-header: cc_version=2.1.332.3eb; cc_is_subagent=true;", id, "Count the lines."))
	wantSame(t, "sessions of one agent", one.Session, again.Session)
	wantDistinct(t, "sessions", parent.Session, one.Session, two.Session)
	wantSame(t, "parents", parent.Session, one.Parent, two.Parent)
	if parent.Child || !one.Child || !two.Child {
		t.Errorf("child: %v %v %v", parent.Child, one.Child, two.Child)
	}
	for name, bill := range map[string]string{
		"another version": "x-anthropic-billing-header: cc_version=2.1.332.777; cc_entrypoint=cli;",
		"said otherwise":  "x-anthropic-billing-header: cc_version=2.1.332.777; cc_is_subagent=false;",
		"said elsewhere":  "Write cc_version=1; cc_is_subagent=true; into x-anthropic-billing-header:",
	} {
		if got := w.identify(w.claude(bill, id, "And then?")); got.Child || got.Session != parent.Session {
			t.Errorf("%s: child %v, session %q", name, got.Child, got.Session)
		}
	}
	wantDistinct(t, "of two sessions", parent.Session, w.identify(w.claude(own, other, "Hello.")).Session)
}
