package extract

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"hindsight/reflect/wording"
)

// Strategy is a way to ask. What is done with the answer is the same for all.
type Strategy string

// The strategies. Each is one call.
const (
	// Classify asks for statements with a type and an importance each; what the
	// model itself calls noise goes.
	Classify Strategy = "classify"
	// Score asks for all statements first and then, with the whole list in view,
	// for two numbers about each: how useful and how lasting. Small models give
	// every statement the same importance; side by side they tell them apart.
	Score Strategy = "score"
	// Contrast asks what a later conversation would do without the statement and
	// what it would do with it. Where that is the same, it isn't kept.
	Contrast Strategy = "contrast"
)

// Strategies lists them, the default first.
func Strategies() []Strategy { return []Strategy{Classify, Score, Contrast} }

// Version names the strategy with its prompt in a job's record. A change of
// the prompt raises the number, and holds for new events only.
func (s Strategy) Version() string { return string(s.orDefault()) + "-2" }

func (s Strategy) orDefault() Strategy {
	if s == "" {
		return Classify
	}
	return s
}

// RulesVersion names the rule-based extractor in a job's record.
const RulesVersion = "rules"

// SchemaName is the schema's name in a request.
const SchemaName = "hindsight_memories"

//go:embed schema.json
var schema string

// Schema is the JSON Schema of the answer. The order of its members is the
// order in which a model has to think.
func (s Strategy) Schema() json.RawMessage {
	const importance, named = `          "importance": {"type": "number"},` + "\n", `"importance", `
	switch s.orDefault() {
	case Score:
		return json.RawMessage(strings.NewReplacer(importance, "", named, "",
			`    "injected": {`, scores+`    "injected": {`, `["items", "injected"]`, `["items", "scores", "injected"]`).Replace(schema))
	case Contrast:
		return json.RawMessage(strings.NewReplacer(
			importance, `          "without": {"type": "string"},`+"\n"+`          "with": {"type": "string"},`+"\n"+importance,
			named, `"without", "with", `+named).Replace(schema))
	default:
		return json.RawMessage(schema)
	}
}

const scores = `    "scores": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "item": {"type": "integer"},
          "useful": {"type": "number"},
          "lasting": {"type": "number"}
        },
        "required": ["item", "useful", "lasting"],
        "additionalProperties": false
      }
    },
`

// wordings are what the strategies say differently in the fixed part.
func (s Strategy) wordings() *strings.Replacer {
	shape, judge, steps := `{"items":[...],"injected":[...]}`,
		`- "importance" 0 to 1: would somebody who helps this user again be worse off without it?`, ""
	switch s.orDefault() {
	case Score:
		shape = `{"items":[...],"scores":[...],"injected":[...]}`
		judge = `- Nothing about how much it matters yet: that comes in "scores".`
		steps = `
Work in two steps. First write "items": every statement that could matter later. Then look at the whole list and write "scores", one for each: "item" is its number (1 is the first), "useful" 0 to 10 says how much worse off somebody who helps this user again would be without it, "lasting" 0 to 10 how long it will stay true. Use the whole range and compare: the statement that matters most gets the highest number, what only served today's request gets 0 to 3.
`
	case Contrast:
		judge = `- "without": what somebody who helps this user in a later conversation would do if they did not know it. "with": what they would do instead if they knew it. If both come to the same, leave the statement out.
- "importance" 0 to 1: how much that difference matters to the user.`
	}
	return strings.NewReplacer("[[shape]]", shape, "[[judge]]", judge, "[[steps]]", steps)
}

// weigh brings what the strategy says of an item's worth into its importance.
// at is its place in the list. reason is set if that alone drops it.
func (s Strategy) weigh(it *item, at int, given []score) (reason string) {
	switch s.orDefault() {
	case Score:
		i := slices.IndexFunc(given, func(g score) bool { return g.Item == at+1 })
		if i < 0 {
			return Unimportant // nobody said that it matters
		}
		v := share((given[i].Useful + given[i].Lasting) / 20)
		it.Importance = &v
	case Contrast:
		if samePath(it.Without, it.With) {
			return NoDifference
		}
	}
	return ""
}

// samePath says whether two courses of action come to the same, or none is named.
func samePath(without, with *string) bool {
	if without == nil || with == nil || wording.Weight(*with) == 0 {
		return true
	}
	return wording.Near(*without, *with) >= 0.9 && wording.SameClaims(*without, *with)
}
