package fakellm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hindsight/inject"
	"hindsight/store/index"
)

// view is what the conversation rules look at.
type view struct {
	words   string   // the last user message without the recalled notes
	thought string   // what it orders to be thought
	notes   []string // the recalled notes' texts, the last message's first
	tool    string   // the last message's text where it is a tool result
	errors  []string // earlier failing tool results since the last user message
	lastUse call     // the last tool call of the history
	rounds  int      // messages with tool calls since the last user message
	tools   []string // names of the tools offered
}

// rule answers a conversation that it fits. The first that fits answers.
type rule struct {
	name string
	fits func(view) bool
	then func(view) reply
}

// rules is the table by which the model talks.
func rules() []rule {
	return []rule{
		{"a failed tool is called again with the number that it proposes",
			func(v view) bool { return failed(v.tool) && proposal.MatchString(v.tool) && v.lastUse.name != "" },
			func(v view) reply {
				n := proposal.FindStringSubmatch(v.tool)[1]
				return reply{calls: []call{{v.lastUse.name, number.ReplaceAllString(v.lastUse.arguments, n)}}}
			}},
		{"the next step of a written order to call tools is followed",
			func(v view) bool { return v.tool != "" && len(v.ordered()) > 0 },
			func(v view) reply { return reply{calls: v.ordered()} }},
		{"a tool that worked after a failure",
			func(v view) bool { return v.tool != "" && len(v.errors) > 0 },
			func(v view) reply {
				return reply{text: "It works now: " + v.tool + " The first try failed: " + v.errors[len(v.errors)-1]}
			}},
		{"a tool's result is told",
			func(v view) bool { return v.tool != "" },
			func(v view) reply { return reply{text: "The tool says: " + v.tool} }},
		{"a written order to call a tool is followed",
			func(v view) bool { return len(v.ordered()) > 0 },
			func(v view) reply { return reply{calls: v.ordered()} }},
		{"a tool whose name is said is called, with the port that the notes know",
			func(v view) bool { return v.named() != "" },
			func(v view) reply {
				port := "8080"
				if note := best(v.notes, v.words); note != "" {
					if all := number.FindAllString(note, -1); len(all) > 0 {
						port = all[len(all)-1]
					}
				}
				return reply{calls: []call{{v.named(), `{"port":` + port + `}`}}}
			}},
		{"a question that a note answers",
			func(v view) bool { return asks(v.words) && best(v.notes, v.words) != "" },
			func(v view) reply {
				return reply{text: either(v.words, "您告诉过我："+best(v.notes, v.words), "You told me before: "+best(v.notes, v.words))}
			}},
		{"a question that nothing answers",
			func(v view) bool { return asks(v.words) },
			func(v view) reply {
				return reply{text: either(v.words, "这个我还不知道。", "I don't know that yet.")}
			}},
		{"a statement is noted",
			func(view) bool { return true },
			func(v view) reply {
				return reply{text: either(v.words, "好的，我记下了："+clip(v.words), "All right, noted: "+clip(v.words))}
			}},
	}
}

var (
	directive = regexp.MustCompile(`\[\[tool (\S+) (\{.*?\})\]\]`)
	thinking  = regexp.MustCompile(`\s*\[\[think ([^\]]*)\]\]`)
	reminder  = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	proposal  = regexp.MustCompile(`(?i)try (\d+)`)
	number    = regexp.MustCompile(`\d+`)
)

// decide answers a request by the table.
func decide(req request) reply {
	if slices.Contains(req.tools, schemaName) {
		return reply{calls: []call{{schemaName, reflect(req)}}}
	}
	if req.schema == schemaName || isReflection(req) {
		return reply{text: reflect(req)}
	}
	if req.schema == consolidationName || strings.HasPrefix(req.messages[len(req.messages)-1].text, "<notes>\n") {
		return reply{text: consolidate(req)}
	}
	v := look(req)
	for _, r := range rules() {
		if r.fits(v) {
			rep := r.then(v)
			rep.thought = v.thought
			return rep
		}
	}
	return reply{} // not reached: the last rule fits everything
}

func look(req request) view {
	v := view{tools: req.tools}
	for _, m := range req.messages {
		switch m.role {
		case "user":
			notes, words := split(m.text)
			if words == "" && m.text != "" {
				continue // reminders that an agent wrote, nothing said by a person
			}
			v.thought = ""
			if t := thinking.FindStringSubmatch(words); t != nil {
				v.thought, words = t[1], thinking.ReplaceAllString(words, "")
			}
			v.notes, v.words = append(notes, v.notes...), words
			v.errors, v.tool, v.rounds = nil, "", 0
		case "assistant":
			for _, c := range m.calls {
				v.lastUse = c
			}
			if len(m.calls) > 0 {
				v.rounds++
			}
			v.tool = ""
		case "tool":
			if v.tool = plain(m.text); failed(v.tool) {
				v.errors = append(v.errors, v.tool)
			}
		}
	}
	return v
}

// ordered is the calls that the words order now. Steps that wait for each
// other are parted by [[then]].
func (v view) ordered() []call {
	steps := strings.Split(v.words, "[[then]]")
	if v.rounds >= len(steps) {
		return nil
	}
	var calls []call
	for _, m := range directive.FindAllStringSubmatch(steps[v.rounds], -1) {
		calls = append(calls, call{m[1], m[2]})
	}
	return calls
}

// named is the offered tool whose name the words say.
func (v view) named() string {
	low := strings.ToLower(v.words)
	for _, t := range v.tools {
		if strings.Contains(low, strings.ToLower(t)) {
			return t
		}
	}
	return ""
}

// split parts a user message into the recalled notes in front of it and the
// person's own words; an agent's reminders, and quotes around it all, are
// neither.
func split(text string) (notes []string, words string) {
	words = plain(inject.Strip(text))
	if unquoted := ""; strings.HasPrefix(words, `"`) && json.Unmarshal([]byte(words), &unquoted) == nil {
		words = unquoted
	}
	for l := range strings.Lines(text) {
		if m := note.FindStringSubmatch(l); m != nil && inject.HasBlock(text) {
			notes = append(notes, strings.TrimSpace(m[1]))
		}
	}
	return notes, words
}

// plain is a text without the reminders that an agent wrote into it.
func plain(text string) string {
	if reminder.MatchString(text) {
		return strings.TrimSpace(reminder.ReplaceAllString(text, ""))
	}
	return text
}

// note is a line of a block: `- [id date] text`.
var note = regexp.MustCompile(`^- \[m\w+[^\]]*\] (.*)`)

func failed(tool string) bool { return strings.HasPrefix(strings.ToLower(tool), "error") }

var question = regexp.MustCompile(`(?i)[?？]\s*$|^(what|where|who|when|which|how|do|does|did|is|are|can)\b|[吗呢]|什么|哪|怎么|多少`)

func asks(words string) bool { return question.MatchString(strings.Trim(words, "\" \n\t")) }

// best is the note that shares most terms with the words, empty if none does.
func best(notes []string, words string) string {
	want := map[string]bool{}
	for _, t := range index.Terms(words) {
		want[t] = true
	}
	top, most := "", 0
	for _, n := range notes {
		shared := 0
		for _, t := range index.Terms(n) {
			if want[t] {
				shared++
			}
		}
		if shared > most {
			top, most = n, shared
		}
	}
	return top
}

func either(words, han, latin string) string {
	if strings.IndexFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) }) >= 0 {
		return han
	}
	return latin
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
