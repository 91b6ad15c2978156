package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// readFile takes from the configuration file what nothing else has given.
// A key may be nested or joined by underscores (inject: {tokens: 5} is
// inject_tokens: 5); a key that doesn't exist is a problem with its line.
func (s *settings) readFile(config setting, ps *problems) {
	b, err := os.ReadFile(config.raw)
	if err != nil {
		ps.add(config, "can't be read ("+cause(err)+")", "Name a YAML file that exists, or leave it out.")
		return
	}
	doc, err := parser.ParseBytes(b, 0)
	if err != nil {
		first, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		ps.add(config, "isn't YAML: "+first, "Correct that line.")
		return
	}
	f := fileReader{
		name:    filepath.Base(config.raw),
		entries: map[string]entry{},
		set:     map[string]string{},
		ps:      ps,
		s:       s,
	}
	for e := range s.entries() {
		f.entries[e.id()] = e
	}
	for _, d := range doc.Docs {
		switch body := d.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		case *ast.MappingNode:
			f.walk("", "", body)
		default:
			ps.add(config, "holds no settings", "Write one setting a line, such as: top_k: 5.")
		}
	}
}

// fileReader walks one file.
type fileReader struct {
	name    string
	entries map[string]entry
	set     map[string]string // where an id was set first
	ps      *problems
	s       *settings
}

// walk visits the pairs of a mapping. path is what the user wrote so far, id
// its joined form.
func (f *fileReader) walk(path, id string, m *ast.MappingNode) {
	for _, pair := range m.Values {
		key := pair.Key.GetToken().Value
		at := fmt.Sprintf("%s%s (%s:%d)", path, key, f.name, pair.Key.GetToken().Position.Line)
		next := joinID(id, key)
		if e, ok := f.entries[next]; ok {
			f.take(e, at, pair.Value)
			continue
		}
		if sub, ok := pair.Value.(*ast.MappingNode); ok && f.hasBelow(next) {
			f.walk(path+key+".", next, sub)
			continue
		}
		if _, ok := pair.Value.(*ast.NullNode); ok && f.hasBelow(next) {
			continue
		}
		*f.ps = append(*f.ps, problem{Field: at, Wrong: "is no setting of Hindsight", Next: f.suggest(next)})
	}
}

// joinID is the shared name of a key below id. Names of the environment are
// welcome too (LLM_API_BASE, HINDSIGHT_TOP_K).
func joinID(id, key string) string {
	key = strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(key))
	if id == "" {
		return strings.TrimPrefix(key, strings.ToLower(envPrefix))
	}
	return id + "_" + key
}

func (f *fileReader) hasBelow(id string) bool {
	for name := range f.entries {
		if strings.HasPrefix(name, id+"_") {
			return true
		}
	}
	return false
}

// take puts a file's value where nothing of higher rank stands.
func (f *fileReader) take(e entry, at string, node ast.Node) {
	if first, twice := f.set[e.id()]; twice {
		*f.ps = append(*f.ps, problem{Field: at, Wrong: "is set twice, first as " + first, Next: "Keep one of them."})
		return
	}
	f.set[e.id()] = at
	raw, ok, err := rawValue(node)
	if err != nil {
		*f.ps = append(*f.ps, problem{Field: at, Wrong: "can't be read: " + err.Error(), Next: "Write it as YAML or JSON."})
		return
	}
	if !ok || e.value.given() || f.twinOutranks(e.value) {
		return
	}
	e.value.raw, e.value.from = raw, at
}

// twinOutranks says whether a secret's other form came from a flag or the
// environment.
func (f *fileReader) twinOutranks(v *setting) bool {
	for _, pair := range f.s.secrets() {
		for i := range pair {
			if other := pair[1-i]; pair[i] == v && other.given() {
				_, inFile := f.set[strings.ReplaceAll(other.key, ".", "_")]
				return !inFile
			}
		}
	}
	return false
}

// rawValue is a node as an environment variable would hold it: scalars as they
// are written, lists and maps as JSON. False: null.
func rawValue(node ast.Node) (string, bool, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", false, nil
	case *ast.StringNode:
		return n.Value, n.Value != "", nil
	case *ast.LiteralNode:
		return n.Value.Value, true, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true, nil
	}
	var v any
	if err := yaml.NodeToValue(node, &v); err != nil {
		return "", false, fmt.Errorf("read the value: %w", err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", false, fmt.Errorf("turn the value into JSON: %w", err)
	}
	return string(b), true, nil
}

// suggest names the key that was probably meant: one letter off, or the same
// last word.
func (f *fileReader) suggest(id string) string {
	last := id[strings.LastIndexByte(id, '_')+1:]
	best := ""
	for e := range f.s.entries() {
		switch name := e.id(); {
		case distance(name, id) <= 2:
			return fmt.Sprintf("Did you mean %s?", e.key)
		case best == "" && last != "" && strings.HasSuffix(name, "_"+last):
			best = e.key
		}
	}
	if best != "" {
		return fmt.Sprintf("Perhaps %s is meant; hindsight serve --help lists them all.", best)
	}
	return "Remove it; hindsight serve --help lists the settings."
}

// distance counts the letters to add, drop or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
