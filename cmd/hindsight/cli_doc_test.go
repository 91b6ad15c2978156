package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const cliDoc = "../../docs/cli.md"

// TestCommandLineDocument holds docs/cli.md against the command line. After a
// change of a command: go test ./cmd/hindsight -run CommandLineDocument -update
func TestCommandLineDocument(t *testing.T) {
	parser, err := newParser(&commands{}, &app{out: &bytes.Buffer{}, err: &bytes.Buffer{}}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# The command line\n\nMade from the commands themselves; `hindsight COMMAND --help` says the same.\n\n" +
		"Every command takes `--json`, which prints JSON for machines, and `--config`.\n" +
		"Exit codes: 0 done, 1 failed, 2 wrong usage or configuration. Errors say what to\ndo next. " +
		"Colours and progress are shown on a terminal only.\n\n" +
		"Commands on memories, sessions and tenants reach the server's owner through the\nsocket in its data directory, " +
		"else the server at `--admin`, else they open the\ndirectory themselves. They share these flags:\n\n")
	for _, f := range leafNamed(t, parser.Model.Node, "memories list").Flags {
		if f.Group != nil && f.Group.Key == "reach" {
			b.WriteString(flagLine(f))
		}
	}
	b.WriteString("\n`serve` and `doctor` take every setting as a flag; `hindsight serve --help` lists\nthem with their variables and defaults.\n")
	for _, leaf := range leaves(parser.Model.Node) {
		describe(&b, leaf)
	}
	want := b.String()
	if *update {
		if err := os.WriteFile(cliDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(cliDoc)
	if err != nil || string(got) != want {
		t.Errorf("docs/cli.md doesn't say what the command line is (%v); run this test with -update", err)
	}
}

// leaves are the commands that do something, in their order.
func leaves(n *kong.Node) []*kong.Node {
	var out []*kong.Node
	for _, c := range n.Children {
		switch {
		case c.Hidden:
		case c.Leaf():
			out = append(out, c)
		default:
			out = append(out, leaves(c)...)
		}
	}
	return out
}

func leafNamed(t *testing.T, n *kong.Node, path string) *kong.Node {
	t.Helper()
	for _, leaf := range leaves(n) {
		if leaf.Path() == path || leaf.FullPath() == "hindsight "+path {
			return leaf
		}
	}
	t.Fatalf("no command %q", path)
	return nil
}

// describe writes one command with its arguments and own flags.
func describe(b *strings.Builder, n *kong.Node) {
	line := n.FullPath()
	for _, p := range n.Positional {
		line += " " + p.Summary()
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n", line, n.Help)
	if n.Detail != "" {
		fmt.Fprintf(b, "\n%s\n", n.Detail)
	}
	var own []string
	for _, p := range n.Positional {
		own = append(own, fmt.Sprintf("- `%s`: %s\n", p.Summary(), p.Help))
	}
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" && !f.Tag.Has("key") && (f.Group == nil || f.Group.Key != "reach") {
			own = append(own, flagLine(f))
		}
	}
	if len(own) > 0 {
		b.WriteString("\n" + strings.Join(own, ""))
	}
}

func flagLine(f *kong.Flag) string {
	name := "--" + f.Name
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	if !f.IsBool() {
		name += " " + f.FormatPlaceHolder()
	}
	def := ""
	if f.HasDefault && f.Default != "" && !f.IsBool() && !strings.Contains(f.Help, f.Default) {
		def = " Default " + f.Default + "."
	}
	return fmt.Sprintf("- `%s`: %s%s\n", name, f.Help, def)
}
