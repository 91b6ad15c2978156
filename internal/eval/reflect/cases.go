// Package reflecteval holds reflection against conversations whose answer is
// known: what has to be found in them, what must never be kept, which earlier
// memory they replace. [Load] reads the cases, [Measure] has a [Product]
// reflect each and counts, [Report.Table] prints the counts.
//
// The form of a file is an object `{"cases":[…]}` of [Case]s. The product is
// asked as it is, with whatever model is configured; this package knows none.
package reflecteval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hindsight/store"
)

// Case is one conversation and what reflection should make of it.
type Case struct {
	ID       string     `json:"id"`
	Lang     string     `json:"lang"`
	Prior    []Prior    `json:"prior_memories"`
	Messages []Message  `json:"messages"`
	Expected []Expected `json:"expected"`
	// ExpectNothing says that no memory at all may come of it.
	ExpectNothing bool     `json:"expect_nothing"`
	MustNotStore  []string `json:"must_not_store"` // in no part of any memory
	MaxMemories   *int     `json:"max_memories"`   // left out: any number
	Supersedes    []int    `json:"supersedes"`     // indices of Prior that have to be replaced
}

// Prior is a memory that exists before the conversation.
type Prior struct {
	Type       store.Type `json:"type"`
	Content    string     `json:"content"`
	Importance float64    `json:"importance"`
}

// Message is one message; role is user, assistant, tool or system. Without
// times, messages follow each other a minute apart, up to now.
type Message struct {
	Role    string    `json:"role"`
	Content string    `json:"content"`
	Time    time.Time `json:"time"`
}

// Expected is a memory that has to be found: of one of the types, with a phrase
// of every group of Must in its text and none of MustNot.
type Expected struct {
	Types   []store.Type `json:"types"`
	Must    [][]string   `json:"must"`
	MustNot []string     `json:"must_not"`
}

// Load reads the cases of a file, or of all *.json files of a folder. The error
// names the file and the case.
func Load(path string) ([]Case, error) {
	files := []string{path}
	if st, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	} else if st.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil || len(files) == 0 {
			return nil, fmt.Errorf("read cases: no *.json in %s: %w", path, errors.Join(err, fs.ErrNotExist))
		}
	}
	var all []Case
	seen := map[string]bool{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
		var in struct {
			Cases []Case `json:"cases"`
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, fmt.Errorf("read cases of %s: %w", f, err)
		}
		for i, c := range in.Cases {
			if err := c.check(); err != nil {
				return nil, fmt.Errorf("read cases of %s: case %d (%s): %w", f, i, c.ID, err)
			}
			if seen[c.ID] {
				return nil, fmt.Errorf("read cases of %s: case %d: the id %s stands there twice", f, i, c.ID)
			}
			seen[c.ID] = true
		}
		all = append(all, in.Cases...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read cases: none in %s; the form is {\"cases\":[…]}", path)
	}
	return all, nil
}

func (c *Case) check() error {
	if c.ID == "" || len(c.ID) > 100 || len(c.Messages) == 0 {
		return errors.New("needs an id of at most 100 bytes and messages")
	}
	for i, m := range c.Messages {
		if !slices.Contains([]string{"user", "assistant", "tool", "system"}, m.Role) {
			return fmt.Errorf("messages[%d].role %q: want user, assistant, tool or system", i, m.Role)
		}
	}
	for i, p := range c.Prior {
		if p.Content == "" || !slices.Contains(store.Types(), p.Type) {
			return fmt.Errorf("prior_memories[%d]: needs content and a type that can be stored, not %q", i, p.Type)
		}
	}
	for i, e := range c.Expected {
		if len(e.Types) == 0 || len(e.Must) == 0 {
			return fmt.Errorf("expected[%d]: needs types and must", i)
		}
	}
	for _, i := range c.Supersedes {
		if i < 0 || i >= len(c.Prior) {
			return fmt.Errorf("supersedes %d: there are %d prior memories", i, len(c.Prior))
		}
	}
	return nil
}
