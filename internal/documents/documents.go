// Package documents reads the repository's Markdown for the tests that hold it
// against the program: what links where, and which blocks can be run.
//
// Call [Read] with the repository's folder. It is no Markdown parser: it knows
// headings that begin with #, fenced blocks, tables and inline links, which is
// what these pages are made of.
package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Document is one Markdown file.
type Document struct {
	Path     string // from the repository's folder, with slashes
	Headings []Heading
	Links    []Link
	Blocks   []Block
	// Shape is the order of what a translation has in common with its original:
	// headings by their level, blocks by their language, tables by their rows. What
	// a benchmark writes isn't among it: a translation leads to the original's.
	Shape []string
}

// Heading is a heading with the anchor that the forge gives it.
type Heading struct {
	Text, Anchor string
}

// Link is where a text leads.
type Link struct {
	Line int
	To   string
}

// Block is a fenced block. A comment before it may say how to take it:
//
//	<!-- not run: REASON -->   nothing here can play it
//	<!-- fails -->             it shows a failure
type Block struct {
	Line     int
	Language string
	Text     string
	NotRun   string // the reason; empty: it is run
	Fails    bool
	Prints   bool // it directly follows a shell block, whose output it is
}

// Translation is what the name of a Chinese page ends with.
const Translation = ".zh-CN.md"

// Read reads every Markdown file under root that is of the repository.
func Read(root string) ([]Document, error) {
	var out []Document
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "data", "node_modules", "testdata"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		doc, err := parse(string(b))
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		doc.Path = filepath.ToSlash(rel)
		out = append(out, doc)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	return out, nil
}

var (
	fenceLine   = regexp.MustCompile("^\\s*```(\\S*)")
	commentLine = regexp.MustCompile(`^\s*<!-- (not run: (.+)|fails) -->$`)
	headingLine = regexp.MustCompile(`^(#+) +(.+?)\s*$`)
	benchLine   = regexp.MustCompile(`^<!-- bench \w+: (begin|end) -->$`)
	codeSpan    = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	linkText    = regexp.MustCompile(`!?\[([^\]]*)\]\([^()\s]+\)`)
)

// parse reads one document.
func parse(text string) (Document, error) {
	var doc Document
	var open, next *Block // the block being read; what a comment said of the next one
	rows, shell, bench := 0, false, false
	seen := map[string]int{}
	lines := strings.Split(text, "\n")
	for i, line := range append(lines, "") { // the end closes a table
		if open != nil {
			if m := fenceLine.FindStringSubmatch(line); m != nil && m[1] == "" {
				doc.Blocks = append(doc.Blocks, *open)
				shell = open.Language == "sh"
				open = nil
			} else {
				open.Text += line + "\n"
			}
			continue
		}
		if m := benchLine.FindStringSubmatch(line); m != nil {
			bench = m[1] == "begin"
		}
		if strings.HasPrefix(line, "|") && !bench {
			rows++
		} else if rows > 0 {
			doc.Shape = append(doc.Shape, fmt.Sprintf("a table of %d lines", rows))
			rows = 0
		}
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			open = &Block{Line: i + 1, Language: m[1]}
			if next != nil {
				open.NotRun, open.Fails = next.NotRun, next.Fails
			}
			open.Prints = shell && m[1] == "text"
			next = nil
			doc.Shape = append(doc.Shape, "a block of "+m[1])
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		shell = false
		if m := commentLine.FindStringSubmatch(line); m != nil {
			next = &Block{NotRun: m[2], Fails: m[1] == "fails"}
			continue
		}
		if next != nil {
			return doc, fmt.Errorf("line %d: the comment above is about a block, and none follows", i+1)
		}
		if m := headingLine.FindStringSubmatch(line); m != nil {
			h := Heading{Text: m[2], Anchor: anchor(m[2])}
			if n := seen[h.Anchor]; n > 0 {
				h.Anchor += fmt.Sprintf("-%d", n)
			}
			seen[anchor(m[2])]++
			doc.Headings = append(doc.Headings, h)
			doc.Shape = append(doc.Shape, m[1])
		}
		for _, m := range linkTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			doc.Links = append(doc.Links, Link{i + 1, m[1]})
		}
	}
	if open != nil {
		return doc, fmt.Errorf("line %d: the block has no end", open.Line)
	}
	return doc, nil
}

// anchor is the name that the forge makes of a heading.
func anchor(heading string) string {
	heading = linkText.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
