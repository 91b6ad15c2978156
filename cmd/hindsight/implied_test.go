package main

import (
	"fmt"
	"strings"
	"testing"
)

// The implied user of a machine that one person has for himself ends for good
// as soon as a second person shows: by name, by another credential, or by too
// many conversations at once. What refused requests show doesn't count.
func TestImpliedUserEnds(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(w *world) (stays bool){
		"a named user": func(w *world) bool {
			w.conversation("Hindsight-User: bob").say("hello")
			return false
		},
		"a second credential that is linked": func(w *world) bool {
			w.conversation("Hindsight-User: ann", "Authorization: Bearer sk-two").say("hello")
			for id := range w.tenants() {
				if id != "default" {
					w.link(id, "default")
				}
			}
			w.conversation("Hindsight-User: ann", "Authorization: Bearer sk-two").say("hello again")
			return false
		},
		"twenty conversations": func(w *world) bool {
			for i := range 19 {
				w.conversation().say(fmt.Sprint("conversation ", i))
			}
			return false
		},
		"a named user whom the upstream refuses": func(w *world) bool {
			w.breaks(status(401))
			w.send(w.conversation().add("user", "hello").body(), "Hindsight-User: bob")
			return true
		},
		"a second credential that the upstream refuses": func(w *world) bool {
			w.breaks(status(401))
			w.send(w.conversation().add("user", "hello").body(), "Authorization: Bearer sk-wrong")
			return true
		},
		"a template": func(w *world) bool {
			w.conversation("Hindsight-User: {{USER_ID}}").say("hello")
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			oneInThree(t)
			t.Parallel()
			w := newWorld(t)
			w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
			c := w.conversation()
			if r := c.say(craneCode); r.memory() != "injected" {
				t.Fatalf("the implied user: %s", r.memory())
			}
			stays := second(w)
			for _, when := range []string{"at once", "after a restart"} {
				mine := w.conversation()
				mine.messages = append(mine.messages, c.messages...)
				for _, talk := range []*conversation{mine, w.conversation()} {
					sent := talk.add("user", "Tell me the harbour crane's access code.").body()
					r := talk.send()
					switch {
					case stays && (r.session() == "" || !strings.Contains(w.last().blocks(t)[0], "4411")):
						t.Errorf("%s: the implied user is gone: %s", when, r.memory())
					case !stays && (r.memory() != "off;reason=no_user" || r.session() != "" || string(w.last().body) != sent):
						t.Errorf("%s: %s, session %q, upstream %s", when, r.memory(), r.session(), w.last().body)
					}
				}
				if when == "at once" {
					w.restart()
				}
			}
		})
	}
}

// A tenant of its own has a first credential of its own: what happens in one
// tenant ends nothing in another.
func TestImpliedUserOfAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	w.conversation().say("hello")
	w.conversation("Authorization: Bearer sk-two", "Hindsight-User: bob").say("hello")
	if r := w.conversation("Authorization: Bearer sk-two").say(craneCode); r.memory() != "off;reason=no_user" {
		t.Errorf("in the tenant where somebody has a name: %s", r.memory())
	}
	if r := w.conversation().say(craneCode); r.memory() != "injected" {
		t.Errorf("in the first tenant: %s", r.memory())
	}
}
