package extract

import (
	"strings"

	"hindsight/reflect/wording"
)

// retold finds lessons where results came without their calls, as a framework
// may report them: a failure, what the assistant says that it does next, and a
// result that is none. The assistant's words stand for the call.
func retold(m Material) []Candidate {
	var out []Candidate
	bad, said := -1, ""
	for i, e := range m.Events {
		switch {
		case e.Role == User:
			bad = -1
		case e.Role == Assistant && !e.Untrusted && bad >= 0:
			said = strings.TrimSpace(e.Text)
		case e.Role != Tool || e.Name != "" || e.CallID != "":
		case Failed(e):
			bad, said = i, ""
		case bad >= 0 && said != "":
			if c, ok := told(m, bad, i, said); ok {
				out = append(out, c)
			}
			bad = -1
		}
	}
	return out
}

func told(m Material, bad, good int, said string) (Candidate, bool) {
	symptom := firstLine(m.Events[bad].Text)
	if wording.Weight(symptom) < minQuote {
		return Candidate{}, false
	}
	said = strings.TrimRight(shorten(said, 160), ".。")
	text := symptom + ". Then the assistant: " + said + ". That worked."
	if inChinese(m) {
		text = symptom + "。助手随后：" + said + "。之后成功。"
	}
	return learned(m, bad, good, text, symptom, "")
}
