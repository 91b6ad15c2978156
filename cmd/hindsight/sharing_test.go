package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

const sharedToUsers = `HINDSIGHT_GRANTS=[{"tenant":"acme","scope":"shared","to":"users"}]`

// in lists the live memories of a scope.
func (w *world) in(sc store.Scope) []store.Memory {
	w.t.Helper()
	status, raw := w.tryAdmin(http.MethodGet, "/api/v1/memories?scope="+url.QueryEscape(string(sc)), "")
	var v struct{ Memories []store.Memory }
	if w.decode(raw, &v); status != http.StatusOK {
		w.t.Fatalf("list %s: %d %s", sc, status, raw)
	}
	return v.Memories
}

// taught holds a session of one turn that must leave a memory.
func (w *world) taught(user, words string, headers ...string) store.Memory {
	w.t.Helper()
	kept, dropped := w.learn(words, append(headers, "Hindsight-User: "+user)...)
	if len(kept) != 1 {
		w.t.Fatalf("%s taught %q: kept %q, dropped %+v", user, words, texts(kept), dropped)
	}
	return kept[0]
}

// asks lets a user ask in a new conversation and says what of it reached the
// upstream.
func (w *world) asks(user, words string, headers ...string) string {
	w.t.Helper()
	w.conversation(append(headers, "Hindsight-User: "+user)...).say(words)
	return string(w.last().body)
}

// What two users were taught reaches a third only where a grant opens the scope,
// and then in words alone.
func TestALessonOfTwoUsersIsShared(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for name, c := range map[string]struct{ ann, bob, question, words string }{
		"English": {"The fix was to clear the gradle cache before the build.", "The fix was to clear the gradle cache before the build!", "How do I fix the gradle build, clear the cache?", "gradle cache"},
		"Chinese": {"解决办法是先清空构建缓存再重新编译。", "解决办法是先清空构建缓存再重新编译！", "重新编译前要清空构建缓存吗？", "清空构建缓存"},
	} {
		for _, granted := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", granted", false: ", not granted"}[granted], func(t *testing.T) {
				env := []string{"HINDSIGHT_TENANT=acme"}
				if granted {
					env = append(env, sharedToUsers)
				}
				w := newWorld(t, env...)
				a := w.taught("ann", c.ann)
				if n := len(w.in(store.Shared)); n != 0 || strings.Contains(w.asks("eve", c.question), "] ") {
					t.Fatalf("one user's word is shared: %d", n)
				}
				b := w.taught("bob", c.bob)
				if !granted {
					w.restart() // which would find what was missed
					if body := w.asks("carol", c.question+" "); strings.Contains(body, "] ") || len(w.in(store.Shared)) != 0 {
						t.Fatalf("without a grant: %s", body)
					}
					return
				}
				w.until("it is promoted", func() bool { return len(w.in(store.Shared)) == 1 })
				m := w.in(store.Shared)[0]
				if len(m.Evidence) != 0 || len(m.SourceIDs) != 2 || m.SourceIDs[0] != a.ID || m.SourceIDs[1] != b.ID || m.Change.By != store.Promoted || m.Change.Session != "" {
					t.Errorf("promoted: %+v", m)
				}
				chain := w.past(m.ID).Chain
				if len(chain) != 3 || chain[0].Evidence[0].Quote == "" || chain[1].Evidence[0].Quote == "" {
					t.Errorf("the authors' evidence: %+v", chain)
				}
				body := w.asks("carol", c.question)
				if !strings.Contains(body, c.words) || !strings.Contains(body, "] ") {
					t.Errorf("carol got %s", body)
				}
				for _, leak := range []string{"ann", "bob", a.Evidence[0].Session, b.Evidence[0].Session} {
					if strings.Contains(body, leak) {
						t.Errorf("%q in carol's request: %s", leak, body)
					}
				}
				w.restart()
				if n := len(w.in(store.Shared)); n != 1 {
					t.Errorf("%d memories after a restart", n)
				}
			})
		}
	}
}

// Facts about people and preferences never cross, however many say them, nor
// does a lesson that names its user, or one that differs in a number.
func TestWhatIsNeverShared(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme", sharedToUsers)
	for _, user := range []string{"ann", "bob"} {
		for _, words := range []string{"I live in Lisbon.", "I prefer tabs over spaces.", "From now on, always answer in English."} {
			w.taught(user, words)
		}
		w.taught(user, "The fix was to give ann the deploy role.")
		w.taught(user, "The fix was to raise the limit to "+map[string]string{"ann": "400", "bob": "500"}[user]+" files.")
	}
	w.restart()
	w.taught("dan", "The fix was to restart the print spooler.") // the runner works again
	w.taught("eve", "The fix was to restart the print spooler.")
	w.until("the lesson is promoted", func() bool { return len(w.in(store.Shared)) > 0 })
	if got := w.in(store.Shared); len(got) != 1 || !strings.Contains(got[0].Text, "spooler") {
		t.Errorf("shared: %q", texts(got))
	}
	if body := w.asks("carol", "Where do I live and do I prefer tabs?"); strings.Contains(body, "Lisbon") || strings.Contains(body, "tabs over") {
		t.Errorf("carol got %s", body)
	}
}

// A lesson learned with one agent goes to that agent's scope, and only whoever
// comes with it reads it.
func TestALessonOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme", `HINDSIGHT_GRANTS=[{"tenant":"acme","scope":"agent:coder","to":"users"},{"tenant":"acme","scope":"shared","to":"users"}]`)
	agent := "Hindsight-Agent: coder"
	w.taught("ann", "The fix was to clear the gradle cache before the build.", agent)
	w.taught("bob", "The fix was to clear the gradle cache before the build.", agent)
	w.until("it is promoted", func() bool { return len(w.in(store.AgentScope("coder"))) == 1 })
	if n := len(w.in(store.Shared)); n != 0 {
		t.Errorf("%d in the shared scope", n)
	}
	question := "How do I fix the gradle build, clear the cache?"
	if body := w.asks("carol", question, agent); !strings.Contains(body, "] ") {
		t.Errorf("with the agent: %s", body)
	}
	w.flush() // what grows, grows once it has been answered
	if body := w.asks("carol", question+"!", "Hindsight-Agent: cook"); strings.Contains(body, "] ") {
		t.Errorf("with another agent: %s", body)
	}
}

// A person promotes one user's lesson; what may not cross is refused, and so is
// a scope that nobody was granted.
func TestAPersonPromotes(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme", sharedToUsers)
	lesson := w.taught("ann", "The fix was to clear the gradle cache before the build.")
	fact := w.taught("ann", "I live in Lisbon.")
	for _, c := range []struct {
		id, scope string
		want      int
	}{
		{fact.ID, "shared", http.StatusConflict}, {lesson.ID, "agent:coder", http.StatusConflict}, {lesson.ID, "user:bob", http.StatusUnprocessableEntity},
		{"m0", "shared", http.StatusNotFound}, {lesson.ID, "shared", http.StatusCreated}, {lesson.ID, "shared", http.StatusOK},
	} {
		if status, raw := w.tryAdmin(http.MethodPost, "/api/v1/memories/"+c.id+"/promote", `{"scope":"`+c.scope+`"}`); status != c.want {
			t.Errorf("promote %s to %s: %d %s", c.id, c.scope, status, raw)
		}
	}
	question := "How do I fix the gradle build, clear the cache?"
	carol := w.conversation("Hindsight-User: carol")
	if r := carol.say(question); r.memory() != "injected" {
		t.Fatalf("carol: %s", r.memory())
	}
	m := w.in(store.Shared)[0]
	w.admin(http.MethodDelete, "/api/v1/memories/"+m.ID, "")
	// What a person had forgotten there comes back by a person alone.
	w.taught("bob", "The fix was to clear the gradle cache before the build.")
	w.restart()
	if body := w.asks("dan", question+" "); strings.Contains(body, "] ") {
		t.Errorf("forgotten, and recalled: %s", body)
	}
	if got := w.in(store.Shared); len(got) != 0 {
		t.Errorf("promoted again: %q", texts(got))
	}
	w.admin(http.MethodPost, "/api/v1/memories/"+lesson.ID+"/promote", `{"scope":"shared"}`)
	// The only source goes for good: so does what was made of it, in what
	// conversations have seen too.
	w.admin(http.MethodDelete, "/api/v1/memories/"+lesson.ID+"?erase=true", "")
	carol.say("OK.")
	if body := string(w.last().body); strings.Contains(body, "] ") {
		t.Errorf("erased, and replayed: %s", body)
	}
	if got := w.in(store.Shared); len(got) != 0 {
		t.Errorf("erased at its source: %+v", got)
	}
}

// Erasing one author leaves what the other taught, in the other's words; erasing
// both leaves nothing.
func TestErasingTheAuthorsOfALesson(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme", sharedToUsers)
	w.taught("ann", "The fix was to clear the gradle cache before the clean build runs.")
	b := w.taught("bob", "The fix was to clear the gradle cache before a clean build runs.")
	w.until("it is promoted", func() bool { return len(w.in(store.Shared)) == 1 })
	first := w.in(store.Shared)[0]
	question := "How do I fix the gradle build, clear the cache?"
	carol := w.conversation("Hindsight-User: carol")
	if carol.say(question); !strings.Contains(string(w.last().body), "before the clean") {
		t.Fatalf("carol got %s", w.last().body)
	}
	var receipt store.Receipt
	w.decode(w.admin(http.MethodDelete, "/api/v1/tenants/acme/scopes/user:ann", ""), &receipt)
	got := w.in(store.Shared)
	if receipt.Promoted != 1 || len(got) != 1 || got[0].Text != b.Text || got[0].ID == first.ID || len(got[0].SourceIDs) != 1 || got[0].Revision != 1 {
		t.Fatalf("receipt %+v, shared %+v", receipt, got)
	}
	for range 2 {
		if carol.say("OK."); strings.Contains(string(w.last().body), "] The fix") {
			t.Errorf("ann's words are replayed: %s", w.last().body)
		}
		if status, _ := w.tryAdmin(http.MethodGet, "/api/v1/memories/"+first.ID, ""); status != http.StatusNotFound {
			t.Errorf("ann's words: %d", status)
		}
		w.restart()
	}
	if body := w.asks("dan", question); !strings.Contains(body, "before a clean") {
		t.Errorf("dan got %s", body)
	}
	w.admin(http.MethodDelete, "/api/v1/tenants/acme/scopes/user:bob", "")
	if got := w.in(store.Shared); len(got) != 0 {
		t.Errorf("shared: %+v", got)
	}
}

// A grant that comes later, and a process that was killed between learning and
// promoting, are made good at the next start.
func TestAGrantThatComesLater(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme")
	w.taught("ann", "The fix was to clear the gradle cache before the build.")
	w.taught("bob", "The fix was to clear the gradle cache before the build.")
	_, w.env["HINDSIGHT_GRANTS"], _ = strings.Cut(sharedToUsers, "=")
	w.restart()
	w.until("it is promoted", func() bool { return len(w.in(store.Shared)) == 1 })
	if m := w.in(store.Shared)[0]; m.CreatedAt.Before(time.Now().Add(-time.Minute)) || len(m.SourceIDs) != 2 {
		t.Errorf("promoted %+v", m)
	}
}

func TestWhomAGrantReaches(t *testing.T) {
	t.Parallel()
	alone, coder := store.Owner{Tenant: "acme", User: "ann"}, store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	for _, c := range []struct {
		g           Grant
		alone, with bool
	}{
		{Grant{Tenant: "acme", Scope: store.Shared, To: "users"}, true, true},
		{Grant{Tenant: "acme", Scope: store.Shared, To: "agents"}, false, true},
		{Grant{Tenant: "acme", Scope: "agent:coder", To: "users"}, false, true},
		{Grant{Tenant: "acme", Scope: "agent:cook", To: "users"}, false, false},
		{Grant{Tenant: "acme", Scope: "agent:cook", To: "agents"}, false, true},
		{Grant{Tenant: "other", Scope: store.Shared, To: "users"}, false, false},
	} {
		reads := grantsOf([]Grant{c.g, c.g})
		if a, w := len(reads(alone)), len(reads(coder)); (a == 1) != c.alone || (w == 1) != c.with {
			t.Errorf("%+v: without an agent %d, with one %d", c.g, a, w)
		}
	}
}
