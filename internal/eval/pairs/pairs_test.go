package pairs

import "testing"

func TestSets(t *testing.T) {
	for name, set := range map[string]func() ([]Pair, error){"updates": Updates, "paraphrases": Paraphrases} {
		all, err := set()
		if err != nil {
			t.Fatal(err)
		}
		chinese := 0
		seen := map[string]bool{}
		for _, p := range all {
			if p.Language == "zh" {
				chinese++
			}
			if p.First == p.Then || p.First == "" || p.Then == "" || seen[p.First+p.Then] {
				t.Errorf("%s: %q", name, p)
			}
			seen[p.First+p.Then] = true
		}
		if len(all) != 200 || chinese != 100 {
			t.Errorf("%s: %d pairs, %d in Chinese", name, len(all), chinese)
		}
	}
}
