package explain

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Lang is a language that people are spoken to in.
type Lang string

// The languages. English stands for all that are neither.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// Preferred is the language that an Accept-Language header wants most.
func Preferred(header string) Lang {
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return English
	}
	for _, t := range tags { // the most wanted first
		switch base, _ := t.Base(); base.String() {
		case "zh":
			return Chinese
		case "en":
			return English
		}
	}
	return English
}

// Locale is the language of a locale's name, such as zh_CN.UTF-8.
func Locale(name string) Lang {
	if tongue, _, _ := strings.Cut(name, "_"); tongue == string(Chinese) {
		return Chinese
	}
	return English
}

// Space is what stands between two sentences.
func (l Lang) Space() string {
	if l == Chinese {
		return ""
	}
	return " "
}

// Catalog is text by key: English first, then Chinese.
type Catalog map[string][2]string

// Read reads a catalog from JSON.
func Read(raw []byte) (Catalog, error) {
	c := Catalog{}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("read a catalog of texts: %w", err)
	}
	return c, nil
}

// Text returns the text of a key in a language, and whether there is one.
func (c Catalog) Text(l Lang, key string) (string, bool) {
	pair, ok := c[key]
	if l == Chinese {
		return pair[1], ok
	}
	return pair[0], ok
}

//go:embed words.json
var raw []byte

// catalog is read once; the tests hold the embedded file.
var catalog = sync.OnceValue(func() Catalog {
	c, err := Read(raw)
	if err != nil {
		return Catalog{} // every word is then shown as it is
	}
	return c
})

// word is the text of a word of the contract, or the word where it is unknown.
func (l Lang) word(kind, word string) string {
	if text, ok := catalog().Text(l, kind+"."+word); ok {
		return text
	}
	return word
}

func (l Lang) optional(kind, word string) string {
	text, _ := catalog().Text(l, kind+"."+word)
	return text
}
