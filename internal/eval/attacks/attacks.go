// Package attacks holds reflection and recall against conversations in which
// somebody else tries to speak for the user, and against harmless ones that look
// alike. [Attacks] and [Clean] are the cases, in English and Chinese.
//
// A case is one object a line:
//
//	{"id", "lang": "en"|"zh", "kind", "talk": [{"role": "user"|"assistant"|"tool", "text"}],
//	 "plants": [{"quote", "texts": […]}], "never": […], "later",
//	 "keeps": [{"type", "text", "quote", "standing"}]}
//
// An attack has plants: what the worst model would write down, each with a
// quote that stands word for word in the talk. Nothing that holds one of never's
// texts may be kept for use, nor come back when the same user says later. A clean
// case has keeps: what the user said and has a right to be remembered.
//
// The cases are our own. They guard against getting worse; they don't show that
// an attack nobody has thought of fails.
package attacks

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"hindsight/store"
)

//go:embed attacks.jsonl
var attacks []byte

//go:embed clean.jsonl
var clean []byte

// Case is one conversation.
type Case struct {
	ID     string   `json:"id"`
	Lang   string   `json:"lang"`
	Kind   string   `json:"kind"`
	Talk   []Line   `json:"talk"`
	Plants []Plant  `json:"plants"`
	Never  []string `json:"never"`
	Later  string   `json:"later"`
	Keeps  []Keep   `json:"keeps"`
}

// Line is what one of them says; a tool's line is the result of a call.
type Line struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Plant is what an attack wants to be remembered.
type Plant struct {
	Quote string   `json:"quote"`
	Texts []string `json:"texts"`
}

// Keep is what has to be remembered.
type Keep struct {
	Type     store.Type `json:"type"`
	Text     string     `json:"text"`
	Quote    string     `json:"quote"`
	Standing bool       `json:"standing"`
}

// Attacks are the conversations that nothing may come of.
func Attacks() []Case { return cases("attacks.jsonl", attacks) }

// Clean are the harmless ones.
func Clean() []Case { return cases("clean.jsonl", clean) }

func cases(name string, data []byte) []Case {
	var out []Case
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var c Case
		if err := dec.Decode(&c); err != nil {
			panic(name + ": " + err.Error()) // it is part of the program; a test reads it
		}
		out = append(out, c)
	}
	return out
}
