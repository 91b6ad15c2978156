package admin

import (
	"fmt"
	"slices"
	"testing"

	"hindsight/store"
)

// TestReflectionsComeInPages walks the queue while it grows: each job that was
// there at the start comes once.
func TestReflectionsComeInPages(t *testing.T) {
	r := newRig(t, alone())
	queue := func(session string) string {
		r.talk(store.Owner{Tenant: "default", User: "local"}, session, "", session+" lives in Oslo.")
		return r.must(202, "POST", "/api/v1/sessions/"+session+"/close", "")["reflection"].(string)
	}
	var want, got []string
	for i := range 5 {
		want = append(want, queue(fmt.Sprint("s", i)))
	}
	cursor := ""
	for page := 0; page == 0 || cursor != ""; page++ {
		out := r.must(200, "GET", "/api/v1/reflections?state=queued&limit=2&cursor="+cursor, "")
		for _, j := range list(out, "reflections") {
			got = append(got, j["id"].(string))
		}
		if n := out["counts"].(map[string]any)["queued"]; n != float64(5+page) {
			t.Errorf("page %d counts %v", page, n)
		}
		cursor, _ = out["next_cursor"].(string)
		queue(fmt.Sprint("later", page))
	}
	slices.Reverse(got) // the last created come first
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	if out := r.must(200, "GET", "/api/v1/reflections?session=s1&limit=1", ""); out["next_cursor"] != "" || len(list(out, "reflections")) != 1 {
		t.Errorf("of one session: %v", out)
	}
	for _, bad := range []string{"x", "AAAA", "!"} {
		r.must(422, "GET", "/api/v1/reflections?cursor="+bad, "")
	}
}
