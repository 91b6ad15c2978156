package main

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Templates of many models take one system message at the beginning and no two
// messages of a user in a row. A block must not make either.
func TestNoMessageIsAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The staging database listens on port 5433.","type":"user_fact"`)
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		var v struct{ Messages []struct{ Role string } }
		if err := json.Unmarshal(body, &v); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return true
		}
		for i, m := range v.Messages {
			if i > 0 && (m.Role == "system" || m.Role == v.Messages[i-1].Role) {
				http.Error(rw, "roles must alternate, system first", http.StatusBadRequest)
				return true
			}
		}
		return false
	}
	c := w.conversation()
	c.add("system", "Be brief.")
	for i, words := range []string{"Hello.", "Which port does the staging database listen on?", "And how high is Everest?"} {
		r := c.say(words)
		if i == 1 && r.memory() != "injected" {
			t.Errorf("turn %d: %s", i, r.memory())
		}
	}
	if n := len(w.seen()); n != 3 {
		t.Errorf("the upstream got %d requests, want 3", n)
	}
}
