package weaviatedb

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"hindsight/store"
)

func prepared(t *testing.T, layout Layout) *DB {
	t.Helper()
	d, err := New(Config{URL: "http://127.0.0.1:1", Key: store.IdentityKey{1}, Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestNothingIsAskedWithoutAScope holds the one maker of questions to its promise:
// every question about memories names the hashes of its scopes and no others, and
// lies in their tenant; narrowing it takes nothing away.
func TestNothingIsAskedWithoutAScope(t *testing.T) {
	ann, bob := store.UserScope("ann"), store.UserScope("bob")
	for _, layout := range []Layout{LayoutShared, LayoutIsolated} {
		d := prepared(t, layout)
		w := d.memoriesOf("acme", ann).and(anyOf(propState, []string{"active"})).and(either(anyOf(propSession, []string{"s"}), anyOf(propAbout, []string{"a"})))
		f := w.filter()
		if f.Operator != pb.Filters_OPERATOR_AND || len(f.Filters) != 3 {
			t.Fatalf("filter %v", f)
		}
		if got := f.Filters[0]; got.GetTarget().GetProperty() != propPlace || got.GetValueText() != d.place("acme", ann) {
			t.Errorf("the first of what must hold is %v", got)
		}
		if w.tenant != d.memoryTenant("acme", ann) || w.tenant == d.memoryTenant("other", ann) {
			t.Errorf("tenant %s", w.tenant)
		}
		if d.place("acme", ann) == d.place("acme", bob) || d.place("acme", ann) == d.place("other", ann) {
			t.Error("two scopes of one hash")
		}
		if _, err := d.recordsOf("acme", store.RecordQuery{Kinds: []store.RecordKind{store.RecordExchange}}); err == nil {
			t.Error("records of no scope can be asked for")
		}
		r, err := d.recordsOf("acme", store.RecordQuery{Scopes: []store.Scope{ann}, Sessions: []string{"s"}})
		if err != nil || r.filter().Filters[0].GetValueText() != d.place("acme", ann) {
			t.Errorf("records: %v, %v", r, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("memories of no scope can be asked for")
				}
			}()
			d.memoriesOf("acme")
		}()
	}
}

// TestQuestionsAreMadeInOnePlace reads the package: a where is made in where.go and
// a request that reads, counts or deletes in ask.go, out of a where.
func TestQuestionsAreMadeInOnePlace(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	home := map[string]string{"where": "where.go", "SearchRequest": "ask.go", "BatchDeleteRequest": "ask.go", "BatchObjectsRequest": "ask.go"}
	seen := map[string]int{}
	for _, f := range files {
		name := f.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "wholeTenant" && name != "move.go" {
					t.Errorf("%s asks about a whole tenant; only the move of everything may", name)
				}
			}
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind := ""
			switch x := lit.Type.(type) {
			case *ast.Ident:
				kind = x.Name
			case *ast.SelectorExpr:
				kind = x.Sel.Name
			}
			if want, ok := home[kind]; ok {
				seen[kind]++
				if name != want {
					t.Errorf("%s makes a %s; only %s may", name, kind, want)
				}
			}
			return true
		})
	}
	for kind := range home {
		if seen[kind] == 0 {
			t.Errorf("no %s is made anywhere: this test looks at nothing", kind)
		}
	}
}
