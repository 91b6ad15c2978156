package admin

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hindsight/store"
)

// lines makes a call with or without lines and returns the answer's body.
func (r *rig) lines(method, path, body string) string {
	r.t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Host = "localhost:8081"
	req.Header.Set("Authorization", "Bearer 0123456789abcdef")
	req.Header.Set("Content-Type", ndjson)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if w.Code != 200 {
		r.t.Fatalf("%s %s: status %d: %s", method, path, w.Code, w.Body)
	}
	return w.Body.String()
}

func (r *rig) importing(path, body string) (rep ImportReport) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.lines("POST", path, body)), &rep); err != nil {
		r.t.Fatal(err)
	}
	return rep
}

// TestExportAndImport takes everything of a scope out of one store and into
// another, twice.
func TestExportAndImport(t *testing.T) {
	from := newRig(t, alone())
	ann := store.Owner{Tenant: "default", User: "ann"}
	from.talk(ann, "s1", "chat 1", "Where do I live?")
	one := from.must(201, "POST", "/api/v1/memories", `{"scope":"user:ann","text":"Lives in Oslo.","type":"user_fact"}`)
	from.must(200, "PATCH", "/api/v1/memories/"+one["id"].(string), `{"text":"Lives in Bergen."}`)
	from.must(201, "POST", "/api/v1/memories", `{"scope":"user:ann/agent:coder","text":"Run make first.","type":"solution"}`)
	gone := from.must(201, "POST", "/api/v1/memories", `{"scope":"user:ann","text":"Owns a boat.","type":"user_fact"}`)
	from.must(200, "DELETE", "/api/v1/memories/"+gone["id"].(string), "")
	from.must(201, "POST", "/api/v1/memories", `{"scope":"user:annabel","text":"Is somebody else.","type":"user_fact"}`)

	file := from.lines("GET", "/api/v1/export?scope=user:ann", "")
	if n := strings.Count(file, "\n"); n != 3 || strings.Contains(file, "somebody") || strings.Contains(file, "kind") {
		t.Errorf("an export of %d lines: %s", n, file)
	}
	all := from.lines("GET", "/api/v1/export?scope=user:ann&everything=true", "")
	for _, w := range []string{"Lives in Oslo.", `"kind":"revision"`, `"kind":"session"`, "Where do I live?"} {
		if !strings.Contains(all, w) {
			t.Errorf("everything has no %s: %s", w, all)
		}
	}
	from.must(422, "GET", "/api/v1/export?scope=ann", "")

	to := newRig(t, alone())
	if rep := to.importing("/api/v1/import?tenant=new", all); rep.Added != 3 || rep.Wrong != 0 || rep.Revisions != strings.Count(all, `"kind":"revision"`) || rep.Skipped != 1 || rep.Tenant != "new" {
		t.Errorf("imported: %+v", rep)
	}
	if rep := to.importing("/api/v1/import?tenant=new", all); rep.Added != 0 || rep.Revisions != 0 || rep.Known != 3+strings.Count(all, `"kind":"revision"`) {
		t.Errorf("imported again: %+v", rep)
	}
	past := func(r *rig) []string {
		var out []string
		for _, m := range list(r.must(200, "GET", "/api/v1/memories/"+one["id"].(string)+"/history", ""), "revisions") {
			out = append(out, fmt.Sprint(m["revision"], m["text"], m["created_at"]))
		}
		return out
	}
	if was, is := past(from), past(to); len(is) < 2 || !slices.Equal(was, is) {
		t.Errorf("the history was %q, is %q", was, is)
	}
	to.must(200, "PATCH", "/api/v1/memories/"+one["id"].(string), `{"text":"Lives in Turku."}`)
	if n := len(past(to)); n != len(past(from))+1 {
		t.Errorf("%d forms after a change", n)
	}
	if again := to.lines("GET", "/api/v1/export?tenant=new&scope=user:ann", ""); strings.Count(again, "\n") != 3 || !strings.Contains(again, `"state":"archived"`) {
		t.Errorf("exported again: %s", again)
	}
}

// TestImportReportsLineByLine: bad lines are named, the rest goes in.
func TestImportReportsLineByLine(t *testing.T) {
	r := newRig(t, alone())
	file := strings.Join([]string{
		"\ufeff" + `{"text":"Likes tea.","type":"preference"}`,
		``,
		`{"text":"Likes tea!","type":"preference","metadata":{"from":"elsewhere"}}`,
		`not JSON`,
		`{"text":"x1","type":"noise"}`,
		`{"text":" ","type":"event"}`,
		`{"text":"x2","type":"event","scope":"ann"}`,
		`{"text":"x3","type":"event","importance":7}`,
		`{"text":"x4","type":"event","state":"lost"}`,
		`{"kind":"session"}`,
		`{"kind":"revision","memory":{"id":"m0","revision":1,"scope":"user:ann","text":"x5","type":"event"}}`,
		`{"kind":"revision","memory":{"text":"x6","type":"event"}}`,
		`[1]`,
		`{"text":"平时喝乌龙茶","type":"preference","scope":"user:ann"}`,
	}, "\r\n")
	rep := r.importing("/api/v1/import", file)
	if rep.Added != 2 || rep.Known != 1 || rep.Skipped != 2 || rep.Wrong != 8 || rep.Tenant != "default" {
		t.Errorf("%+v", rep)
	}
	reasons := map[int]string{}
	for _, l := range rep.Lines {
		reasons[l.Line] = l.Result + " " + l.Reason
	}
	for line, want := range map[int]string{1: "added", 3: "known", 4: "JSON", 5: "type", 6: "text", 7: "scope", 8: "importance", 9: "state", 11: "skipped", 12: "number", 13: "JSON", 14: "added"} {
		if !strings.Contains(reasons[line], want) {
			t.Errorf("line %d: %q, want %q", line, reasons[line], want)
		}
	}
	page := r.must(200, "GET", "/api/v1/memories", "")["memories"].([]any)
	if len(page) != 2 || page[1].(map[string]any)["importance"] != 0.7 {
		t.Errorf("listed: %v", page)
	}
}
