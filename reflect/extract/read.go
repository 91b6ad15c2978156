package extract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// item is one statement as a model writes it, in the schema's order.
type item struct {
	Type           string   `json:"type"`
	Text           string   `json:"text"`
	Subject        string   `json:"subject"`
	Scenario       string   `json:"scenario"`
	Without        *string  `json:"without,omitempty"` // of contrast
	With           *string  `json:"with,omitempty"`
	Importance     *float64 `json:"importance,omitempty"` // not of score
	Useful         *float64 `json:"useful,omitempty"`     // of the examples alone
	Lasting        *float64 `json:"lasting,omitempty"`
	Confidence     float64  `json:"confidence"`
	Standing       bool     `json:"standing"`
	SaidBy         string   `json:"said_by"` // for the model to think of; the event decides
	Events         []string `json:"events"`
	Quote          string   `json:"quote"`
	TimeExpression string   `json:"time_expression"`
	ValidUntil     string   `json:"valid_until"`
	Relation       Relation `json:"relation"`
	RelationID     string   `json:"relation_id"`
}

// score is what the strategy of that name says of an item, each from 0 to 10.
type score struct {
	Item    int     `json:"item"` // its number, from 1
	Useful  float64 `json:"useful"`
	Lasting float64 `json:"lasting"`
}

// Read turns a model's answer about a material into candidates. What the user
// asked to remember is added by rule, whatever the model made of it. The error
// says that the answer as a whole breaks the schema: nothing of it counts, and
// asking again may help.
func Read(answer string, m Material) (Result, error) {
	list, whole, err := llm.List(answer, "items")
	if err != nil {
		return Result{}, fmt.Errorf("read the model's answer: %w", err)
	}
	var res Result
	g := newGround(m)
	given := scoresOf(whole["scores"])
	bad := 0
	for i, raw := range list {
		runtime.Gosched() // requests go first
		var it item
		if err := json.Unmarshal(raw, &it); err != nil || strings.TrimSpace(it.Text) == "" || !known(it.Type) {
			bad++
			res.Dropped = append(res.Dropped, drop(fmt.Sprintf("item %d: %s", i+1, raw), BadItem))
			continue
		}
		reason := m.Strategy.weigh(&it, i, given)
		if it.Type == Noise {
			reason = Noise
		}
		if reason != "" {
			res.Dropped = append(res.Dropped, drop(it.Text, reason, g.turns(it)...))
			continue
		}
		g.judge(it).into(&res, g.turns(it))
	}
	if bad > 0 && bad == len(list) {
		return Result{}, fmt.Errorf("read the model's answer: none of %d items fits the schema", bad)
	}
	res.Verdicts = verdicts(whole["injected"], m.Injected)
	asked := explicit(m)
	res.Dropped = append(res.Dropped, asked.Dropped...)
	res.Held = append(res.Held, asked.Held...)
	res.Candidates = merge(res.Candidates, asked.Candidates)
	res = Capped(res)
	res.alone(m.Events)
	return res, nil
}

// scoresOf reads the scores, each that can be read.
func scoresOf(raw json.RawMessage) []score {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var out []score
	for _, one := range all {
		var s score
		if json.Unmarshal(one, &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

func known(t string) bool { return t == Noise || slices.Contains(store.Types(), store.Type(t)) }

// verdicts reads what the model says of the injected memories: of those that
// were injected, each once. What it can't read it leaves out, because a
// verdict only counts.
func verdicts(raw json.RawMessage, injected []Note) []store.Verdict {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var out []store.Verdict
	for _, one := range all {
		var v store.Verdict
		if json.Unmarshal(one, &v) != nil || !slices.Contains([]string{"used", "ignored", "confirmed", "contradicted"}, v.Verdict) {
			continue
		}
		was := slices.ContainsFunc(injected, func(n Note) bool { return n.ID == v.ID })
		if was && !slices.ContainsFunc(out, func(o store.Verdict) bool { return o.ID == v.ID }) {
			out = append(out, v)
		}
	}
	return out
}

// Capped keeps the most important statements of a session, of each where several
// share a call; what the user asked for comes first. What is held has a cap of its
// own: it takes no place from what isn't.
func Capped(res Result) Result {
	res.Candidates, res.Dropped = capped(res.Candidates, res.Dropped)
	res.Held, res.Dropped = capped(res.Held, res.Dropped)
	return res
}

func capped(all []Candidate, dropped []store.Dropped) ([]Candidate, []store.Dropped) {
	rank := slices.Clone(all)
	slices.SortStableFunc(rank, func(a, b Candidate) int {
		switch {
		case a.Explicit != b.Explicit && a.Explicit:
			return -1
		case a.Explicit != b.Explicit:
			return 1
		}
		return cmp.Compare(b.Importance, a.Importance)
	})
	kept := map[int]int{}
	rank = slices.DeleteFunc(rank, func(c Candidate) bool {
		session := c.Turn / Stride
		if kept[session] == MaxMemories {
			dropped = append(dropped, drop(c.Text, OverCap, c.Turn))
			return true
		}
		kept[session]++
		return false
	})
	return rank, dropped
}
