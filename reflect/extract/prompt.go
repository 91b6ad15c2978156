package extract

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// intro and shown make the fixed part of the question.
var (
	//go:embed prompt.txt
	intro string
	//go:embed examples.json
	shown []byte
)

// Fixed is the part of the question that is the same bytes in every call of a
// strategy, so that a provider's prompt cache holds it: what to do, and
// examples of statements that are kept and of conversations that teach nothing.
func (s Strategy) Fixed() string {
	if text, ok := fixed.Load(s.orDefault()); ok {
		return text.(string)
	}
	text := s.orDefault().fixed()
	fixed.Store(s.orDefault(), text)
	return text
}

var fixed sync.Map // of strings, by Strategy

func (s Strategy) fixed() string {
	var b strings.Builder
	b.WriteString(s.wordings().Replace(intro))
	var all []struct {
		Events   []json.RawMessage
		Existing []json.RawMessage
		Items    []item
	}
	if err := json.Unmarshal(shown, &all); err != nil {
		panic("extract: examples.json: " + err.Error()) // a fault of the build, which every test sees
	}
	for _, e := range all {
		b.WriteString("\n")
		for _, line := range e.Events {
			b.Write(line)
			b.WriteString("\n")
		}
		for _, line := range e.Existing {
			b.WriteString("<existing> ")
			b.Write(line)
			b.WriteString("\n")
		}
		b.WriteString("-> ")
		writeLine(&b, s.sample(e.Items))
	}
	return b.String()
}

// answered is a whole answer.
type answered struct {
	Items    []item   `json:"items"`
	Scores   *[]score `json:"scores,omitempty"`
	Injected []string `json:"injected"`
}

// sample is an example's answer in the strategy's own form.
func (s Strategy) sample(items []item) answered {
	out := answered{Items: []item{}, Injected: []string{}}
	if s.orDefault() == Score {
		out.Scores = &[]score{}
	}
	for i, it := range items {
		if out.Scores != nil {
			*out.Scores = append(*out.Scores, score{Item: i + 1, Useful: *it.Useful, Lasting: *it.Lasting})
			it.Importance = nil
		}
		if s.orDefault() != Contrast {
			it.Without, it.With = nil, nil
		}
		it.Useful, it.Lasting = nil, nil
		out.Items = append(out.Items, it)
	}
	return out
}

func writeLine(b *strings.Builder, v any) {
	enc := json.NewEncoder(b) // ends each value with a newline
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings, numbers and times only
}

type eventLine struct {
	ID        string    `json:"id"`
	Role      Role      `json:"role"`
	Turn      int       `json:"turn"`
	Time      time.Time `json:"time"`
	Name      string    `json:"name,omitempty"`
	Text      string    `json:"text"`
	Failed    bool      `json:"failed,omitempty"`
	Untrusted bool      `json:"untrusted,omitempty"`
}

type noteLine struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Text string `json:"text"`
}

// Prompt is the question about a material: the fixed part, and the data as one
// JSON object a line. A line can't be left from inside: JSON escapes its ends.
// Secrets and characters that nobody sees are taken out before anything leaves
// the house.
func Prompt(m Material) (fixed, data string) { return m.Strategy.Fixed(), question(m) }

func question(m Material) string {
	var b strings.Builder
	if m.Instructions != "" {
		b.WriteString("What the operator cares about:\n" + strings.TrimSpace(m.Instructions) + "\n\n")
	}
	b.WriteString(saidBefore(m.Before))
	b.WriteString("Look back at this part of a conversation.\n<events>\n")
	for _, e := range m.Events {
		writeLine(&b, eventLine{e.ID, e.Role, e.Turn, e.Time.Truncate(time.Second), e.Name, Redact(visible(e.Text)), Failed(e) && e.Role == Tool, e.Untrusted})
	}
	b.WriteString("</events>\n<existing>\n")
	for _, n := range m.Existing {
		writeLine(&b, noteLine{n.ID, string(n.Type), visible(n.Text)})
	}
	b.WriteString("</existing>\n<injected>\n")
	for _, n := range m.Injected {
		writeLine(&b, noteLine{n.ID, string(n.Type), visible(n.Text)})
	}
	b.WriteString("</injected>\n")
	return b.String()
}
