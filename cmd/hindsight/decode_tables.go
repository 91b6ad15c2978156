package main

import (
	"encoding/json"
	"strings"

	"hindsight/proxy/session/clients"
)

// tables reads what is added to the shipped tables of what clients send, and
// has each entry checked by the package that will use it.
func (d decoder) tables(s *settings) clients.Tables {
	var t clients.Tables
	before := len(*d.ps)
	d.list(s.UserHeaders, &t.UserHeaders)
	d.list(s.SessionHeaders, &t.SessionHeaders)
	d.list(s.SideCalls, &t.SideCalls)
	d.list(s.Wrappers, &t.Wrappers)
	if len(*d.ps) > before {
		return clients.Tables{}
	}
	if _, err := clients.New(t); err != nil {
		for line := range strings.Lines(err.Error()) {
			*d.ps = append(*d.ps, problem{Field: "an entry of the client tables", Wrong: "doesn't fit: " + strings.TrimSpace(line), Next: "Correct it."})
		}
	}
	return t
}

// list reads a list of entries. A header may be written as its name alone.
func (d decoder) list(s setting, to any) {
	if s.raw == "" {
		return
	}
	var items []json.RawMessage
	next := "Write a list: in YAML one item a line, elsewhere JSON."
	if !d.strict(s, &items, next) {
		return
	}
	for i, item := range items {
		if name := (struct {
			Name string `json:"name"`
		}{}); json.Unmarshal(item, &name.Name) == nil && (s.key == "identity.user_headers" || s.key == "identity.session_headers") {
			if b, err := json.Marshal(name); err == nil {
				items[i] = b
			}
		}
	}
	b, err := json.Marshal(items)
	if err != nil {
		d.ps.add(s, "doesn't read: "+err.Error(), next)
		return
	}
	s.raw = string(b)
	d.strict(s, to, next)
}
