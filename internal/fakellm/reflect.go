package fakellm

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
)

// schemaName names the schema that reflection asks for.
const schemaName = "hindsight_memories"

// event is one line of the material that reflection sends.
type event struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Turn int    `json:"turn"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// item is one memory of the answer.
type item struct {
	Type           string   `json:"type"`
	Text           string   `json:"text"`
	Subject        string   `json:"subject"`
	Scenario       string   `json:"scenario"`
	Importance     float64  `json:"importance"`
	Confidence     float64  `json:"confidence"`
	Standing       bool     `json:"standing"`
	SaidBy         string   `json:"said_by"`
	Events         []string `json:"events"`
	Quote          string   `json:"quote"`
	TimeExpression string   `json:"time_expression"`
	Relation       string   `json:"relation"`
	RelationID     string   `json:"relation_id"`
}

// lesson is a rule of reflection: what a user's sentence teaches. Text may
// name the expression's groups ($1); empty means the sentence itself.
type lesson struct {
	re         *regexp.Regexp
	typ        string
	text       string
	subject    string
	importance float64
	standing   bool
}

// lessons is the table by which the model reflects. The last lines are what a
// small model gets wrong in real life: the proxy has to refuse them.
func lessons() []lesson {
	l := func(re, typ, text, subject string, importance float64, standing bool) lesson {
		return lesson{regexp.MustCompile(re), typ, text, subject, importance, standing}
	}
	return []lesson{
		l(`(?i)\bmy name is (\p{L}+)`, "user_fact", "The user's name is $1.", "name", 0.9, false),
		l(`(?i)\bI live in (\p{L}+)`, "user_fact", "The user lives in $1.", "home", 0.8, false),
		l(`(?i)\bI prefer ([^.!?]+)`, "preference", "The user prefers $1.", "preference", 0.8, false),
		l(`(?i)^from now on,? ([^.!?]+)`, "preference", "From now on: $1.", "standing wish", 0.9, true),
		l(`(?i)\bmy (\p{L}+) is ([\p{L}\d-]+)`, "user_fact", "The user's $1 is $2.", "$1", 0.8, false),
		l(`(?i)the fix (was|is) `, "solution", "", "fix", 0.8, false),
		l(`我叫([\p{Han}A-Za-z]+)`, "user_fact", "用户叫$1。", "名字", 0.9, false),
		l(`我住在([\p{Han}]+)`, "user_fact", "用户住在$1。", "住处", 0.8, false),
		l(`喜欢([^，。！？]+)`, "preference", "用户喜欢$1。", "喜好", 0.8, false),
		l(`^以后([^。！？]+)`, "preference", "以后$1。", "长期要求", 0.9, true),
		l(`解决办法是`, "solution", "", "解决办法", 0.8, false),
		l(`(?i)\b(api key|password|token) is (\S*[^\s.!?])`, "user_fact", "The user's $1 is $2.", "$1", 0.9, false),
		l(`(?i)\b(weather|lovely|thanks)\b|天气|谢谢`, "event", "", "small talk", 0.3, false),
	}
}

// isReflection recognises the request where the server is asked for an object
// without a schema: by the material's own marks.
func isReflection(req request) bool {
	return req.format != "" && strings.Contains(req.messages[len(req.messages)-1].text, "\n<events>\n")
}

// reflect answers a reflection by the table.
func reflect(req request) string {
	material := req.messages[len(req.messages)-1].text
	var events []event
	lines(material, "<events>", "</events>", func(line []byte) {
		var e event
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	})
	items := []item{}
	var failure *event
	for i, e := range events {
		switch e.Role {
		case "user":
			items = append(items, taught(e)...)
		case "tool":
			if failed(e.Text) {
				failure = &events[i]
				continue
			}
			if failure != nil && failure.Name == e.Name {
				items = append(items, item{
					Type: "error_lesson", Text: e.Name + ": " + strings.TrimSuffix(failure.Text, ".") + ". What worked: " + e.Text,
					Subject: e.Name, Scenario: "when " + e.Name + " is used again", Importance: 0.8, Confidence: 0.9,
					SaidBy: "tool", Events: []string{failure.ID, e.ID}, Quote: failure.Text, Relation: "new",
				})
			}
			failure = nil
		}
	}
	out := map[string]any{"items": items, "injected": verdicts(material, events)}
	b, _ := json.Marshal(out) // strings, numbers and booleans only
	return string(b)
}

var sentence = regexp.MustCompile(`[^.!?。！？\n]+(?:\.\d+[^.!?。！？\n]*)*[.!?。！？]?`)

func taught(e event) []item {
	var items []item
	for _, s := range sentence.FindAllString(e.Text, -1) {
		s = strings.TrimSpace(s)
		for _, l := range lessons() {
			m := l.re.FindStringSubmatchIndex(s)
			if m == nil {
				continue
			}
			text := s
			if l.text != "" {
				text = string(l.re.ExpandString(nil, l.text, s, m))
			}
			items = append(items, item{
				Type: l.typ, Text: text, Subject: string(l.re.ExpandString(nil, l.subject, s, m)),
				Importance: l.importance, Confidence: 0.9, Standing: l.standing, SaidBy: "user",
				Events: []string{e.ID}, Quote: s, Relation: "new",
			})
			break
		}
	}
	return items
}

// verdicts calls an injected memory used where the assistant's words hold it.
func verdicts(material string, events []event) []map[string]string {
	out := []map[string]string{}
	lines(material, "<injected>", "</injected>", func(line []byte) {
		var m struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == "" {
			return
		}
		verdict := "ignored"
		for _, e := range events {
			if e.Role == "assistant" && m.Text != "" && strings.Contains(e.Text, m.Text) {
				verdict = "used"
			}
		}
		out = append(out, map[string]string{"id": m.ID, "verdict": verdict})
	})
	return out
}

// lines calls f with each line between the lines open and shut.
func lines(s, open, shut string, f func([]byte)) {
	in := false
	sc := bufio.NewScanner(strings.NewReader(s))
	sc.Buffer(nil, 4<<20)
	for sc.Scan() {
		switch line := sc.Text(); {
		case line == open:
			in = true
		case line == shut:
			return
		case in:
			f(sc.Bytes())
		}
	}
}
