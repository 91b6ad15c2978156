package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hindsight/store"
)

// memoriesIn lists the default user's memories of a state.
func (w *world) memoriesIn(state store.State) []store.Memory {
	w.t.Helper()
	var v struct{ Memories []store.Memory }
	w.decode(w.admin(http.MethodGet, "/api/v1/memories?state="+string(state)+"&scope="+url.QueryEscape(string(store.UserScope("local"))), ""), &v)
	return v.Memories
}

// learn holds a session of one turn and reflects it.
func (w *world) learn(words string, headers ...string) (kept []store.Memory, dropped []store.Dropped) {
	w.t.Helper()
	return w.close(w.conversation(headers...).say(words).session())
}

func TestTheSameFactTwiceIsOneMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][]string{
		"the same words":    {"I live in Lisbon.", "I live in Lisbon."},
		"in other clothing": {"I live in Lisbon.", "by the way, i live in Lisbon!"},
		"in Chinese":        {"我住在杭州。", "我住在杭州！"},
		"inside a session":  {"I live in Lisbon. As I said, I live in Lisbon."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var first store.Memory
			for i, words := range c {
				kept, dropped := w.learn(words)
				if len(kept) != 1 {
					t.Fatalf("session %d: kept %q, dropped %+v", i+1, texts(kept), dropped)
				}
				if first.ID == "" {
					first = kept[0]
				}
			}
			got := w.memories("local")
			if len(got) != 1 || got[0].ID != first.ID || len(got[0].Evidence) < len(c) {
				t.Fatalf("memories: %+v", got)
			}
			if len(c) > 1 && got[0].LastVerified.IsZero() {
				t.Error("said again, and not verified")
			}
		})
	}
}

// A user who corrects himself is believed: the new form is active, the old one
// superseded by it, and only the new one is recalled. There is never none.
func TestACorrectionReplaces(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for name, c := range map[string]struct {
		first, then, old, new, question, want string
		contradicts                           bool // by the model's word
	}{
		"where one lives": {"I live in Lisbon.", "I live in Oslo.", "The user lives in Lisbon.", "The user lives in Oslo.", "Where do I live?", "Oslo", false},
		"a number":        {"My badge is B4411.", "My badge is B4412.", "The user's badge is B4411.", "The user's badge is B4412.", "What is my badge?", "B4412", false},
		"in Chinese":      {"我住在杭州。", "我住在成都。", "用户住在杭州。", "用户住在成都。", "我住在哪里？", "成都", false},
		"by the model":    {"I prefer tabs over spaces.", "I prefer spaces over tabs.", "The user prefers tabs over spaces.", "The user prefers spaces over tabs.", "Do I prefer tabs or spaces?", "prefers spaces over tabs", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
				if !c.contradicts || !strings.Contains(string(body), "hindsight_memories") {
					return false
				}
				return contradicting(w.model, rw, body)
			}
			before, _ := w.learn(c.first)
			w.restart()
			after, dropped := w.learn(c.then)
			if len(before) != 1 || len(after) != 1 {
				t.Fatalf("kept %q, then %q; dropped %+v", texts(before), texts(after), dropped)
			}
			active, superseded := w.memories("local"), w.memoriesIn(store.Superseded)
			if len(active) != 1 || active[0].Text != c.new {
				t.Fatalf("active: %q", texts(active))
			}
			if len(superseded) != 1 || superseded[0].Text != c.old || superseded[0].SupersededBy != active[0].ID || superseded[0].ValidTo.IsZero() {
				t.Fatalf("superseded: %+v", superseded)
			}
			r := w.conversation().say(c.question)
			if !strings.Contains(r.text(), c.want) || strings.Contains(string(w.last().body), c.old) || r.header.Get("Hindsight-Memories") != active[0].ID {
				t.Errorf("%s, memories %s: %s", r.memory(), r.header.Get("Hindsight-Memories"), r.text())
			}
		})
	}
}

var existingID = regexp.MustCompile(`"id":"(m[0-9a-v]+)"`)

// contradicting passes a reflection on to the model and makes what it says a
// contradiction of the first memory that it was shown.
func contradicting(model http.Handler, rw http.ResponseWriter, body []byte) bool {
	var req struct {
		Messages []struct{ Content string }
	}
	rec := ask(model, strings.Replace(string(body), `"stream":true`, `"stream":false`, 1))
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if json.Unmarshal(body, &req) != nil || json.Unmarshal(rec.body, &answer) != nil {
		return false
	}
	_, existing, _ := strings.Cut(req.Messages[len(req.Messages)-1].Content, "<existing>")
	content := answer.Choices[0].Message.Content
	if m := existingID.FindStringSubmatch(existing); m != nil {
		content = strings.ReplaceAll(content, `"relation":"new","relation_id":""`, fmt.Sprintf(`"relation":"contradicts","relation_id":%q`, m[1]))
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": content}, "finish_reason": "stop"}}})
	return true
}
