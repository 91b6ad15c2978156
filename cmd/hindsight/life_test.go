package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// events writes episodic memories of one subject and returns them.
func (w *world) events(texts ...string) []store.Memory {
	w.t.Helper()
	var out []store.Memory
	for _, s := range texts {
		out = append(out, w.remember("local", fmt.Sprintf(`"text":%q,"type":"event","subject":"pump","importance":0.4`, s)))
	}
	return out
}

var pumpEvents = []string{
	"The pump was repaired on 2026-01-02.", "The pump was repaired by Anna on 2026-02-03.", "The pump was oiled on 2026-03-04.",
	"The pump was not repaired on 2026-04-05.", "Valve V-77 of the pump was replaced on 2026-05-06.",
}

// Asked for, several memories become one that is recalled in their place; undone,
// they are recalled again.
func TestConsolidateOnDemand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sources := w.events(pumpEvents...)
	var got struct{ Merged []store.Merge }
	ask := func(body string) store.Merge {
		t.Helper()
		w.decode(w.admin(http.MethodPost, "/api/v1/memories/consolidate", body), &got)
		if len(got.Merged) != 1 || len(got.Merged[0].Sources) != 5 {
			t.Fatalf("%+v", got)
		}
		return got.Merged[0]
	}
	if m := ask(`{"dry_run":true}`); m.Memory != nil || len(w.memories("local")) != 5 {
		t.Errorf("dry: %+v", m)
	}
	m := ask(`{"subject":"Pump"}`)
	if m.Memory == nil || m.Memory.Layer != store.Semantic || len(w.memories("local")) != 1 {
		t.Fatalf("%+v", m)
	}
	if r := w.conversation().say("When was the pump repaired?"); r.header.Get("Hindsight-Memories") != m.Memory.ID {
		t.Errorf("%s: %q recalled", r.memory(), r.header.Get("Hindsight-Memories"))
	}
	var undone struct{ Sources []store.Memory }
	w.decode(w.admin(http.MethodPost, "/api/v1/memories/"+m.Memory.ID+"/undo", ""), &undone)
	if len(undone.Sources) != 5 || len(w.memories("local")) != 5 || len(w.memoriesIn(store.Archived)) != 1 {
		t.Errorf("undone: %d", len(undone.Sources))
	}
	if status, body := w.tryAdmin(http.MethodPost, "/api/v1/memories/"+m.Memory.ID+"/undo", ""); status != http.StatusConflict {
		t.Errorf("undone twice: %d %s", status, body)
	}
	if r := w.conversation().say("When was valve V-77 of the pump replaced?"); !strings.Contains(r.header.Get("Hindsight-Memories"), sources[4].ID) {
		t.Errorf("%s: %q recalled", r.memory(), r.header.Get("Hindsight-Memories"))
	}
}

// Without a model nothing is consolidated, and it says so.
func TestConsolidateWithoutAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_REFLECT_MODEL=rules")
	w.events(pumpEvents...)
	var got struct{ Merged []store.Merge }
	w.decode(w.admin(http.MethodPost, "/api/v1/memories/consolidate", `{}`), &got)
	if len(got.Merged) != 1 || got.Merged[0].Memory != nil || got.Merged[0].Reason == "" || len(w.memories("local")) != 5 {
		t.Errorf("%+v", got)
	}
}

// A sweep takes what is old, says why, leaves no tombstone, and a dry one leaves
// all as it is.
func TestSweepOnDemand(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for mode, want := range map[string]store.SweepReport{
		"archive": {Archived: 5}, "downweight": {Lowered: 5}, "off": {},
	} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, "HINDSIGHT_FORGET_MODE="+mode, "HINDSIGHT_FORGET_AFTER=1ns")
			w.events(pumpEvents...)
			kept := w.remember("local", `"text":"The user was in Rome on 2026-01-01.","type":"event","importance":0.5`)
			var dry, got, again store.SweepReport
			w.decode(w.admin(http.MethodPost, "/api/v1/memories/sweep", `{"dry_run":true}`), &dry)
			if n := len(w.memories("local")); n != 6 {
				t.Errorf("a dry run left %d", n)
			}
			w.decode(w.admin(http.MethodPost, "/api/v1/memories/sweep", `{}`), &got)
			w.decode(w.admin(http.MethodPost, "/api/v1/memories/sweep", `{}`), &again)
			for name, r := range map[string]store.SweepReport{"dry": dry, "wet": got} {
				if r.DryRun != (name == "dry") || r.Archived != want.Archived || r.Lowered != want.Lowered || r.Deleted != 0 || len(r.Memories) != want.Archived+want.Lowered {
					t.Errorf("%s: %+v", name, r)
				}
				for _, m := range r.Memories {
					if m.Reason != lifecycle.TooOld || m.ID == kept.ID || m.Text == "" {
						t.Errorf("%s: %+v", name, m)
					}
				}
			}
			if again.Archived+again.Lowered != 0 {
				t.Errorf("again: %+v", again)
			}
			if n := len(w.memories("local")); n != 6-want.Archived {
				t.Errorf("%d memories left", n)
			}
		})
	}
}

// A restored memory isn't swept again at once, and one archived for long is gone.
func TestSweptAndRestored(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_FORGET_AFTER=2s", "HINDSIGHT_FORGET_DELETE_AFTER=1ns")
	m := w.events(pumpEvents[0])[0]
	sweep := func() (r store.SweepReport) {
		w.decode(w.admin(http.MethodPost, "/api/v1/memories/sweep", `{}`), &r)
		return r
	}
	w.until("it is old", func() bool { return time.Since(m.CreatedAt) > 2*time.Second })
	if r := sweep(); r.Archived != 1 {
		t.Fatalf("%+v", r)
	}
	w.admin(http.MethodPost, "/api/v1/memories/"+m.ID+"/restore", "")
	if r := sweep(); r.Archived != 0 {
		t.Errorf("swept again: %+v", r)
	}
	w.admin(http.MethodDelete, "/api/v1/memories/"+m.ID, "")
	if r := sweep(); r.Deleted != 1 || r.Memories[0].Reason != lifecycle.LongInStore {
		t.Errorf("%+v", r)
	}
	if status, _ := w.tryAdmin(http.MethodGet, "/api/v1/memories/"+m.ID, ""); status != http.StatusNotFound {
		t.Errorf("it answers %d", status)
	}
}

// Forget by filter: what matches and nothing else, after a dry run, undoable; an
// empty filter is an error that names the fields.
func TestForgetByFilter(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=default")
	kept, _ := w.learn("My badge is B4411.")
	session := kept[0].Evidence[0].Session
	w.events(pumpEvents[:2]...)
	w.remember("local", `"text":"用户住在杭州。","type":"user_fact"`)
	w.remember("ann", `"text":"The pump of Ann was repaired.","type":"event","subject":"pump"`)
	for _, empty := range []string{`{}`, `{"query":""}`, `{"query":" ","subject":" "}`, `{"scope":"user:local"}`, `{"erase":true}`, `{"dry_run":true}`} {
		status, body := w.tryAdmin(http.MethodPost, "/api/v1/memories/forget", empty)
		if status != http.StatusBadRequest || !strings.Contains(string(body), "query, subject, session") {
			t.Errorf("%s: %d %s", empty, status, body)
		}
	}
	for _, bad := range []string{`{"query":"?!"}`, `{"type":"noise"}`, `{"sesion":"x"}`, `{"subject":"pump","scope":"nobody"}`} {
		if status, body := w.tryAdmin(http.MethodPost, "/api/v1/memories/forget", bad); status/100 != 4 {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
	if n := len(w.memories("local")); n != 4 {
		t.Fatalf("%d memories", n)
	}
	var got struct {
		Count    int
		Memories []store.Memory
	}
	for filter, want := range map[string]int{
		`{"subject":"pump"}`: 2, `{"session":"` + session + `"}`: 1, `{"query":"repairing the pumps"}`: 2, `{"query":"pump Anna"}`: 1,
		`{"query":"杭州"}`: 1, `{"query":"pump Rome"}`: 0, `{"type":"user_fact"}`: 2, `{"layer":"episodic"}`: 2,
		`{"type":"event","query":"Anna","subject":"pump"}`: 1, `{"since":"2100-01-01T00:00:00Z"}`: 0, `{"until":"2100-01-01T00:00:00Z"}`: 4,
	} {
		w.decode(w.admin(http.MethodPost, "/api/v1/memories/forget", strings.TrimSuffix(filter, "}")+`,"dry_run":true}`), &got)
		if got.Count != want || len(got.Memories) != want || len(w.memories("local")) != 4 {
			t.Errorf("dry %s: %d, want %d", filter, got.Count, want)
		}
		w.decode(w.admin(http.MethodPost, "/api/v1/memories/forget", filter), &got)
		if got.Count != want || len(w.memories("local")) != 4-want {
			t.Errorf("%s: %d, want %d; %d left", filter, got.Count, want, len(w.memories("local")))
		}
		for _, m := range got.Memories {
			w.admin(http.MethodPost, "/api/v1/memories/"+m.ID+"/restore", "")
		}
		if n := len(w.memories("local")); n != 4 {
			t.Fatalf("%s restored: %d", filter, n)
		}
	}
	w.admin(http.MethodPost, "/api/v1/memories/forget", `{"subject":"pump","erase":true}`)
	if n, ann := len(w.memories("local")), len(w.memories("ann")); n != 2 || ann != 1 || len(w.memoriesIn(store.Archived)) != 0 {
		t.Errorf("erased: %d left, Ann has %d", n, ann)
	}
}

// Memories that went into another go by the filter too, and undo what they
// went into.
func TestForgetByFilterFindsSources(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t)
	w.events(pumpEvents...)
	w.admin(http.MethodPost, "/api/v1/memories/consolidate", `{}`)
	w.admin(http.MethodPost, "/api/v1/memories/forget", `{"query":"Anna"}`)
	active, archived := w.memories("local"), w.memoriesIn(store.Archived)
	if len(active) != 0 || len(archived) != 1 || len(archived[0].SourceIDs) != 5 {
		t.Errorf("%d active, archived %+v", len(active), archived)
	}
	w.admin(http.MethodPost, "/api/v1/memories/"+archived[0].ID+"/restore", "")
	var hidden struct{ Memories []store.Memory }
	w.decode(w.admin(http.MethodGet, "/api/v1/memories?state=consolidated&scope="+url.QueryEscape("user:local"), ""), &hidden)
	for _, m := range hidden.Memories {
		if strings.Contains(m.Text, "Anna") {
			w.admin(http.MethodDelete, "/api/v1/memories/"+m.ID+"?erase=true", "")
		}
	}
	if got := w.memories("local"); len(got) != 4 || strings.Contains(fmt.Sprint(got), "Anna") {
		t.Errorf("%q", texts(got))
	}
}

func TestCommandsOnLives(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_FORGET_AFTER=1ns")
	w.events(pumpEvents...)
	s := &shell{t: t, env: w.env}
	s.env["HINDSIGHT_ADMIN_LISTEN"] = strings.TrimPrefix(w.st.adminURL(), "http://")
	if out := s.must("memories", "consolidate", "--dry-run"); !strings.Contains(out, "pump") || len(w.memories("local")) != 5 {
		t.Errorf("dry: %s", out)
	}
	var got struct{ Merged []store.Merge }
	if err := json.Unmarshal([]byte(s.must("memories", "consolidate", "--subject", "pump", "--json")), &got); err != nil || len(got.Merged) != 1 || got.Merged[0].Memory == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if out := s.must("memories", "undo", got.Merged[0].Memory.ID); !strings.Contains(out, "5 memories are back") {
		t.Errorf("undo: %s", out)
	}
	id := w.memories("local")[0].ID
	if out := s.must("memories", "verify", id); !strings.Contains(out, id) {
		t.Errorf("verify: %s", out)
	}
	if out := s.must("memories", "forget", "--query", "oiled", "--dry-run"); !strings.Contains(out, "1 would be forgotten") {
		t.Errorf("forget: %s", out)
	}
	if out := s.must("memories", "forget", "--query", "oiled"); !strings.Contains(out, "1 forgotten") {
		t.Errorf("forget: %s", out)
	}
	if out := s.must("memories", "sweep", "--dry-run"); !strings.Contains(out, "4 archived") || !strings.Contains(out, "old") {
		t.Errorf("sweep: %s", out)
	}
	if out := s.must("memories", "sweep"); !strings.Contains(out, "4 archived") {
		t.Errorf("sweep: %s", out)
	}
	s.fails(2, []string{"--query"}, "memories", "forget")
	s.fails(2, []string{"Give either"}, "memories", "forget", id, "--query", "pump")
	s.fails(2, []string{"empty"}, "memories", "undo", "")
}
