package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"hindsight/store"
)

// mem0Memory is one memory of mem0's platform or library.
type mem0Memory struct {
	ID         string          `json:"id"`
	Memory     string          `json:"memory"`
	Text       string          `json:"text"`
	User       string          `json:"user_id"`
	Agent      string          `json:"agent_id"`
	Run        string          `json:"run_id"`
	App        string          `json:"app_id"`
	Categories []string        `json:"categories"`
	Metadata   map[string]any  `json:"metadata"`
	Created    json.RawMessage `json:"created_at"`
	Updated    json.RawMessage `json:"updated_at"`
	Expires    json.RawMessage `json:"expiration_date"`
}

// taste is how a preference begins that mem0 didn't file as one.
var taste = regexp.MustCompile(`(?i)^(the )?(user |i |he |she |they )?(really |usually |generally )?(prefer|like|love|enjoy|dislike|hate|favou?r)s?\b|^(用户)?(更?喜欢|偏好|讨厌|爱)`)

// Mem0 reads an export: a list of memories, an object that holds one under
// results or memories, or one memory a line. Memories of nobody have an empty
// scope; all get their id where they go.
func Mem0(r *bufio.Reader) ([]store.Memory, []Bad, error) {
	var out []store.Memory
	var bad []Bad
	n := 0
	take := func(raw json.RawMessage) {
		n++
		m, err := mem0(raw)
		if err != nil {
			bad = append(bad, Bad{"memory", n, err.Error()})
			return
		}
		out = append(out, m)
	}
	head, _ := r.Peek(detectBytes)
	first, rest, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	if len(first) > 0 && first[0] == '{' && len(bytes.TrimSpace(rest)) > 0 && json.Valid(first) {
		err := lines(r, func(_ int, raw json.RawMessage) { take(raw) })
		return out, bad, err
	}
	err := array(r, func(_ int, raw json.RawMessage) {
		var held struct {
			Results  []json.RawMessage `json:"results"`
			Memories []json.RawMessage `json:"memories"`
		}
		if json.Unmarshal(raw, &held) == nil && (held.Results != nil || held.Memories != nil) {
			for _, m := range append(held.Results, held.Memories...) {
				take(m)
			}
			return
		}
		take(raw)
	})
	return out, bad, err
}

func mem0(raw json.RawMessage) (store.Memory, error) {
	var in mem0Memory
	if err := json.Unmarshal(raw, &in); err != nil {
		return store.Memory{}, fmt.Errorf("isn't a memory of mem0's: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	text := strings.TrimSpace(in.Memory)
	if text == "" {
		text = strings.TrimSpace(in.Text)
	}
	if text == "" {
		return store.Memory{}, errors.New("has no text in memory")
	}
	m := store.Memory{
		Text: text, Type: store.UserFact, AttributedTo: store.ByUser, Importance: 0.7, Confidence: 1,
		CreatedAt: moment(in.Created), ValidTo: moment(in.Expires), Metadata: map[string]string{"from": "mem0"},
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = moment(in.Updated)
	}
	if !m.ValidTo.IsZero() && m.ValidTo.Equal(m.ValidTo.Truncate(24*time.Hour)) {
		m.ValidTo = m.ValidTo.AddDate(0, 0, 1) // the day itself counts
	}
	if taste.MatchString(text) {
		m.Type = store.Preference
	}
	for _, c := range in.Categories {
		if strings.Contains(c, "preference") {
			m.Type = store.Preference
		}
	}
	switch {
	case in.User != "":
		m.Scope = store.UserScope(in.User)
	case in.Agent != "":
		m.Scope = store.AgentScope(in.Agent)
	}
	for name, v := range map[string]string{"mem0_id": in.ID, "agent_id": in.Agent, "run_id": in.Run, "app_id": in.App, "categories": strings.Join(in.Categories, ", ")} {
		if v != "" {
			m.Metadata[name] = v
		}
	}
	for name, v := range in.Metadata {
		if s, ok := v.(string); ok && m.Metadata[name] == "" && len(m.Metadata) < 64 {
			m.Metadata[name] = s
		} else if b, err := json.Marshal(v); !ok && err == nil && len(m.Metadata) < 64 {
			m.Metadata[name] = string(b)
		}
	}
	return m, nil
}
