package foreign

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"hindsight/store"
)

// chatTree is a conversation of ChatGPT's export: a tree of messages, of which
// the way to the current node is what the person sees.
type chatTree struct {
	ID           string              `json:"id"`
	Conversation string              `json:"conversation_id"`
	Title        string              `json:"title"`
	Created      json.RawMessage     `json:"create_time"`
	Mapping      map[string]chatNode `json:"mapping"`
	Current      string              `json:"current_node"`
}

type chatNode struct {
	Message *struct {
		Author struct {
			Role string `json:"role"`
			Name string `json:"name"`
		} `json:"author"`
		Created json.RawMessage `json:"create_time"`
		Content struct {
			Type  string            `json:"content_type"`
			Parts []json.RawMessage `json:"parts"`
			Text  string            `json:"text"`
		} `json:"content"`
		Recipient string `json:"recipient"`
		Metadata  struct {
			Hidden bool `json:"is_visually_hidden_from_conversation"`
			System bool `json:"is_user_system_message"`
		} `json:"metadata"`
	} `json:"message"`
	Parent string `json:"parent"`
}

// ChatGPT reads a conversations.json and hands each conversation over; those in
// which nobody said anything are left out.
func ChatGPT(r *bufio.Reader, each func(Conversation)) ([]Bad, error) {
	var bad []Bad
	err := array(r, func(n int, raw json.RawMessage) {
		c, err := chat(raw)
		switch c.At = n; {
		case err != nil:
			bad = append(bad, Bad{"conversation", n, err.Error()})
		case c.Words():
			each(c)
		}
	})
	return bad, err
}

func chat(raw json.RawMessage) (Conversation, error) {
	var t chatTree
	if err := json.Unmarshal(raw, &t); err != nil {
		return Conversation{}, fmt.Errorf("isn't a conversation of ChatGPT's: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	c := Conversation{ID: t.Conversation, Title: t.Title}
	if c.ID == "" {
		c.ID = t.ID
	}
	if len(t.Mapping) == 0 {
		return c, fmt.Errorf("has no mapping of messages")
	}
	if _, ok := t.Mapping[t.Current]; !ok {
		return c, fmt.Errorf("current_node names no message of it")
	}
	var way []chatNode
	for id, left := t.Current, len(t.Mapping); id != "" && left > 0; left-- {
		node, ok := t.Mapping[id]
		if !ok {
			break
		}
		way = append(way, node)
		id = node.Parent
	}
	for i := len(way) - 1; i >= 0; i-- {
		if e, ok := chatEvent(way[i]); ok {
			c.Events = append(c.Events, e)
		}
	}
	if c.ID == "" {
		var said []string
		for _, e := range c.Events {
			said = append(said, e.Text)
		}
		c.ID = named("chatgpt-", append(said, string(t.Created))...)
	}
	return c, nil
}

// chatEvent is what a message says, if a person or the model said it.
func chatEvent(n chatNode) (e store.Event, ok bool) {
	m := n.Message
	if m == nil || m.Metadata.Hidden || m.Metadata.System {
		return e, false
	}
	text := m.Content.Text
	switch m.Content.Type {
	case "text", "multimodal_text", "code", "execution_output", "":
	default: // custom instructions, thoughts, browsing displays
		return e, false
	}
	for _, p := range m.Content.Parts {
		var s string
		if json.Unmarshal(p, &s) == nil && s != "" { // pictures aren't kept
			text = strings.TrimLeft(text+"\n"+s, "\n")
		}
	}
	if strings.TrimSpace(text) == "" {
		return e, false
	}
	e = store.Event{Time: moment(m.Created), Text: text}
	switch m.Author.Role {
	case "user":
		e.Kind = store.UserInput
	case "assistant":
		e.Kind = store.FinalOutput
		if m.Recipient != "" && m.Recipient != "all" {
			e.Kind, e.Name = store.ToolCall, m.Recipient
		}
	case "tool":
		e.Kind, e.Name = store.ToolResult, m.Author.Name
	default:
		return e, false
	}
	return e, true
}
