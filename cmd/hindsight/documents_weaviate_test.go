//go:build weaviate && unix

package main

import (
	"strings"
	"testing"

	"hindsight/internal/weaviatetest"
)

// TestWeaviateDocumentsRun plays the pages with blocks that want a Weaviate, in
// both languages, each in front of a Weaviate of its own: with one memory where
// they use the key of a directory that is there, else from nothing.
func TestWeaviateDocumentsRun(t *testing.T) {
	played := 0
	for _, doc := range readDocuments(t) {
		wants, first := false, ":\n"
		for i := range doc.Blocks {
			b := &doc.Blocks[i]
			if b.NotRun != "wants Weaviate" {
				continue
			}
			b.NotRun, wants = "", true
			if strings.Contains(b.Text, "share/hindsight/identity.key") {
				first = "LLM_API_BASE=https://api.openai.com HINDSIGHT_REFLECT_MODEL=rules hindsight serve\n" +
					"hindsight memories add 'Lives in Oslo.' --type user_fact\nstop\n"
			}
		}
		if !wants {
			continue
		}
		played++
		t.Run(doc.Path, func(t *testing.T) {
			server := weaviatetest.New(t)
			play(t, doc, stage{
				swap:  []string{"http://weaviate:8080", server.URL},
				env:   []string{"HINDSIGHT_WEAVIATE_GRPC=" + server.GRPC},
				first: first,
			})
		})
	}
	if played == 0 {
		t.Error("no page wants a Weaviate: was the comment changed?")
	}
}
