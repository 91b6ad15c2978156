//go:build unix

package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hindsight/internal/documents"
	"hindsight/internal/fakellm"
)

// TestDocumentsRun plays the shell blocks of every page, from the top to the
// bottom, each page in a shell, a home and a data directory of its own, in front
// of the scripted model. What a page shows of the output must be what comes. The
// Chinese pages, which have the same blocks, want HINDSIGHT_TEST_DOCUMENTS=all.
func TestDocumentsRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("many processes")
	}
	for _, tool := range []string{"bash", "curl", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s isn't installed", tool)
		}
	}
	for _, doc := range readDocuments(t) {
		if strings.HasSuffix(doc.Path, documents.Translation) && os.Getenv("HINDSIGHT_TEST_DOCUMENTS") != "all" {
			continue
		}
		if slices.ContainsFunc(doc.Blocks, isRun) {
			t.Run(doc.Path, func(t *testing.T) {
				t.Parallel()
				play(t, doc, stage{})
			})
		}
	}
}

func isRun(b documents.Block) bool { return b.Language == "sh" && b.NotRun == "" }

// prelude lets a page be read from top to bottom in one shell: `hindsight serve`
// goes on in the background once it is ready and has tried its embedder, and the one
// before it is stopped.
const prelude = `exec 2>&1
set -eo pipefail
server=
stop() {
  if [ -n "$server" ]; then kill -INT $server; wait $server || true; fi
  server=
}
trap stop EXIT
hindsight() {
  if [ "$1" != serve ] || [ "$2" = --help ]; then command hindsight "$@"; return; fi
  stop
  local log
  log=$(mktemp)
  command hindsight "$@" >"$log" 2>&1 &
  server=$!
  until grep -q 'ready: proxy' "$log" && { [ "$HINDSIGHT_EMBEDDER" = none ] || grep -qE 'recall (by vectors is on|goes by words)' "$log"; }; do
    if ! kill -0 $server 2>/dev/null; then
      local code=0
      wait $server || code=$?
      server=
      cat "$log"
      return $code
    fi
    sleep 0.02
  done
}
`

// stage is what a page finds besides the model.
type stage struct {
	swap  []string // in pairs: what the page says, and what stands in for it here
	env   []string
	first string // what is done before the first block; empty: a server is started, unless the page does
}

// play runs the blocks of a page.
func play(t *testing.T, doc documents.Document, on stage) {
	up := httptest.NewServer(fakellm.New(fakellm.Config{}))
	defer up.Close()
	const ollama = "http://127.0.0.1:11434/v1"
	embeddings := ollama
	if slices.ContainsFunc(doc.Blocks, func(b documents.Block) bool {
		return isRun(b) && strings.Contains(b.Text, "EMBEDDING_API_BASE="+ollama)
	}) {
		_, embeddings = serveModel(t)
	}
	home := t.TempDir()
	listen, admin := freePort(t), freePort(t)
	here := append(on.swap,
		"make demo", "hindsight demo --exit", "make test", ":", // this is one of its tests
		"https://api.openai.com", up.URL, ollama, embeddings, "bin/hindsight", "hindsight", "127.0.0.1:8080", listen, "127.0.0.1:8081", admin,
	)
	there := []string{up.URL, "https://api.openai.com", listen, "127.0.0.1:8080", admin, "127.0.0.1:8081", home, "/home/ann"}
	page := strings.NewReplacer(here...)
	script := prelude + page.Replace(on.first)
	if on.first == "" && !slices.ContainsFunc(doc.Blocks, func(b documents.Block) bool { return isRun(b) && strings.Contains(b.Text, "hindsight serve") }) {
		script += "LLM_API_BASE=" + up.URL + " HINDSIGHT_REFLECT_MODEL=rules hindsight serve\n" // whoever reads it has one running
	}
	for i, b := range doc.Blocks {
		if !isRun(b) {
			continue
		}
		script += "printf '\\n@@ %s\\n' " + strconv.Itoa(i) + "\n"
		text := page.Replace(b.Text)
		if b.Fails {
			text = "if ( server=; " + text + ") then echo 'it was to fail'; exit 9; fi\n"
		}
		script += text
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=127.0.0.1",
		"HINDSIGHT_LISTEN=" + listen, "HINDSIGHT_ADMIN_LISTEN=" + admin, "HINDSIGHT_EMBEDDER=none", "HINDSIGHT_TZ=UTC",
		"OPENAI_API_KEY=sk-test",
	}, on.env...)
	out, err := cmd.CombinedOutput()
	said := strings.NewReplacer(there...).Replace(string(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	parts := map[int]string{}
	for part := range strings.SplitSeq(said, "\n@@ ") {
		n, text, _ := strings.Cut(part, "\n")
		if i, err := strconv.Atoi(n); err == nil {
			parts[i] = text
		}
	}
	for i, b := range doc.Blocks {
		if !b.Prints || !isRun(doc.Blocks[i-1]) {
			continue
		}
		if !shown(b.Text).MatchString(strings.TrimSpace(parts[i-1])) {
			t.Errorf("%s:%d: the page shows\n%s\nand this comes\n%s", filepath.Base(doc.Path), b.Line, b.Text, parts[i-1])
		}
	}
}

// shown is what a page shows as a pattern: … stands for anything in its line,
// and for any lines where it stands alone.
func shown(text string) *regexp.Regexp {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimSpace(line)
		if line == "…" {
			lines = append(lines, `(?s:.*)`)
			continue
		}
		p := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		lines = append(lines, `[ \t]*`+p+`[ \t\r]*`)
	}
	p := strings.ReplaceAll(strings.Join(lines, `\n`), `(?s:.*)\n`, `(?s:.*\n)?`)
	return regexp.MustCompile(`^` + strings.ReplaceAll(p, `\n(?s:.*)`, `(?s:\n.*)?`) + `$`)
}
