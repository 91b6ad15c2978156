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

// No update is ever taken for a duplicate, whatever a model says of it; nine
// paraphrases in ten become one memory where a model says so.
func TestPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	updates, err := Updates()
	if err != nil {
		t.Fatal(err)
	}
	paraphrases, err := Paraphrases()
	if err != nil {
		t.Fatal(err)
	}
	for name, judge := range map[string]Judge{"no model": None, "a true judge": True, "a credulous judge": Credulous} {
		merged, replaced := 0, 0
		for _, r := range Run(updates, true, judge) {
			switch r.Fate {
			case Merged:
				merged++
				t.Errorf("%s: an update was taken for a duplicate: %s | %s", name, r.First, r.Then)
			case Replaced:
				replaced++
			}
		}
		same, retired := 0, 0
		for _, r := range Run(paraphrases, false, judge) {
			switch r.Fate {
			case Merged:
				same++
			case Replaced:
				retired++
				t.Logf("%s: retired by its paraphrase: %s | %s", name, r.First, r.Then)
			default:
				t.Logf("%s: stand side by side: %s | %s", name, r.First, r.Then)
			}
		}
		t.Logf("%s: of 200 updates %d merged, %d replaced; of 200 paraphrases %d merged, %d replaced", name, merged, replaced, same, retired)
		if name == "a true judge" && (same < 180 || replaced < 180) {
			t.Errorf("%s: %d paraphrases merged, %d updates replaced", name, same, replaced)
		}
	}
}
