package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hindsight/store"
)

// maxLine bounds a line of a log.
const maxLine = 16 << 20

// openAIMessage is a message of chat completions.
type openAIMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Name    string          `json:"name"`
	CallID  string          `json:"tool_call_id"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type openAIAnswer struct {
	Choices []struct {
		Message openAIMessage `json:"message"`
	} `json:"choices"`
	Created json.RawMessage `json:"created"`
}

// openAILine is a line of a log: a request, or a request with its answer, in the
// forms of fine-tuning files, of batches and of common loggers.
type openAILine struct {
	ID           string `json:"id"`
	CustomID     string `json:"custom_id"`
	Session      string `json:"session_id"`
	Conversation string `json:"conversation_id"`

	Messages []openAIMessage `json:"messages"`
	Request  *struct {
		Messages []openAIMessage `json:"messages"`
	} `json:"request"`
	Body *struct {
		Messages []openAIMessage `json:"messages"`
	} `json:"body"`
	openAIAnswer
	Response *struct {
		openAIAnswer
		Body *openAIAnswer `json:"body"`
	} `json:"response"`

	Timestamp json.RawMessage `json:"timestamp"`
	CreatedAt json.RawMessage `json:"created_at"`
}

// logged is a conversation as far as the log has told it.
type logged struct {
	Conversation
	said []string // its messages, as keys
}

// OpenAI reads a log with one request a line. A line whose history another line
// has begun goes on with that conversation.
func OpenAI(r *bufio.Reader) ([]Conversation, []Bad, error) {
	var all []*logged
	var bad []Bad
	byID := map[string]*logged{}
	byEnd := map[string]*logged{} // the key of all its messages
	err := lines(r, func(n int, raw json.RawMessage) {
		messages, id, at, err := openAI(raw)
		if err != nil {
			bad = append(bad, Bad{"line", n, err.Error()})
			return
		}
		keys := make([]string, len(messages))
		for i, m := range messages {
			keys[i] = named("", m.Role, string(m.Content), m.CallID, fmt.Sprint(m.Calls))
		}
		c := byID[id]
		if c == nil {
			for i := len(keys); i > 0 && c == nil; i-- {
				c = byEnd[named("", keys[:i]...)]
			}
		}
		if c == nil {
			if id == "" {
				id = named("log-", keys...)
			}
			c = &logged{Conversation: Conversation{ID: id, At: n}}
			all = append(all, c)
		}
		if id != "" {
			byID[id] = c
		}
		delete(byEnd, named("", c.said...)) // it goes on: whatever else begins so is another
		fresh := newer(c.said, keys)
		c.said = append(c.said, keys[len(keys)-fresh:]...)
		c.Events = append(c.Events, openAIEvents(messages[len(messages)-fresh:], at)...)
		byEnd[named("", c.said...)] = c
	})
	out := []Conversation{}
	for _, c := range all {
		if c.Words() {
			out = append(out, c.Conversation)
		}
	}
	return out, bad, err
}

// newer is how many of a request's messages, the last ones, weren't said before.
func newer(said, keys []string) int {
	same := 0
	for same < len(said) && same < len(keys) && said[same] == keys[same] {
		same++
	}
	return len(keys) - same
}

func openAI(raw json.RawMessage) (messages []openAIMessage, id string, at time.Time, err error) {
	var l openAILine
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, "", at, fmt.Errorf("isn't a request in JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	messages = l.Messages
	switch {
	case l.Request != nil:
		messages = l.Request.Messages
	case l.Body != nil:
		messages = l.Body.Messages
	}
	answer := l.openAIAnswer
	if l.Response != nil {
		if answer = l.Response.openAIAnswer; l.Response.Body != nil {
			answer = *l.Response.Body
		}
	}
	if len(messages) == 0 {
		return nil, "", at, errors.New("has no messages")
	}
	if len(answer.Choices) > 0 {
		messages = append(messages, answer.Choices[0].Message)
	}
	for _, t := range []json.RawMessage{l.Timestamp, l.CreatedAt, answer.Created, l.Created} {
		if at.IsZero() {
			at = moment(t)
		}
	}
	for _, name := range []string{l.Conversation, l.Session} {
		if id == "" {
			id = name
		}
	}
	return messages, id, at, nil
}

func openAIEvents(messages []openAIMessage, at time.Time) []store.Event {
	var out []store.Event
	for _, m := range messages {
		text := openAIText(m.Content)
		e := store.Event{Time: at, Text: text}
		switch m.Role {
		case "user":
			e.Kind = store.UserInput
		case "assistant":
			e.Kind = store.FinalOutput
		case "tool", "function":
			e.Kind, e.Name, e.CallID = store.ToolResult, m.Name, m.CallID
		}
		if e.Kind != "" && strings.TrimSpace(text) != "" {
			out = append(out, e)
		}
		for _, c := range m.Calls {
			if c.Function.Name != "" {
				out = append(out, store.Event{Kind: store.ToolCall, Time: at, Name: c.Function.Name, CallID: c.ID, Text: c.Function.Arguments})
			}
		}
	}
	return out
}

// openAIText is the text of a content, which may be a list of parts.
func openAIText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what is neither has no words
	for _, p := range parts {
		text = strings.TrimLeft(text+"\n"+p.Text, "\n")
	}
	return strings.TrimSpace(text)
}

// lines hands each line over that isn't empty, with its number.
func lines(r *bufio.Reader, each func(n int, raw json.RawMessage)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for sc.Scan() {
		n++
		if raw := bytes.TrimSpace(bytes.TrimPrefix(sc.Bytes(), []byte("\ufeff"))); len(raw) > 0 {
			each(n, bytes.Clone(raw))
		}
	}
	if err := sc.Err(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the file: line %d: %w", n+1, err)
	}
	return nil
}
