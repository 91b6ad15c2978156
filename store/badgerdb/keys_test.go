package badgerdb

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Two families with one byte would read each other's rows.
func TestFamiliesDiffer(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "fam") {
			return true
		}
		value := v.Values[0].(*ast.BasicLit).Value
		if other, taken := of[value]; taken {
			t.Errorf("%s and %s are both %s", v.Names[0].Name, other, value)
		}
		of[value] = v.Names[0].Name
		return true
	})
	if len(of) < 20 {
		t.Errorf("only %d families are found", len(of))
	}
}
