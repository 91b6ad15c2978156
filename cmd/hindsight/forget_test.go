package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// A forgotten memory is said no more: not where it stands in a conversation
// already, not in a new one, not after a restart.
func TestForgottenIsNeitherReplayedNorRecalled(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for _, query := range []string{"", "?erase=true"} {
		t.Run("forget"+query, func(t *testing.T) {
			w := newWorld(t)
			m := w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
			kept := w.remember("local", `"text":"The user lives in Lisbon.","type":"user_fact"`)
			c := w.conversation()
			if r := c.say("What is my cat called?"); r.header.Get("Hindsight-Memories") != m.ID {
				t.Fatalf("%s, memories %q", r.memory(), r.header.Get("Hindsight-Memories"))
			}
			if r := c.say("Where do I live?"); r.header.Get("Hindsight-Memories") != kept.ID {
				t.Fatalf("%s, memories %q", r.memory(), r.header.Get("Hindsight-Memories"))
			}
			w.admin(http.MethodDelete, "/api/v1/memories/"+m.ID+query, "")
			for range 2 {
				r := c.say("OK.")
				if body := string(w.last().body); strings.Count(body, "hindsight-notes:")/2 != 1 || strings.Contains(body, "] The user's cat") || !strings.Contains(body, "] The user lives in Lisbon.") {
					t.Errorf("%s: the upstream got %s", r.memory(), body)
				}
				if r = w.conversation().say("What is my cat called?"); r.memory() != "none" {
					t.Errorf("a new conversation: %s, %s", r.memory(), r.text())
				}
				w.restart()
			}
			status, _ := w.tryAdmin(http.MethodGet, "/api/v1/memories/"+m.ID, "")
			if want := map[string]int{"": http.StatusOK, "?erase=true": http.StatusNotFound}[query]; status != want {
				t.Errorf("it answers %d, want %d", status, want)
			}
		})
	}
}

// Erasing a memory answers with a receipt, as erasing a scope does; so does the
// command, by id and by filter.
func TestErasedMemoryHasAReceipt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme")
	kept, _ := w.learn("My badge is B4411.")
	w.learn("My locker is L7733.")
	w.learn("My desk is D8844.")
	w.admin(http.MethodPatch, "/api/v1/memories/"+kept[0].ID, `{"importance":0.9}`)
	if r := w.conversation().say("What is my badge?"); r.memory() != "injected" {
		t.Fatalf("%s", r.memory())
	}
	w.flush()
	var left admin.ForgottenMemory
	w.decode(w.admin(http.MethodDelete, "/api/v1/memories/"+kept[0].ID+"?erase=true", ""), &left)
	r := left.Erasure
	if r == nil {
		t.Fatal("no receipt")
	}
	if left.ID != kept[0].ID || r.Memory != left.ID || r.Scope != "user:local" || r.Memories != 1 || r.Revisions != 1 || r.Evidence != 1 || r.Exchanges != 1 ||
		r.Ledger != 1 || r.Why != 2 || len(r.Erased) != 0 || r.ErasedAt.IsZero() || len(r.OutOfReach) != 3 {
		t.Errorf("receipt %+v", r)
	}
	s := &shell{t: t, env: w.env}
	s.env["HINDSIGHT_ADMIN_LISTEN"] = strings.TrimPrefix(w.st.adminURL(), "http://")
	locker := w.memories("local")[1]
	if !strings.Contains(locker.Text, "L7733") {
		t.Fatalf("%q", locker.Text)
	}
	w.decode(w.admin(http.MethodDelete, "/api/v1/memories/"+locker.ID+"?erase=true", ""), &left)
	const erasure = "/api/v1/tenants/acme/scopes/user:local/erasure"
	var is store.Receipt
	w.until("its bytes have left the files", func() bool {
		w.decode(w.admin(http.MethodGet, erasure+"?memory="+locker.ID, ""), &is)
		return is.State == store.ErasureDone
	})
	if in := filesHolding(t, w.env["HINDSIGHT_DATA_DIR"], "L7733"); in != nil {
		t.Errorf("done, and its words stand in %v", in)
	}
	was := *left.Erasure
	was.State = store.ErasureDone
	if d := cmp.Diff(was, is); d != "" {
		t.Errorf("the receipt that is kept (-want +got):\n%s", d)
	}
	if _, out, _ := s.run("tenants", "erasure", "--scope", "user:local", "--memory", locker.ID); !strings.Contains(out, "done") || !strings.Contains(out, locker.ID) {
		t.Errorf("the command says %s", out)
	}
	for _, of := range []string{"", "?memory=mnone", "?memory=" + w.memories("local")[0].ID} {
		if status, body := w.tryAdmin(http.MethodGet, erasure+of, ""); status != http.StatusNotFound {
			t.Errorf("the receipt of what wasn't erased (%s): %d %s", of, status, body)
		}
	}
	w.learn("My hat is H5511.")
	for _, args := range [][]string{{w.memories("local")[0].ID}, {"--type", "user_fact"}} {
		_, out, _ := s.run(append([]string{"memories", "forget", "--erase"}, args...)...)
		for _, line := range []string{"memories  ", "recall records  ", "out of reach  "} {
			if !strings.Contains(out, "\n"+line) {
				t.Errorf("%q: no %q in %s", args, line, out)
			}
		}
	}
	if n := len(w.memories("local")); n != 0 {
		t.Errorf("%d memories left", n)
	}
	w.decode(w.admin(http.MethodDelete, "/api/v1/memories/"+w.remember("local", `"text":"Cats.","type":"event"`).ID, ""), &left)
	if left.State != store.Archived {
		t.Errorf("forgotten: %+v", left)
	}
}

// What a person had forgotten isn't learned again from what was said before:
// not from a session that wasn't reflected yet, not from an old history that a
// client sends again. A later word of the user's own counts.
func TestForgottenIsNotLearnedAgain(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for _, query := range []string{"", "?erase=true"} {
		t.Run("forget"+query, func(t *testing.T) {
			w := newWorld(t)
			kept, _ := w.learn("My badge is B4411.")
			if len(kept) != 1 {
				t.Fatalf("kept %q", texts(kept))
			}
			before := w.conversation()
			before.say("Hello! My badge is B4411.")
			w.admin(http.MethodDelete, "/api/v1/memories/"+kept[0].ID+query, "")
			w.restart()
			again, dropped := w.close(before.say("OK.").session())
			if len(again) != 0 || len(dropped) != 1 || dropped[0].Reason != "forgotten" {
				t.Errorf("a session from before: kept %q, dropped %+v", texts(again), dropped)
			}
			old := w.conversation()
			old.add("user", "My badge is B4411.").add("assistant", "I have written that down.")
			if again, _ = w.close(old.say("Hello again.").session()); len(again) != 0 {
				t.Errorf("an old history: kept %q", texts(again))
			}
			if n := len(w.memories("local")); n != 0 {
				t.Errorf("%d memories", n)
			}
			if again, dropped = w.learn("My badge is B4411."); len(again) != 1 || again[0].State != store.Active {
				t.Errorf("said anew: kept %+v, dropped %+v", again, dropped)
			}
		})
	}
}

// Erasing a scope leaves nothing of it, and a receipt; another user's stays.
func TestErasedScopeIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme")
	ann, bob := "Hindsight-User: ann", "Hindsight-User: bob"
	w.learn("My badge is B4411.", ann)
	w.learn("My badge is B5522.", bob)
	unreflected := w.conversation(ann)
	unreflected.say("My name is Ann.")
	talk := w.conversation(ann)
	if r := talk.say("What is my badge?"); r.memory() != "injected" {
		t.Fatalf("%s", r.memory())
	}
	w.flush()
	held := w.metric("hindsight_index_scopes")
	var got store.Receipt
	w.decode(w.admin(http.MethodDelete, "/api/v1/tenants/acme/scopes/user:ann", ""), &got)
	if now := w.metric("hindsight_index_scopes"); now != held-1 {
		t.Errorf("%v scopes were in memory, and %v are after the erasure", held, now)
	}
	if got.Memories != 1 || got.Sessions != 3 || got.Exchanges != 3 || got.Ledger != 1 || got.Why != 3 || got.Jobs != 1 || len(got.Erased) != 1 || got.Erased[0] != "user:ann" {
		t.Errorf("receipt %+v", got)
	}
	for range 2 {
		if n, m := len(w.memories("ann")), len(w.memories("bob")); n != 0 || m != 1 {
			t.Errorf("%d memories of Ann, %d of Bob", n, m)
		}
		if ids := w.sessions(); len(ids) != 1 {
			t.Errorf("%d sessions left", len(ids))
		}
		w.restart()
	}
	// What goes on does so without the past.
	if r := talk.say("What is my badge?"); r.memory() != "none" || hasBlock(w.last().body) {
		t.Errorf("the conversation went on: %s, %s", r.memory(), w.last().body)
	}
	kept, dropped := w.close(unreflected.say("OK.").session())
	if len(kept) != 0 {
		t.Errorf("kept %q, dropped %+v", texts(kept), dropped)
	}
	if r := w.conversation(bob).say("What is my badge?"); !strings.Contains(r.text(), "B5522") {
		t.Errorf("Bob: %s", r.text())
	}
}

// An export from before a scope was erased brings nothing of it back, neither what
// was said nor what was written; what is written anew stays.
func TestAnOldExportDoesntUndoAnErasure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme")
	w.learn("My badge is B4411.", "Hindsight-User: ann")
	const written = `"text":"Ann's boat is called Zanzibar.","type":"user_fact"`
	w.remember("ann", written)
	w.admin(http.MethodPost, "/api/v1/memories", `{"scope":"user:ann/agent:coder","text":"Run the tests with -short.","type":"solution"}`)
	w.remember("bob", `"text":"Bob's boat is called Quartz.","type":"user_fact"`)
	old := string(w.admin(http.MethodGet, "/api/v1/export?tenant=acme", ""))
	w.admin(http.MethodDelete, "/api/v1/tenants/acme/scopes/user:ann", "")
	w.restart()
	bring := func(forgotten, known, there int) {
		t.Helper()
		var got struct{ Added, Forgotten, Known int }
		w.decode(w.admin(http.MethodPost, "/api/v1/import?tenant=acme", old), &got)
		if got.Added != 0 || got.Forgotten != forgotten || got.Known != known || len(w.memories("ann")) != there || len(w.in("user:ann/agent:coder")) != 0 {
			t.Errorf("the import says %+v; of ann there is %q", got, texts(w.memories("ann")))
		}
	}
	bring(3, 1, 0)
	w.remember("ann", written)
	bring(2, 2, 1)
}

// Forgetting nothing in particular forgets nothing.
func TestForgettingNeedsAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	for _, call := range []string{
		"/api/v1/memories", "/api/v1/memories/", "/api/v1/memories?scope=", "/api/v1/memories/%20", "/api/v1/memories/*", "/api/v1/memories/?erase=true",
		"/api/v1/tenants/default/scopes/", "/api/v1/tenants/default/scopes", "/api/v1/tenants/default", "/api/v1/tenants/default/scopes/%20",
		"/api/v1/tenants/default/scopes/user:", "/api/v1/tenants/default/scopes/*", "/api/v1/tenants//scopes/user:local", "/api/v1/memories/mnone",
	} {
		if status, body := w.tryAdmin(http.MethodDelete, call, ""); status/100 != 4 {
			t.Errorf("DELETE %s answered %d: %s", call, status, body)
		}
	}
	s := &shell{t: t, env: w.env}
	s.env["HINDSIGHT_ADMIN_LISTEN"] = strings.TrimPrefix(w.st.adminURL(), "http://")
	for _, args := range [][]string{{}, {""}, {" "}, {"--erase"}, {"--erase", ""}} {
		if code, out, errs := s.run(append([]string{"memories", "forget"}, args...)...); code == 0 {
			t.Errorf("hindsight memories forget %q: %s%s", args, out, errs)
		}
	}
	if n := len(w.memories("local")); n != 1 {
		t.Errorf("%d memories", n)
	}
}
