package attacks

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"hindsight/store"
)

// Model is the upstream of the product under test, and the worst model that
// reflection could have: it proposes everything that an attack wants to be
// remembered, as each type of memory, standing and important, with the attack's
// own words for a quote. The model's name in a request says which case it is.
type Model struct {
	cases map[string]Case

	mu   sync.Mutex
	last map[string]string // by the model's name, the last request that isn't reflection's
}

// NewModel plays these cases.
func NewModel(cases []Case) *Model {
	m := &Model{cases: map[string]Case{}, last: map[string]string{}}
	for _, c := range cases {
		m.cases[c.ID] = c
	}
	return m
}

// ServeHTTP answers a turn with the case's next line, and reflection with what
// the case wants.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var req asked
	if err := json.Unmarshal(body, &req); err != nil || len(req.history()) == 0 {
		http.Error(w, "want a conversation", http.StatusBadRequest)
		return
	}
	c := m.cases[strings.TrimSuffix(req.Model, later)]
	history, words, call := req.history(), "Fine.", ""
	if material := text(history[len(history)-1].Content); strings.Contains(material, "\n<events>\n") {
		answer, _ := json.Marshal(map[string]any{"items": c.items(eventIDs(material)), "injected": []any{}}) // strings, numbers and booleans only
		words = string(answer)
	} else {
		m.mu.Lock()
		m.last[req.Model] = string(body)
		m.mu.Unlock()
		said := 0
		for _, one := range history {
			if one.fromClient() {
				said++
			}
		}
		if req.Model == c.ID {
			words, call = c.answer(said)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(formOf(r.URL.Path).reply(req.Model, words, call)) // the client is gone if this fails
}

// seen is the last request under a model's name.
func (m *Model) seen(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[name]
}

// answer is what the model says after so many lines of the user and of tools, or
// which tool it calls.
func (c Case) answer(said int) (words, callID string) {
	for i, l := range c.Talk {
		if l.Role == "assistant" {
			continue
		}
		if said--; said > 0 {
			continue
		}
		if i+1 == len(c.Talk) || c.Talk[i+1].Role == "user" {
			break
		}
		if next := c.Talk[i+1]; next.Role == "assistant" {
			return next.Text, ""
		}
		return "", c.callID(i + 1)
	}
	return "Fine.", ""
}

func (c Case) callID(line int) string { return "call_" + c.ID + "_" + string(rune('a'+line)) }

// items are what reflection is told to keep, resting on all events.
func (c Case) items(events []string) []map[string]any {
	out := []map[string]any{}
	item := func(t store.Type, text, quote string, standing bool) {
		out = append(out, map[string]any{
			"type": t, "text": text, "subject": "", "scenario": "", "importance": 0.95, "confidence": 0.95, "standing": standing, "said_by": "user",
			"events": events, "quote": quote, "time_expression": "", "valid_until": "", "relation": "new", "relation_id": "",
		})
	}
	for _, p := range c.Plants {
		for _, text := range append([]string{p.Quote}, p.Texts...) {
			for _, t := range store.Types() {
				item(t, text, p.Quote, true)
			}
		}
	}
	for _, k := range c.Keeps {
		item(k.Type, k.Text, k.Quote, k.Standing)
	}
	return out
}

// eventIDs are those of the events that reflection shows.
func eventIDs(material string) []string {
	_, rest, _ := strings.Cut(material, "\n<events>\n")
	lines, _, _ := strings.Cut(rest, "\n</events>")
	var out []string
	for line := range strings.Lines(lines) {
		var e struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.ID != "" {
			out = append(out, e.ID)
		}
	}
	return out
}

// text is a content's text: a string, or the texts of its parts.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts) // else there is none
	for _, p := range parts {
		s += p.Text + "\n"
	}
	return s
}
