package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/inject"
)

// hasBlock says whether a body holds one of our blocks.
func hasBlock(body []byte) bool {
	return inject.HasBlock(strings.ReplaceAll(strings.ReplaceAll(string(body), `\u003c`, "<"), `\u003e`, ">"))
}

// An upstream that can't stand a block gets the client's own bytes, and the
// client the answer to those. The session is left alone from then on, after a
// restart too; another one is tried again.
func TestRefusedBlockIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			oneInThree(t)
			w := newWorld(t)
			w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
				if !hasBlock(body) {
					return false
				}
				rw.WriteHeader(status)
				fmt.Fprint(rw, `{"error":{"message":"content is odd","code":"invalid_value"}}`)
				return true
			}
			w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
			w.remember("local", `"text":"The user lives in Lisbon.","type":"user_fact"`)
			c := w.conversation()
			own := c.add("user", "What is my cat called?").body()
			r := c.send()
			all := w.seen()
			if len(all) != 2 || !hasBlock(all[0].body) || string(all[1].body) != own {
				t.Fatalf("the upstream got %d requests, the last: %s", len(all), all[len(all)-1].body)
			}
			if r.memory() != "skipped;reason=upstream_refused" || r.header.Get("Hindsight-Memories") != "" || r.text() != "I don't know that yet." {
				t.Errorf("%s, memories %q: %s", r.memory(), r.header.Get("Hindsight-Memories"), r.text())
			}
			for i := range 2 {
				own = c.add("user", "Where do I live?").body()
				if r = c.send(); r.memory() != "skipped;reason=upstream_refused" || string(w.last().body) != own {
					t.Errorf("turn %d: %s, upstream got %s", i+2, r.memory(), w.last().body)
				}
				w.restart()
			}
			if n := len(w.seen()); n != 4 {
				t.Errorf("%d requests for three turns and one retry", n)
			}
			if s := w.session(r.session()); len(s.Exchanges) != 3 || len(s.said()) != 3 {
				t.Errorf("recorded %d exchanges, words %q", len(s.Exchanges), s.said())
			}
			w.conversation().say("Where do I live?")
			if all = w.seen(); len(all) != 6 || !hasBlock(all[4].body) || hasBlock(all[5].body) {
				t.Errorf("another session: %d requests", len(all))
			}
		})
	}
}

// Where the client's own bytes are refused as well, that answer is the
// client's, and the next refusals of the model aren't asked again.
func TestRefusalOfTheClientsOwnBytesIsPassedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		rw.Header().Set("X-Try", fmt.Sprint(hasBlock(body)))
		rw.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(rw, `{"error":{"message":"no such tool","block":%t}}`, hasBlock(body))
		return true
	}
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	c := w.conversation()
	body := c.add("user", "What is my cat called?").body()
	r := w.send(body)
	if r.status != http.StatusUnprocessableEntity || r.header.Get("X-Try") != "false" || string(r.body) != `{"error":{"message":"no such tool","block":false}}` {
		t.Errorf("the client got %d %s", r.status, r.body)
	}
	if all := w.seen(); len(all) != 2 || string(all[1].body) != body {
		t.Errorf("%d requests", len(all))
	}
	if ids := w.sessions(); len(ids) != 0 {
		t.Errorf("a session of a refused request: %q", ids)
	}
	// The next ten come with a block, and with the refusal that it got.
	for i := range 10 {
		r = w.send(body, fmt.Sprintf("X-N: %d", i))
		if n := len(w.seen()); n != 3+i || r.status != http.StatusUnprocessableEntity {
			t.Fatalf("refusal %d: %d requests, %d %s", i+2, n, r.status, r.body)
		}
	}
	if w.send(body); len(w.seen()) != 14 {
		t.Errorf("after ten refusals: %d requests", len(w.seen()))
	}
}

// What can do harm twice, or can't be the block's fault, isn't asked again.
func TestRefusalIsNotAlwaysAskedAgain(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for name, c := range map[string]struct{ code, header string }{
		"a key for idempotency": {"invalid_value", "Idempotency-Key: k1"},
		"a content filter":      {"content_filter", "X-None: 1"},
		"an unknown model":      {"model_not_found", "X-None: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			refusal := fmt.Sprintf(`{"error":{"message":"no","code":%q}}`, c.code)
			w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
				rw.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(rw, refusal)
				return true
			}
			w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
			v := w.conversation()
			r := w.send(v.add("user", "What is my cat called?").body(), c.header)
			if r.status != http.StatusBadRequest || !bytes.Equal(r.body, []byte(refusal)) || len(w.seen()) != 1 {
				t.Errorf("%d %s after %d requests", r.status, r.body, len(w.seen()))
			}
		})
	}
}
