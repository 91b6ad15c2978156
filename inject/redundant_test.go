package inject

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"hindsight/store"
)

// redundant is one question to facts that were said several times, or changed.
type redundant struct {
	Lang     string
	Question string
	Answers  []string
	Memories []struct {
		Days          int
		Type          store.Type
		Subject, Text string
	}
}

// Telling duplicates and the versions of one subject once spares at least 40 % of
// what a redundant memory would inject, and loses no answer.
func TestRedundantMemoriesAreToldOnce(t *testing.T) {
	raw, err := os.ReadFile("testdata/redundant.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []redundant
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	d := &disk{}
	for i, c := range cases {
		for k, m := range c.Memories {
			if m.Type == "" {
				m.Type = store.UserFact
			}
			d.put(store.Memory{ID: fmt.Sprintf("m%02d%04d", i, k), Tenant: "t", Type: m.Type, Subject: m.Subject, Text: m.Text, CreatedAt: now.AddDate(0, 0, -m.Days)})
		}
	}
	once, always := d.engine(t, Config{}), d.engine(t, Config{})
	always.merge = func(in []*candidate) (lines []line) {
		for _, c := range in {
			lines = append(lines, line{memory: c.hit.Memory})
		}
		return lines
	}
	tokens, answered := map[string]int{}, 0
	for i, c := range cases {
		told := func(e *Engine, name string) string {
			p := e.Plan(t.Context(), talk(fmt.Sprint("s", i), c.Question))
			if len(p.Blocks) == 0 {
				return ""
			}
			tokens[name] += store.Tokens(p.Blocks[0].Text)
			tokens[name+" "+c.Lang] += store.Tokens(p.Blocks[0].Text)
			return p.Blocks[0].Text
		}
		merged, whole := told(once, "once"), told(always, "always")
		for _, a := range c.Answers {
			if strings.Contains(whole, a) {
				answered++
			}
			if strings.Contains(whole, a) && !strings.Contains(merged, a) {
				t.Errorf("%s\n%q is lost:\n%s\nwithout merging:\n%s", c.Question, a, merged, whole)
			}
		}
	}
	if answered < 20 {
		t.Errorf("only %d answers are found at all: the set shows nothing", answered)
	}
	for _, of := range []string{"", " en", " zh"} {
		fell := 1 - float64(tokens["once"+of])/float64(tokens["always"+of])
		t.Logf("tokens%s: %d, without merging %d: %.0f %% less", of, tokens["once"+of], tokens["always"+of], 100*fell)
		if of == "" && fell < 0.4 {
			t.Errorf("tokens fell by %.0f %%, want at least 40 %%", 100*fell)
		}
	}
}
