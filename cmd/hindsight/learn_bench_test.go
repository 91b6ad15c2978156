//go:build !race

package main

import (
	"fmt"
	"net/http"
	"testing"

	"hindsight/store"
)

// BenchmarkLearn writes memories as MCP's memory_write does, into a scope that
// holds many.
func BenchmarkLearn(b *testing.B) {
	for _, c := range []struct {
		embedder string
		among    int
	}{{"none", 100}, {"none", 5_000}, {"builtin", 100}} {
		b.Run(fmt.Sprintf("embedder %s, among %d", c.embedder, c.among), func(b *testing.B) {
			w := newWorld(b, "HINDSIGHT_EMBEDDER="+c.embedder, "HINDSIGHT_TENANT=bench")
			many := make([]store.Memory, c.among)
			for i := range many {
				said := fmt.Sprintf("Shelf %d's service listens on port %d.", i, 1024+i)
				many[i] = store.Memory{
					Tenant: "bench", Scope: store.UserScope(benchUser), Type: store.UserFact, Text: said, Importance: 0.7, Confidence: 1,
					AttributedTo: store.ByUser, Evidence: []store.Evidence{{Session: fmt.Sprint("s", i/5), Turn: 1, Quote: said}},
				}
			}
			if _, err := w.st.store.PutMemories(b.Context(), many); err != nil {
				b.Fatal(err)
			}
			if c.embedder != "none" {
				w.embedded()
			}
			n := 0
			for b.Loop() {
				n++
				w.admin(http.MethodPost, "/api/v1/memories/learn", fmt.Sprintf(`{"user":%q,"type":"user_fact","text":"The lamp in room %d was bought in the year %d."}`, benchUser, n, 1900+n%97))
			}
		})
	}
}
