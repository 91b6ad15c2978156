package extract

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// step is a tool call with what came back.
type step struct {
	name, args string // args as a person would write them
	call, at   int    // the events of the call and of its result
	failed     bool
}

// steps are the calls whose results are known, in the order of the results.
func steps(m Material) []step {
	calls := map[string]int{}
	var out []step
	for i, e := range m.Events {
		switch {
		case e.CallID == "":
		case e.Role == ToolCall:
			calls[e.CallID] = i
		case e.Role == Tool && e.Name != "":
			if call, ok := calls[e.CallID]; ok {
				out = append(out, step{e.Name, plainArgs(m.Events[call].Text), call, i, Failed(e)})
			}
		}
	}
	return out
}

// plainArgs are a call's arguments: of a JSON object with one text in it, the
// text alone.
func plainArgs(s string) string {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(s), &o) != nil || len(o) != 1 {
		return strings.TrimSpace(s)
	}
	for _, v := range o {
		var text string
		if json.Unmarshal(v, &text) == nil {
			return strings.TrimSpace(text)
		}
	}
	return strings.TrimSpace(s)
}

// maxFix is how many calls between a failure and its end are told as the fix.
const maxFix = 2

// lessons finds what a session learned the hard way: a tool call that failed,
// and then either the same tool worked with other arguments of the same kind,
// or the very call worked after something else had been done. A symptom, what
// was tried, what worked, the cause if the assistant names it; the tool is the
// scope, and the tool is who said it. The same call that works again by
// itself teaches nothing.
func lessons(m Material) []Candidate {
	var out []Candidate
	all := steps(m)
	done := map[int]bool{} // steps that a lesson has used
	for i, bad := range all {
		symptom := firstLine(m.Events[bad.at].Text)
		if !bad.failed || bad.args == "" || wording.Weight(symptom) < minQuote {
			continue
		}
		var between []string
		for j := i + 1; j < len(all); j++ {
			good := all[j]
			if good.failed {
				if alike(bad, good) { // it is tried once more: the later failure has the lesson
					break
				}
				continue
			}
			same := good.name == bad.name && good.args == bad.args
			if !same && !alike(bad, good) {
				between = append(between, good.name+" "+shorten(good.args, 120))
				continue
			}
			if !done[j] && !(same && len(between) == 0) {
				done[j] = true
				fix := between[max(0, len(between)-maxFix):]
				if !same {
					fix = nil
				}
				if c, ok := lesson(m, bad, good, symptom, fix); ok {
					out = append(out, c)
				}
			}
			break
		}
	}
	return out
}

// alike says whether two calls try the same thing: one tool, and arguments
// that begin or mostly read the same, or name the same members.
func alike(a, b step) bool {
	if a.name != b.name || a.args == b.args {
		return a.name == b.name
	}
	var x, y map[string]json.RawMessage
	if json.Unmarshal([]byte(a.args), &x) == nil && json.Unmarshal([]byte(b.args), &y) == nil && len(x) == len(y) {
		return !slices.ContainsFunc(keys(x), func(k string) bool { return y[k] == nil })
	}
	return wording.Near(a.args, b.args) >= 0.4
}

func keys(m map[string]json.RawMessage) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// cause is an assistant's sentence that says why something failed.
var cause = regexp.MustCompile(`(?i)\b(?:because|the (?:root )?cause|due to|the (?:reason|problem|issue|culprit) (?:is|was))\b|原因|因为|由于|问题(?:出)?在`)

// causeBetween finds it between a failure and what worked, or right after.
func causeBetween(m Material, from, to int) string {
	for i := from + 1; i < min(to+2, len(m.Events)); i++ {
		e := m.Events[i]
		if e.Role != Assistant || e.Untrusted {
			continue
		}
		for _, s := range sentences(e.Text) {
			if cause.MatchString(s) && !strings.ContainsAny(s, "?？") && len([]rune(s)) <= 160 {
				return strings.TrimRight(s, ".。!！")
			}
		}
	}
	return ""
}

func lesson(m Material, bad, good step, symptom string, fix []string) (Candidate, bool) {
	was, now := shorten(bad.args, 120), shorten(good.args, 120)
	why := causeBetween(m, bad.at, good.at)
	var text string
	if inChinese(m) {
		text = bad.name + " 用 " + was + " 调用失败：" + symptom + "。"
		if fix == nil {
			text += "改用 " + now + " 后成功。"
		} else {
			text += "先执行 " + strings.Join(fix, "；") + "，再次调用成功。"
		}
		if why != "" {
			text += "助手给出的原因：" + why + "。"
		}
	} else {
		text = bad.name + " failed with " + was + ": " + symptom + "."
		if fix == nil {
			text += " It worked with " + now + "."
		} else {
			text += " It worked after " + strings.Join(fix, "; ") + "."
		}
		if why != "" {
			text += " Cause, as the assistant says: " + why + "."
		}
	}
	c, ok := learned(m, bad.at, good.at, text, symptom, bad.name)
	c.Scenario = scenario(m, bad.name)
	return c, ok
}

// learned makes a candidate of the text of a lesson, unless it holds a secret or
// an order.
func learned(m Material, bad, good int, text, symptom, tool string) (Candidate, bool) {
	if len([]rune(text)) > maxText || HoldsSecret(text) || isOrder(text, store.ByTool) {
		return Candidate{}, false
	}
	e := m.Events[good]
	return Candidate{
		Type: store.ErrorLesson, Text: text, Subject: tool, Importance: ruleImportance, Confidence: lessonConfidence,
		By: store.ByTool, Turn: e.Turn, Time: e.Time, Quote: symptom, Context: around(m.Events, bad), Relation: New,
	}, true
}

// scenario says when a lesson about a tool will be useful.
func scenario(m Material, tool string) string {
	if inChinese(m) {
		return "再次使用 " + tool + " 时"
	}
	return "when " + tool + " is used again"
}

// inChinese says whether the user writes mainly Chinese.
func inChinese(m Material) bool {
	var words strings.Builder
	for _, e := range m.Events {
		if e.Role == User {
			words.WriteString(e.Text + "\n")
		}
	}
	return wording.Han(words.String())
}

// firstLine is the first line of an error that says something.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); wording.Weight(line) >= minQuote {
			if r := []rune(line); len(r) > 200 { // cut, not shortened: the quote stays verbatim
				line = string(r[:200])
			}
			return strings.TrimRight(line, ".。")
		}
	}
	return ""
}
