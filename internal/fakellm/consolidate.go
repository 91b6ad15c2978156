package fakellm

import (
	"encoding/json"
	"strings"
)

// consolidationName names the schema that a consolidation asks for.
const consolidationName = "hindsight_consolidation"

// consolidate puts the notes together as they are.
func consolidate(req request) string {
	var texts []string
	lines(req.messages[len(req.messages)-1].text, "<notes>", "</notes>", func(line []byte) {
		var n struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(line, &n) == nil {
			texts = append(texts, n.Text)
		}
	})
	b, _ := json.Marshal(map[string]any{"memories": []any{ // strings only
		map[string]string{"text": strings.Join(texts, " "), "scenario": "when it comes up again"},
	}})
	return string(b)
}
