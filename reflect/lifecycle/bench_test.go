package lifecycle

import (
	"fmt"
	"testing"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// BenchmarkFit fits a full session among the 10,000 memories of a big scope.
func BenchmarkFit(b *testing.B) {
	in := Input{Job: store.Job{Session: "s", Owner: store.Owner{Tenant: "t", User: "u"}}, Now: monday}
	for i := range 10_000 {
		text := fmt.Sprintf("The user's machine %d in room %d is painted in colour %d.", i, i%97, i%31)
		in.Existing = append(in.Existing, store.Memory{
			ID: fmt.Sprint("m", i), Scope: "user:u", State: store.Active, Text: text, AttributedTo: store.ByUser,
			Evidence: []store.Evidence{{Session: "old", Quote: text, Time: monday}},
		})
	}
	for i := range extract.MaxMemories {
		text := fmt.Sprintf("My machine %d is %d years old.", i, i+3)
		in.Found.Candidates = append(in.Found.Candidates, extract.Candidate{Type: store.UserFact, Text: text, Quote: text, By: store.ByUser, Time: monday.AddDate(0, 0, 1)})
	}
	for b.Loop() {
		Fit(in)
	}
}
