// Package imports holds one test: imports point one way.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "hindsight/"

// layer is the height of a package: it may import what lies strictly lower,
// and its own subtree. Tests and programs (cmd, internal) stand on top.
func layer(pkg string) int {
	switch root, _, _ := strings.Cut(pkg, "/"); {
	case pkg == "store":
		return 0
	case root == "store", root == "inject", root == "reflect":
		return 1
	case root == "proxy":
		return 2
	default: // cmd, internal
		return 3
	}
}

// homes says where alone a library may be imported directly.
var homes = map[string][]string{
	"github.com/gofiber/fiber":               {"proxy"},
	"github.com/dgraph-io/badger":            {"store/badgerdb"},
	"github.com/weaviate/weaviate-go-client": {"store/weaviatedb"},
	"github.com/danielgtaylor/huma":          {"proxy/admin"},
	"github.com/modelcontextprotocol/go-sdk": {"proxy/mcpserver"},
	"github.com/alecthomas/kong":             {"cmd/hindsight"},
	"hindsight/store/badgerdb":               {"cmd/hindsight", "internal"},
	"hindsight/store/weaviatedb":             {"cmd/hindsight", "internal", "store/weaviatedb"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", "hindsight/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module) {
			all = append(all, p)
		}
	}
}

func TestImportsPointOneWay(t *testing.T) {
	all := packages(t)
	if len(all) < 5 {
		t.Fatalf("go list found %d packages of the module", len(all))
	}
	for _, p := range all {
		for _, fault := range faults(p) {
			t.Error(fault)
		}
	}
}

func faults(p pkg) []string {
	var out []string
	me := strings.TrimPrefix(p.ImportPath, module)
	for _, imp := range p.Imports {
		for lib, where := range homes {
			if strings.HasPrefix(imp, lib) && !within(me, where) {
				out = append(out, p.ImportPath+" imports "+imp+", which only "+strings.Join(where, ", ")+" may")
			}
		}
		other, ours := strings.CutPrefix(imp, module)
		if !ours {
			continue
		}
		mine, theirs := layer(me), layer(other)
		switch {
		case theirs > mine:
			out = append(out, p.ImportPath+" imports "+imp+", which lies above it")
		case root(me) == "proxy" && root(other) == "reflect", root(me) == "inject" && root(other) == "reflect":
			out = append(out, p.ImportPath+" imports "+imp+": they meet in the durable queue only")
		case root(me) != "internal" && root(me) != "cmd" && root(other) == "internal":
			out = append(out, p.ImportPath+" imports "+imp+", which is for tests and tools")
		}
	}
	return out
}

func root(p string) string { r, _, _ := strings.Cut(p, "/"); return r }

func within(me string, where []string) bool {
	for _, w := range where {
		if me == w || strings.HasPrefix(me, w+"/") {
			return true
		}
	}
	return false
}

// TestFaults shows that the rules can fail.
func TestFaults(t *testing.T) {
	for _, bad := range []pkg{
		{"hindsight/store", []string{"hindsight/store/badgerdb"}},
		{"hindsight/inject", []string{"hindsight/proxy"}},
		{"hindsight/proxy", []string{"hindsight/reflect"}},
		{"hindsight/proxy/admin", []string{"hindsight/reflect/extract"}},
		{"hindsight/proxy", []string{"hindsight/store/badgerdb"}},
		{"hindsight/inject", []string{"github.com/gofiber/fiber/v2"}},
		{"hindsight/store/index", []string{"github.com/dgraph-io/badger/v4"}},
		{"hindsight/proxy", []string{"hindsight/internal/fakellm"}},
	} {
		if len(faults(bad)) == 0 {
			t.Errorf("%s may import %s", bad.ImportPath, bad.Imports[0])
		}
	}
	if f := faults(pkg{"hindsight/cmd/hindsight", []string{"hindsight/store/badgerdb", "hindsight/proxy", "hindsight/reflect"}}); len(f) > 0 {
		t.Error(f)
	}
}
