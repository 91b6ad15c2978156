// Package pairs measures how two statements that mean almost the same are told
// apart. It holds two sets that were written for it, each half in English and
// half in Chinese: updates, where the second statement makes another claim
// than the first, and paraphrases, where it says the same in other words.
//
// The sets guard against errors that were thought of. They prove nothing about
// what people say.
package pairs

import (
	"embed"
	"fmt"
	"strings"
)

// Pair is two statements about one thing, in the order in which they are made.
type Pair struct {
	Kind     string // what differs, or how the words do: number, date, order …
	Language string // "en" or "zh"
	First    string
	Then     string
}

//go:embed updates.en.txt updates.zh.txt paraphrases.en.txt paraphrases.zh.txt
var files embed.FS

// Updates are the pairs whose second statement makes another claim.
func Updates() ([]Pair, error) { return load("updates") }

// Paraphrases are the pairs whose second statement says the same.
func Paraphrases() ([]Pair, error) { return load("paraphrases") }

// load reads a set: a pair a line, its kind and statements parted by bars.
func load(set string) ([]Pair, error) {
	var out []Pair
	for _, lang := range []string{"en", "zh"} {
		name := set + "." + lang + ".txt"
		raw, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the pairs: %w", err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			f := strings.Split(line, " | ")
			if len(f) != 3 {
				return nil, fmt.Errorf("%s line %d: want kind | first | then", name, i+1)
			}
			out = append(out, Pair{Kind: strings.TrimSpace(f[0]), Language: lang, First: strings.TrimSpace(f[1]), Then: strings.TrimSpace(f[2])})
		}
	}
	return out, nil
}
