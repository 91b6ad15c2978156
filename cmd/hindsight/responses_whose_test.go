package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Another user who names an answer or a conversation that isn't theirs finds
// nothing.
func TestResponsesOfAnotherUser(t *testing.T) {
	t.Parallel()
	w := newOpenAI(t)
	ann, ben := "Hindsight-User: ann", "Hindsight-User: ben"
	w.remember("ann", `"text":"Ann's cat is called Mitzi.","type":"user_fact"`)
	first := w.sendResponses(`"input":"Hello there, I am Ann."`, ann)
	kept := w.sendResponses(`"conversation":"conv_68a1b2c3d4","input":"Hello there, I am Ann."`, ann)
	for _, members := range []string{
		fmt.Sprintf(`"previous_response_id":%q,"input":"What is Ann's cat called?"`, first.ID),
		`"conversation":"conv_68a1b2c3d4","input":"What is Ann's cat called?"`,
		`"input":[{"role":"user","content":"Hello there, I am Ann."},` + string(first.Output[1]) + `,{"role":"user","content":"What is Ann's cat called?"}]`,
	} {
		r := w.sendResponses(members, ben)
		if r.session() == first.session() || r.session() == kept.session() || hasBlock(w.last().body) {
			t.Errorf("%s: session %s, %s", members, r.session(), r.memory())
		}
	}
}

// A coding agent's compaction drops every item of the model and brings its
// preamble as a user message, the same for two people. Each goes on in a
// session of their own, with or without the agent's headers.
func TestResponsesAfterCompaction(t *testing.T) {
	t.Parallel()
	const preamble = `{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /home/dev/proj\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"},{"type":"input_text","text":"<environment_context>\n  <cwd>/home/dev/proj</cwd>\n</environment_context>"}]}`
	const summary = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Another language model started to solve this problem and produced a summary of its thinking process:\nWe talked."}]}`
	for name, headers := range map[string]func(who string) []string{
		"named":   func(who string) []string { return []string{"Session-Id: 0000-session-of-" + who} },
		"unnamed": func(string) []string { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOpenAI(t)
			w.remember("ann", `"text":"Ann's cat is called Mitzi.","type":"user_fact"`)
			sessions := map[string]string{}
			for _, who := range []string{"ann", "ben"} {
				head := append(headers(who), "Hindsight-User: "+who)
				items := []string{preamble}
				var words []string
				say := func(text string) response {
					words = append(words, text)
					items = append(items, string(userItem(text)))
					r := w.sendResponses(`"store":false,"input":[`+strings.Join(items, ",")+`]`, head...)
					for _, raw := range r.Output {
						items = append(items, string(raw))
					}
					return r
				}
				first := say("Hello, fix the build.")
				say("Now run it.")
				say("And the second one?")
				items = []string{string(userItem(words[0])), string(userItem(words[1])), preamble, string(userItem(words[2])), summary}
				r := say("What is Ann's cat called?")
				if r.session() != first.session() {
					t.Errorf("%s: session %s after %s", who, r.session(), first.session())
				}
				if got := w.session(r.session()).said(); !slices.Equal(got, words) {
					t.Errorf("%s: words %q", who, got)
				}
				if hasBlock(w.last().body) != (who == "ann") {
					t.Errorf("%s: %s", who, r.memory())
				}
				sessions[r.session()] = who
			}
			if len(sessions) != 2 {
				t.Errorf("sessions %v", sessions)
			}
		})
	}
}

// Two sub-agents at work for one session are its children, by header or by what
// the body repeats of it. They get no facts about the person.
func TestResponsesOfSubAgents(t *testing.T) {
	t.Parallel()
	const parent, child = "0190aaaa-0000-7000-8000-00000000000a", "0190bbbb-0000-7000-8000-00000000000b"
	for name, c := range map[string]struct {
		headers []string
		members string
	}{
		"headers":     {[]string{"Session-Id: " + parent, "Thread-Id: " + child, "X-Openai-Subagent: collab_spawn", "X-Codex-Parent-Thread-Id: " + parent}, ``},
		"its own id":  {[]string{"Thread-Id: " + child, "X-Openai-Subagent: collab_spawn", "X-Codex-Parent-Thread-Id: " + parent}, ``},
		"the body":    {nil, `"client_metadata":{"session_id":"` + parent + `","thread_id":"` + child + `"},`},
		"a word only": {[]string{"Session-Id: " + parent, "Thread-Id: " + parent, "X-Openai-Subagent: explorer"}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withCat(t)
			main := w.sendResponses(`"input":"Good morning!"`, "Session-Id: "+parent, "Thread-Id: "+parent)
			r := w.sendResponses(c.members+`"input":"What is my cat called?"`, c.headers...)
			if r.session() == main.session() || hasBlock(w.last().body) {
				t.Errorf("session %s of %s, %s", r.session(), main.session(), r.memory())
			}
			s := w.session(r.session())
			if s.Parent != main.session() || len(s.said()) != 0 {
				t.Errorf("parent %q, words %q", s.Parent, s.said())
			}
		})
	}
}
