package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hindsight/store"
)

// What Claude Code puts around a person's words, in the forms of this year's
// models: the reminders in a message of role system that ends the request.
const (
	reminder   = `{"type":"text","text":"<system-reminder>\nContents of CLAUDE.md: use tabs.\n</system-reminder>"}`
	sessionOne = "00000000-0000-4000-8000-000000000001"
	sessionTwo = "00000000-0000-4000-8000-000000000002"
)

// trailing is the message that ends a request, marked for the cache.
func trailing(text string) string {
	return `{"role":"system","content":[{"type":"text","text":"<system-reminder>` + text + `</system-reminder>","cache_control":{"type":"ephemeral"}}]}`
}

// The request ends in a message of role system: the block goes into the user
// message before it, and neither it nor the mark in it moves.
func TestMessagesTrailingSystemMessage(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"string":    `"What is my cat called?"`,
		"reminders": `[` + reminder + `,{"type":"text","text":"What is my cat called?"}]`,
	} {
		w := newAnthropic(t)
		w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
		r := w.sendMessages(messagesBody(`{"role":"user","content":`+content+`}`, trailing("Today's date is 2026-11-29.")))
		got := w.last()
		with, all := got.blockIn(t), got.messages(t)
		if r.memory() != "injected" || len(with) != 2 || !strings.Contains(with[0], "Mitzi") || string(all[1]) != trailing("Today's date is 2026-11-29.") {
			t.Errorf("%s: %s: %s", name, r.memory(), got.body)
		}
		if name == "reminders" && !bytes.HasSuffix(all[0], []byte(`"},`+content[1:]+`}`)) {
			t.Errorf("%s: the client's parts were changed: %s", name, all[0])
		}
		w.wantSaid(r.session(), "local", "What is my cat called?")
	}
}

var cacheMark = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"\}`)

// The marks of the cache move with each turn, and an array of one part becomes
// a string: the blocks are found all the same, in the shape that the message
// has now.
func TestMessagesMovingMarks(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newAnthropic(t)
	for _, text := range strings.Split(facts, "|") {
		w.remember("local", fmt.Sprintf(`"text":%q,"type":"user_fact"`, text))
	}
	ask := []string{"What is my cat called?", "Where do I live?", "Who owns the billing service?", "OK.", "What am I allergic to?"}
	headers := []string{"X-Claude-Code-Session-Id: " + sessionOne, "X-App: cli"}
	var history []string
	var blocks []string
	for i, words := range ask {
		messages := append(append([]string(nil), history...), `{"role":"user","content":[{"type":"text","text":"`+words+`","cache_control":{"type":"ephemeral"}}]}`, trailing(fmt.Sprint(1000-i, " tokens left")))
		if i == 3 {
			w.restart()
		}
		r := w.sendMessages(messagesBody(messages...), headers...)
		got := w.last()
		if a, b := bytes.Count(got.body, []byte("cache_control")), strings.Count(messagesBody(messages...), "cache_control"); a != b {
			t.Errorf("turn %d: %d marks of the cache became %d", i, b, a)
		}
		n := 0
		for j, b := range got.blockIn(t) {
			if j%3 != 0 { // an answer, a reminder
				if b != "" {
					t.Errorf("turn %d: a block in message %d", i, j)
				}
				continue
			}
			if n < len(blocks) && b != blocks[n] {
				t.Errorf("turn %d: the block of turn %d was %q and is %q", i, n, blocks[n], b)
			}
			if n == len(blocks) {
				blocks = append(blocks, b)
			}
			n++
		}
		// The next turn has the old messages without marks, those of the person
		// as strings; every other turn the client writes them as parts.
		content := `"` + words + `"`
		if i%2 == 1 {
			content = `[{"type":"text","text":"` + words + `"}]`
		}
		history = append(history, `{"role":"user","content":`+content+`}`, cacheMark.ReplaceAllString(messages[len(messages)-1], ""), w.answered(r))
	}
	injected := 0
	for _, b := range blocks {
		if b != "" {
			injected++
		}
	}
	if injected != 4 || blocks[3] != "" {
		t.Errorf("blocks %q", blocks)
	}
	if ids := w.sessions(); len(ids) != 1 {
		t.Errorf("%d sessions", len(ids))
	} else {
		w.wantSaid(ids[0], "local", ask...)
	}
}

// Claude Code says who and which session in three ways. The person stays one,
// and the session is found by each.
func TestMessagesClaudeIdentity(t *testing.T) {
	t.Parallel()
	device := strings.Repeat("0a1b2c3d", 8)
	const account = "7d1f2a30-1111-4000-8000-00000000000a"
	document := func(session string) string {
		id, _ := json.Marshal(map[string]string{"device_id": device, "account_uuid": account, "session_id": session})
		return string(id)
	}
	older := func(session string) string { return "user_" + device + "_account_" + account + "_session_" + session }
	w := newAnthropic(t, "HINDSIGHT_TENANT=one")
	w.remember(account, `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	said := map[string]string{} // session id of ours -> of the client
	for _, c := range []struct{ user, header, session string }{
		{document(sessionOne), "", sessionOne},
		{document(sessionOne), sessionOne, sessionOne},
		{older(sessionOne), "", sessionOne},
		{older(sessionTwo), sessionTwo, sessionTwo},
		{document(sessionTwo), "", sessionTwo},
	} {
		quoted, _ := json.Marshal(c.user)
		body := strings.Replace(messagesBody(userSays("What is my cat called?")), `{"model"`, `{"metadata":{"user_id":`+string(quoted)+`},"model"`, 1)
		headers := []string{"X-App: cli"}
		if c.header != "" {
			headers = append(headers, "X-Claude-Code-Session-Id: "+c.header)
		}
		r := w.sendMessages(body, headers...)
		if !bytes.Contains(w.last().body, []byte("Mitzi")) {
			t.Errorf("%s: not this person's memory: %s", c.user, r.memory())
		}
		if was, ok := said[r.session()]; ok && was != c.session {
			t.Errorf("%s and %s are one session", was, c.session)
		}
		said[r.session()] = c.session
	}
	if len(said) != 2 {
		t.Errorf("sessions %v", said)
	}
	for id := range said {
		if s := w.session(id); s.Scope != store.UserScope(account) {
			t.Errorf("session of %s", s.Scope)
		}
	}
	// A plain id is a person as it is.
	r := w.sendMessages(strings.Replace(messagesBody(userSays("Hello there.")), `{"model"`, `{"metadata":{"user_id":"hash-ann"},"model"`, 1))
	w.wantSaid(r.session(), "hash-ann", "Hello there.")
}

// Two sub-agents and their parent at once, under the parent's session id: the
// children get skills and none of the person's facts, and what they are told,
// and tell, are nobody's words.
func TestMessagesSubAgents(t *testing.T) {
	t.Parallel()
	w := newAnthropic(t, "HINDSIGHT_DEFAULT_USER=ann")
	w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	w.remember("ann", `"text":"The harbour crane is restarted with make crane-up.","type":"solution"`)
	var arrived sync.WaitGroup
	arrived.Add(3)
	w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("harbour")) {
			arrived.Done()
			arrived.Wait() // until all three are here
		}
		return w.speakMessages(rw, r, body)
	}
	const ask = "How do I restart the harbour crane, and what is its access code?"
	session := "X-Claude-Code-Session-Id: " + sessionOne
	asks := [][]string{
		{session, "X-App: cli"},
		{session, "X-App: cli", "X-Claude-Code-Agent-Id: a7629c0cd03773a39"},
		{session, "X-App: cli", "X-Claude-Code-Agent-Id: a5c365a4866e614f0"},
	}
	replies := make([]reply, len(asks))
	var all sync.WaitGroup
	for i, headers := range asks {
		all.Go(func() {
			replies[i] = w.sendMessages(messagesBody(userSays(fmt.Sprint(ask, " (", i, ")")), trailing("x")), headers...)
		})
	}
	all.Wait()
	ids := map[string]bool{}
	for i, r := range replies {
		ids[r.session()] = true
		body := w.saying(fmt.Sprint(ask, " (", i, ")"))[0].body
		if !bytes.Contains(body, []byte("crane-up")) || bytes.Contains(body, []byte("4411")) != (i == 0) {
			t.Errorf("request %d got %s", i, body)
		}
		s := w.session(r.session())
		switch {
		case i == 0 && (s.Parent != "" || len(s.said()) != 1):
			t.Errorf("the parent: parent %q, words %q", s.Parent, s.said())
		case i > 0 && (s.Parent != replies[0].session() || len(s.said()) != 0):
			t.Errorf("child %d: parent %q, words %q", i, s.Parent, s.said())
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d sessions", len(ids))
	}
	// The end of a sub-agent comes as a user message.
	const notice = `{"role":"user","content":[{"type":"text","text":"<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\nThe access code of the harbour crane is done.\n</system-reminder>","cache_control":{"type":"ephemeral"}}]}`
	w.answer = w.speakMessages
	history := []string{userSays(ask + " (0)"), trailing("x"), w.answered(replies[0]), notice}
	r := w.sendMessages(messagesBody(history...), asks[0]...)
	if r.session() != replies[0].session() || r.memories() != "" || w.last().blockIn(t)[3] != "" {
		t.Errorf("a notification: %s: %s", r.memory(), w.last().body)
	}
	w.wantSaid(r.session(), "ann", ask+" (0)")
}
