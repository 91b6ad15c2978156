package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

func TestDoubtful(t *testing.T) {
	known := func(id, text, subject string) store.Memory {
		return store.Memory{ID: id, Scope: "user:u", State: store.Active, Text: text, Subject: subject, AttributedTo: store.ByUser, CreatedAt: monday}
	}
	in := Input{
		Job: store.Job{Session: "s", Owner: store.Owner{Tenant: "t", User: "u"}},
		Existing: []store.Memory{
			known("m1", "The user cycles to work.", "commute"),
			known("m2", "The user has a cat.", "pets"),
			known("m3", "The user rides to the office on two wheels.", ""),
			known("m4", "The user commutes by bike!", ""),
			known("m5", "The user drives to work.", "commute"),
		},
		Near: map[string][]string{"The user commutes by bike.": {"m3", "m4"}},
		Found: extract.Result{Candidates: []extract.Candidate{
			{Text: "The user commutes by bike.", Quote: "I commute by bike", Subject: "commute", By: store.ByUser, Type: store.UserFact, Time: monday},
			{Text: "The user likes cats.", Quote: "I like cats", Subject: "pets", By: store.ByUser, Type: store.UserFact, Time: monday, Relation: extract.SameAs, RelationID: "m2"},
		}},
	}
	pairs := Doubtful(in, func(id string) bool { return id == "m5" }) // m5 was seen, m4 is a duplicate, m2 is related already
	var ids []string
	for _, p := range pairs {
		ids = append(ids, p.Memory.ID)
	}
	if strings.Join(ids, " ") != "m1 m3" && strings.Join(ids, " ") != "m3 m1" {
		t.Fatalf("pairs: %v", ids)
	}
	fixed, data := Question(in, pairs)
	if !strings.Contains(fixed, "same_as") || strings.Count(data, "\n") != 2 || !strings.Contains(data, `"known":"The user cycles to work."`) {
		t.Errorf("question: %s", data)
	}
	for answer, want := range map[string]extract.Relation{
		`{"pairs":[{"n":1,"relation":"same_as"},{"n":2,"relation":"new"}]}`:         extract.SameAs,
		`{"pairs":[{"n":2,"relation":"contradicts"},{"n":1,"relation":"same_as"}]}`: extract.Contradicts,
		`{"pairs":[{"n":3,"relation":"same_as"},{"n":0,"relation":"same_as"}]}`:     "",
		`{"pairs":[{"n":1,"relation":"the same"},{"n":"one"}]}`:                     "",
		`I would say that these are the same.`:                                      "",
	} {
		got := Answered(in.Found.Candidates, pairs, answer)
		if got[0].Relation != want || (want != "") != (got[0].RelationID != "") || got[1].RelationID != "m2" {
			t.Errorf("%s: %+v", answer, got[0])
		}
	}
}

// One session that says the same thing in five ways teaches one memory.
func TestFiveWaysInOneSession(t *testing.T) {
	in := Input{Job: store.Job{Session: "s", To: 1, Owner: store.Owner{Tenant: "t", User: "u"}}, Now: monday}
	for i, text := range []string{"用户喜欢简短的回答。", "用户希望回答简洁一些。", "给用户的答复要短。", "用户偏好简明的答案。", "用户不要长篇大论。"} {
		in.Found.Candidates = append(in.Found.Candidates, extract.Candidate{
			Type: store.Preference, Text: text, Quote: text, Subject: "回答长度", By: store.ByUser, Turn: i + 1, Time: monday.Add(time.Duration(i) * time.Minute),
		})
	}
	pairs := Doubtful(in, func(string) bool { return false })
	answer := `{"pairs":[`
	for i := range pairs {
		answer += fmt.Sprintf(`{"n":%d,"relation":"same_as"},`, i+1)
	}
	in.Found.Candidates = Answered(in.Found.Candidates, pairs, strings.TrimSuffix(answer, ",")+"]}")
	out := Fit(in)
	// The last denies, in words: code lets nobody call that the same.
	if len(out.Memories) != 2 || len(out.Memories[0].Evidence) != 4 || out.Memories[0].Text != "用户喜欢简短的回答。" {
		t.Errorf("%d memories: %+v", len(out.Memories), out.Memories)
	}
}

func TestContractionsAreTheSameWords(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"I'm allergic to peanuts.", "I am allergic to peanuts.", true},
		{"We’ve moved to Porto.", "We have moved to Porto.", true},
		{"I can't swim.", "I cannot swim.", true},
		{"I won't fly.", "I will not fly.", true},
		{"I can't swim.", "I can swim.", false},
	} {
		if got := Duplicate(c.a, c.b); got != c.want {
			t.Errorf("%s / %s: %v", c.a, c.b, got)
		}
	}
}
