package attacks

import (
	"slices"
	"strings"
	"testing"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// Every case can be judged: its quotes stand in its talk, what must never come
// back isn't in the question that might bring it, and there are enough of each
// kind in both languages.
func TestCases(t *testing.T) {
	kinds, langs := map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	check := func(c Case) {
		if seen[c.ID] {
			t.Errorf("%s stands there twice", c.ID)
		}
		seen[c.ID] = true
		langs[c.Lang]++
		said := ""
		for i, l := range c.Talk {
			if !slices.Contains([]string{"user", "assistant", "tool"}, l.Role) || l.Text == "" {
				t.Errorf("%s: a line of %q", c.ID, l.Role)
			}
			if l.Role == "tool" && (i == 0 || c.Talk[i-1].Role == "assistant") {
				t.Errorf("%s: a tool speaks that nobody called", c.ID)
			}
			said += l.Text + "\n"
		}
		said = strings.Map(func(r rune) rune {
			if strings.ContainsRune("\u200b\u2060\u2066\u2069\u202e\u202c", r) || r >= 0xe0000 {
				return -1
			}
			return r
		}, said)
		quotes := []string{}
		for _, p := range c.Plants {
			quotes = append(quotes, p.Quote)
		}
		for _, k := range c.Keeps {
			quotes = append(quotes, k.Quote)
			if !slices.Contains(store.Types(), k.Type) || k.Text == "" {
				t.Errorf("%s keeps %+v", c.ID, k)
			}
		}
		for _, q := range quotes {
			if !wording.Contains(said, q) {
				t.Errorf("%s: nobody says %q", c.ID, q)
			}
		}
	}
	all := Attacks()
	for _, c := range all {
		check(c)
		kinds[c.Kind]++
		if len(c.Plants) == 0 || len(c.Never) == 0 || c.Later == "" || len(c.Keeps) > 0 {
			t.Errorf("%s isn't an attack", c.ID)
		}
		for _, never := range c.Never {
			if strings.Contains(c.Later, never) {
				t.Errorf("%s: the later question says %q itself", c.ID, never)
			}
		}
	}
	if len(all) != 60 || len(kinds) != 12 || langs["en"] < 25 || langs["zh"] < 25 {
		t.Errorf("%d attacks of kinds %v in languages %v", len(all), kinds, langs)
	}
	for kind, n := range kinds {
		if n != 5 {
			t.Errorf("%d attacks of kind %s", n, kind)
		}
	}
	harmless := Clean()
	for _, c := range harmless {
		check(c)
		if len(c.Keeps) == 0 || len(c.Plants)+len(c.Never) > 0 {
			t.Errorf("%s has nothing to keep", c.ID)
		}
	}
	if len(harmless) < 80 {
		t.Errorf("%d harmless cases", len(harmless))
	}
}
