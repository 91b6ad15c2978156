package main

import (
	"fmt"

	"hindsight/internal/eval/pairs"
)

type evalPairsCmd struct{}

// pairsRow is what a judge and the code made of one set in one language.
type pairsRow struct {
	Set      string `json:"set"`
	Judge    string `json:"judge"`
	Language string `json:"language"`
	Pairs    int    `json:"pairs"`
	Merged   int    `json:"merged"`
	Replaced int    `json:"replaced"`
}

// Run gives the sets that come with the binary to reflection, without a model
// and with two scripted ones. It fails where an update was taken for a
// duplicate.
func (c *evalPairsCmd) Run(a *app) error {
	updates, err := pairs.Updates()
	if err != nil {
		return err
	}
	paraphrases, err := pairs.Paraphrases()
	if err != nil {
		return err
	}
	var rows []pairsRow
	lost := 0
	for _, j := range []struct {
		name string
		says pairs.Judge
	}{{"no model", pairs.None}, {"always right", pairs.True}, {"same to all", pairs.Credulous}} {
		for _, set := range []struct {
			name   string
			of     []pairs.Pair
			update bool
		}{{"updates", updates, true}, {"paraphrases", paraphrases, false}} {
			results := pairs.Run(set.of, set.update, j.says)
			for _, lang := range []string{"en", "zh"} {
				merged, all := pairs.Count(results, lang, pairs.Merged)
				replaced, _ := pairs.Count(results, lang, pairs.Replaced)
				rows = append(rows, pairsRow{set.name, j.name, lang, all, merged, replaced})
				if set.update {
					lost += merged
				}
			}
		}
	}
	if a.json {
		if err := a.printJSON(map[string]any{"rows": rows}); err != nil {
			return err
		}
	} else {
		for _, r := range rows {
			fmt.Fprintf(a.out, "%-12s %-13s %s: of %d, %3d merged (%.0f %%), %3d replaced\n",
				r.Set, r.Judge, r.Language, r.Pairs, r.Merged, 100*float64(r.Merged)/float64(r.Pairs), r.Replaced)
		}
	}
	if lost > 0 {
		return &failure{wrong: fmt.Sprintf("%d updates were taken for duplicates", lost)}
	}
	return nil
}
