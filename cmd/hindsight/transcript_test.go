package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hindsight/inject"
)

// TestTranscripts plays the exchanges of testdata/wire: what the client sends
// (request), what the upstream gets (upstream, our notes as ⟦notes⟧), what it
// answers (answer.json or answer.sse) and what is recorded of it. The client
// must get the answer's very bytes. Memories stand one a line.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	w := newWorld(t, "HINDSIGHT_TENANT=wire")
	answers := map[string]txtar.File{}
	w.answer = func(rw http.ResponseWriter, r *http.Request, _ []byte) bool {
		f, ok := answers[r.Header.Get("Case")]
		if !ok {
			return false
		}
		rw.Header().Set("Content-Type", map[string]string{".json": "application/json", ".sse": "text/event-stream"}[filepath.Ext(f.Name)])
		_, _ = rw.Write(f.Data) // the client reports what is missing
		return true
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			part := map[string]*[]byte{}
			for i, f := range ar.Files {
				part[f.Name] = &ar.Files[i].Data
				if strings.HasPrefix(f.Name, "answer") {
					answers[name] = f
				}
			}
			if m := part["memory"]; m != nil {
				for line := range strings.Lines(string(*m)) {
					text, _ := json.Marshal(strings.TrimSpace(line))
					w.remember(name, `"type":"user_fact","text":`+string(text))
				}
			}
			r := w.send(string(*part["request"]), "Hindsight-User: "+name, "Case: "+name)
			if !bytes.Equal(r.body, answers[name].Data) || r.status != http.StatusOK {
				t.Errorf("the client got %d %s", r.status, r.body)
			}
			sent := withoutNotes(string(w.last().body))
			if part["memory"] != nil == (sent == string(w.last().body)) {
				t.Errorf("status %s, and the upstream got %s", r.memory(), sent)
			}
			recorded := w.transcript(r.session())
			if *update {
				*part["upstream"], *part["recorded"] = []byte(sent), []byte(recorded)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(*part["upstream"]), sent); d != "" {
				t.Errorf("upstream (-want +got):\n%s", d)
			}
			if d := cmp.Diff(string(*part["recorded"]), recorded); d != "" {
				t.Errorf("recorded (-want +got):\n%s", d)
			}
		})
	}
}

// withoutNotes puts ⟦notes⟧ where a block of ours stands in a body.
func withoutNotes(body string) string {
	const open, shut = "<hindsight-notes:", "</hindsight-notes:"
	for {
		i := strings.Index(body, open)
		j := strings.Index(body, shut)
		if i < 0 || j < i {
			return body
		}
		end := j + strings.IndexByte(body[j:], '>') + 1
		if !inject.HasBlock(unescaped(body[i:end])) {
			return body
		}
		body = body[:i] + "⟦notes⟧" + body[end:]
	}
}

// unescaped is the text of a piece of a JSON string.
func unescaped(piece string) (text string) {
	if json.Unmarshal([]byte(`"`+piece+`"`), &text) != nil {
		return piece
	}
	return text
}

// transcript is what is kept of a session, a line an event.
func (w *world) transcript(session string) string {
	w.t.Helper()
	s := w.session(session)
	var b strings.Builder
	for _, x := range s.Exchanges {
		fmt.Fprintf(&b, "exchange: %s\n", x.Status)
	}
	for _, e := range s.Events {
		fmt.Fprintf(&b, "%s: %s", e.Kind, strings.ReplaceAll(e.Text, "\n", `\n`))
		if e.Name != "" {
			fmt.Fprintf(&b, " (%s)", e.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
