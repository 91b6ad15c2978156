package admin

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// told is a session as the API shows it, in short.
func (r *rig) told(id string) (events []string, turns float64) {
	r.t.Helper()
	s := r.must(http.StatusOK, "GET", "/api/v1/sessions/"+id, "")
	for _, e := range list(s, "events") {
		line := fmt.Sprintf("%v %v %v", e["turn"], e["type"], e["text"])
		if e["third_party"] != nil {
			line += fmt.Sprintf(" (%v)", e["third_party"])
		}
		events = append(events, line)
	}
	turns, _ = s["turns"].(float64)
	return events, turns
}

const twoTurns = `[
	{"type":"user_input","payload":"> a document\nWhat is it?"},
	{"type":"tool_call","payload":{"name":"search","call_id":"c1","text":"{}"}},
	{"type":"tool_result","payload":{"call_id":"c1","text":"nothing","failed":true}},
	{"type":"final_output","payload":{"text":"I don't know."}},
	{"type":"user_input","time":"2026-11-20T10:00:00+08:00","payload":"I live in Lyon."}
]`

func TestReportedEventsAreAConversation(t *testing.T) {
	r := newRig(t, alone())
	first := r.must(http.StatusOK, "POST", "/api/v1/sessions/run-7/events?user=ann&agent=crew", twoTurns)
	if first["recorded"] != 5.0 || first["known"] != 0.0 || len(first["exchanges"].([]any)) != 2 {
		t.Fatalf("%v", first)
	}
	id := first["session"].(string)
	// The rest of the second turn comes later, with all that was sent before.
	rest := strings.TrimSuffix(twoTurns, "]") + `,{"type":"final_output","payload":"Noted."}]`
	again := r.must(http.StatusOK, "POST", "/api/v1/sessions/run-7/events?user=ann&agent=crew", rest)
	if again["recorded"] != 1.0 || again["known"] != 5.0 || again["session"] != id {
		t.Fatalf("%v", again)
	}
	// Our id does too, and then nobody need be named.
	same := r.must(http.StatusOK, "POST", "/api/v1/sessions/"+id+"/events", rest)
	if same["recorded"] != 0.0 || len(same["exchanges"].([]any)) != 0 {
		t.Errorf("%v", same)
	}
	events, turns := r.told(id)
	want := []string{
		"1 user_input What is it? (a document)", "1 tool_call {}", "1 tool_result nothing", "1 final_output I don't know.",
		"2 user_input I live in Lyon.", "2 final_output Noted.",
	}
	if diff := cmp.Diff(want, events); diff != "" || turns != 2 {
		t.Errorf("%v turns\n%s", turns, diff)
	}
	s, err := r.store.FindSession(t.Context(), id)
	if err != nil || s.ExternalID != "run-7" || s.Owner != (store.Owner{Tenant: "default", User: "ann", Agent: "crew"}) || s.NewTokens == 0 {
		t.Errorf("%+v %v", s, err)
	}
	// Another user's session of that name is another one.
	other := r.must(http.StatusOK, "POST", "/api/v1/sessions/run-7/events?user=bob", `[{"type":"user_input","payload":"Hello."}]`)
	if other["session"] == id {
		t.Error("two users share a session")
	}
	// And another user can't add to it by its id.
	stranger := r.must(http.StatusOK, "POST", "/api/v1/sessions/"+id+"/events?user=bob", `[{"type":"user_input","payload":"Hello."}]`)
	if stranger["session"] == id {
		t.Error("a stranger adds to a session")
	}
}

func TestReportedEventsSentAtOnceAreRecordedOnce(t *testing.T) {
	r := newRig(t, alone())
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { r.do("POST", "/api/v1/sessions/x/events", twoTurns) })
	}
	calls.Wait()
	id := r.must(http.StatusOK, "POST", "/api/v1/sessions/x/events", twoTurns)["session"].(string)
	if events, _ := r.told(id); len(events) != 5 {
		t.Errorf("%d events: %q", len(events), events)
	}
}

func TestAWrongEventIsNamedByIndexAndField(t *testing.T) {
	r := newRig(t, alone())
	ok := `{"type":"user_input","payload":"Hi."}`
	for body, want := range map[string]string{
		`[` + ok + `,{"type":"shout","payload":"x"}]`:                                              "body[1].type",
		`[{"type":"user_input"}]`:                                                                  "body[0]",
		`[` + ok + `,` + ok + `,{"type":"user_input","payload":" "}]`:                              "body[2].payload.text",
		`[{"type":"user_input","payload":7}]`:                                                      "body[0].payload",
		`[{"type":"user_input","payload":{"text":7}}]`:                                             "body[0].payload.text",
		`[{"type":"user_input","payload":{"text":"x","mood":"y"}}]`:                                "body[0].payload.mood",
		`[{"type":"tool_call","payload":{"text":"{}"}}]`:                                           "body[0].payload.name",
		`[{"type":"final_output","payload":{"text":"x","third_party":"y"}}]`:                       "body[0].payload.third_party",
		`[{"type":"final_output","payload":{"text":"x","failed":true}}]`:                           "body[0].payload.failed",
		`[{"type":"user_input","payload":"x","time":"tomorrow"}]`:                                  "body[0].time",
		`[{"type":"user_input","payload":"x","time":"2126-01-01T00:00:00Z"}]`:                      "body[0].time",
		`[{"type":"user_input","payload":"x","turn":0}]`:                                           "body[0].turn",
		`[{"type":"tool_result","payload":{"text":"","name":"` + strings.Repeat("n", 201) + `"}}]`: "body[0].payload.name",
		`[]`: "body",
	} {
		code, out := r.do("POST", "/api/v1/sessions/x/events", body)
		errs := list(out, "errors")
		if code != http.StatusUnprocessableEntity || len(errs) == 0 || errs[0]["field"] != want {
			t.Errorf("%s: status %d, want field %s: %v", body, code, want, out)
		}
	}
	code, out := r.do("POST", "/api/v1/sessions/"+"%7B%7Bid%7D%7D"+"/events", `[`+ok+`]`)
	if code != http.StatusUnprocessableEntity || list(out, "errors")[0]["field"] != "path.id" {
		t.Errorf("a template as a name: %d %v", code, out)
	}
	nobody := newRig(t, Config{Tenant: "default"})
	code, out = nobody.do("POST", "/api/v1/sessions/x/events", `[`+ok+`]`)
	if code != http.StatusBadRequest || list(out, "errors")[0]["field"] != "query.user" {
		t.Errorf("no user: %d %v", code, out)
	}
	if page := r.must(http.StatusOK, "GET", "/api/v1/sessions", ""); len(list(page, "sessions")) != 0 {
		t.Errorf("something was recorded: %v", page)
	}
}
