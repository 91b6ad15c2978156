package inject

import (
	"errors"
	"slices"
	"testing"

	"hindsight/store"
)

func TestSearchForPeople(t *testing.T) {
	d := &disk{}
	facts(d)
	pref := store.Memory{ID: "p", Tenant: "t", Type: store.Preference, Layer: store.Semantic, Subject: "Dogs", Text: "User likes big dogs"}
	d.put(pref)
	old := fact("old", "User's dog was a poodle")
	old.State = store.Archived
	d.put(old)
	e := d.engine(t, Config{})
	req := SearchRequest{Tenant: "t", Scopes: []store.Scope{ann.Scope()}, Query: "dog", Now: now}
	find := func(edit func(*SearchRequest)) ([]string, SearchResult) {
		r := req
		edit(&r)
		res, err := e.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, s := range res.Results {
			ids = append(ids, s.Memory.ID)
			if s.Score < 0 || s.Score > 1 || s.Parts["final"] != s.Score {
				t.Errorf("score %v, parts %v", s.Score, s.Parts)
			}
		}
		slices.Sort(ids)
		return ids, res
	}
	for _, c := range []struct {
		name string
		edit func(*SearchRequest)
		want []string
	}{
		{"no filter", func(*SearchRequest) {}, []string{"dog", "p"}},
		{"archived too", func(r *SearchRequest) { r.Archived = true }, []string{"dog", "old", "p"}},
		{"subject", func(r *SearchRequest) { r.Subject = "dogs" }, []string{"p"}},
		{"layer", func(r *SearchRequest) { r.Layers = []store.Layer{store.Skill} }, []string{}},
		{"until", func(r *SearchRequest) { r.Until = now.AddDate(-1, 0, 0) }, []string{}},
		{"one", func(r *SearchRequest) { r.TopK = 1 }, []string{"p"}},
		{"no words", func(r *SearchRequest) { r.Query = "?" }, []string{}},
	} {
		if got, _ := find(c.edit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if _, res := find(func(r *SearchRequest) { r.Types = []store.Type{store.UserFact} }); res.Excluded["preference"] != 1 {
		t.Errorf("excluded %v, want one preference", res.Excluded)
	}
	d.fail = errors.New("gone")
	d.put()
	if _, err := e.Search(t.Context(), req); !errors.Is(err, d.fail) {
		t.Errorf("error %v, want the store's", err)
	}
}
