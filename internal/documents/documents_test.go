package documents

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// englishOnly are the pages that contributors read; all others have a twin.
var englishOnly = []string{
	"docs/ARCHITECTURE.md", "docs/cli.md", "docs/wire.md",
}

func all(t *testing.T) map[string]Document {
	t.Helper()
	list, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Document{}
	for _, d := range list {
		out[d.Path] = d
	}
	for _, want := range []string{"README.md", "docs/README.md", "docs/README.zh-CN.md", "proxy/DESIGN.md"} {
		if _, ok := out[want]; !ok {
			t.Fatalf("%s wasn't found among %d documents", want, len(out))
		}
	}
	return out
}

// TestLinks follows every link that stays in the repository. Others are looked
// at for their form alone: nothing here asks the network.
func TestLinks(t *testing.T) {
	docs := all(t)
	for _, doc := range docs {
		for _, l := range doc.Links {
			if wrong := follow(docs, doc, l.To); wrong != "" {
				t.Errorf("%s:%d: %s %s", doc.Path, l.Line, l.To, wrong)
			}
		}
	}
}

// follow says what is wrong with a link; empty: nothing.
func follow(docs map[string]Document, from Document, to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return "is no address"
	}
	if u.Scheme != "" {
		if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(u.Host, "…<> ") {
			return "is no address of the web"
		}
		return ""
	}
	target := from.Path
	if u.Path != "" {
		target = path.Join(path.Dir(from.Path), u.Path)
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil || strings.HasPrefix(target, "../") {
			return "leads to a file that isn't there"
		}
	}
	if u.Fragment == "" {
		return ""
	}
	doc, ok := docs[target]
	if !ok || !slices.ContainsFunc(doc.Headings, func(h Heading) bool { return h.Anchor == u.Fragment }) {
		return "leads to a heading that isn't there"
	}
	return ""
}

// TestTwins holds each Chinese page against its English one: the same headings,
// blocks and tables in the same order, and a link from each to the other.
func TestTwins(t *testing.T) {
	docs := all(t)
	for name, doc := range docs {
		if base, ok := strings.CutSuffix(name, Translation); ok {
			original, ok := docs[base+".md"]
			if !ok {
				t.Errorf("%s translates a page that isn't there", name)
				continue
			}
			if d := cmp.Diff(original.Shape, doc.Shape); d != "" {
				t.Errorf("%s has another shape than its original (-English +Chinese):\n%s", name, d)
			}
			if !leads(doc, original.Path) || !leads(original, name) {
				t.Errorf("%s and its original don't lead to each other", name)
			}
			continue
		}
		if _, ok := docs[strings.TrimSuffix(name, ".md")+Translation]; !ok && path.Dir(name) == "docs" && !slices.Contains(englishOnly, name) {
			t.Errorf("%s has no Chinese twin", name)
		}
	}
}

// TestIndex finds every page of docs in the index of its language, and the
// indexes from the front pages.
func TestIndex(t *testing.T) {
	docs := all(t)
	for name := range docs {
		if path.Dir(name) != "docs" || strings.HasPrefix(name, "docs/README") {
			continue
		}
		index := "docs/README.md"
		if strings.HasSuffix(name, Translation) {
			index = "docs/README.zh-CN.md"
		}
		if !leads(docs[index], name) {
			t.Errorf("%s doesn't lead to %s", index, name)
		}
	}
	for front, index := range map[string]string{"README.md": "docs/README.md", "README.zh-CN.md": "docs/README.zh-CN.md"} {
		if !leads(docs[front], index) {
			t.Errorf("%s doesn't lead to %s", front, index)
		}
	}
}

// leads says whether a page links to another.
func leads(from Document, to string) bool {
	return slices.ContainsFunc(from.Links, func(l Link) bool {
		file, _, _ := strings.Cut(l.To, "#")
		return path.Join(path.Dir(from.Path), file) == to
	})
}

func TestParse(t *testing.T) {
	doc, err := parse("# A `b` [c](d.md), 中文！\n\n## A-b\n## A-b\n<!-- bench x: begin -->\n| measured |\n<!-- bench x: end -->\n" +
		"[x](#y) and `[no](link)`\n\n| a |\n| - |\n\n<!-- not run: wants Docker -->\n```sh\n[no](link)\n```\n\n<!-- fails -->\n```sh\nfalse\n```\n\n```text\nout\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Document{
		Headings: []Heading{{"A `b` [c](d.md), 中文！", "a-b-c-中文"}, {"A-b", "a-b"}, {"A-b", "a-b-1"}},
		Links:    []Link{{1, "d.md"}, {8, "#y"}},
		Blocks: []Block{
			{Line: 14, Language: "sh", Text: "[no](link)\n", NotRun: "wants Docker"},
			{Line: 19, Language: "sh", Text: "false\n", Fails: true},
			{Line: 23, Language: "text", Text: "out\n", Prints: true},
		},
		Shape: []string{"#", "##", "##", "a table of 2 lines", "a block of sh", "a block of sh", "a block of text"},
	}
	if d := cmp.Diff(want, doc); d != "" {
		t.Error(d)
	}
	for name, text := range map[string]string{"a block without an end": "```sh\nls\n", "a comment about nothing": "<!-- fails -->\nwords\n"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
