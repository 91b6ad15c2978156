package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestSessions(t *testing.T) {
	r := newRig(t, alone())
	ann := store.Owner{Tenant: "default", User: "ann"}
	first := r.talk(ann, "s1", "chat-7", "I live in Oslo.")
	r.talk(store.Owner{Tenant: "default", User: "bob"}, "s2", "chat-8", "I live in Rome.")
	if n := len(list(r.must(200, "GET", "/api/v1/sessions", ""), "sessions")); n != 2 {
		t.Errorf("%d sessions", n)
	}
	own := list(r.must(200, "GET", "/api/v1/sessions?scope=user:ann", ""), "sessions")
	if len(own) != 1 || own[0]["id"] != "s1" || own[0]["external_id"] != "chat-7" || own[0]["scope"] != "user:ann" || own[0]["state"] != "open" {
		t.Errorf("ann's sessions: %v", own)
	}
	for _, id := range []string{"s1", "chat-7"} {
		s := r.must(200, "GET", "/api/v1/sessions/"+id, "")
		events := list(s, "events")
		if s["id"] != "s1" || len(events) != 2 || events[0]["type"] != "user_input" || events[0]["text"] != "I live in Oslo." || events[0]["third_party"] != "a document" {
			t.Fatalf("session by %s: %v", id, s)
		}
		x := list(s, "exchanges")
		if len(x) != 1 || x[0]["id"] != first || x[0]["status"] != "complete" {
			t.Errorf("exchanges: %v", x)
		}
		if in := list(s, "injected"); len(in) != 1 || in[0]["id"] != "m1" || in[0]["exchange"] != first {
			t.Errorf("injected: %v", in)
		}
	}
	if w := r.must(200, "GET", "/api/v1/exchanges/"+first+"/why", ""); w["query"] != "I live in Oslo." || w["considered"] == nil {
		t.Errorf("why: %v", w)
	}
	r.must(404, "GET", "/api/v1/exchanges/x0/why", "")
	r.must(404, "GET", "/api/v1/sessions/nobody", "")
	r.must(422, "GET", "/api/v1/sessions?state=gone", "")
	r.must(404, "POST", "/api/v1/sessions/nobody/close", "")
	r.must(422, "POST", "/api/v1/sessions/s1/close?wait=soon", "")
	r.must(422, "POST", "/api/v1/sessions/s1/close?wait=11m", "")

	// Another's session under the same client's id: neither is guessed.
	r.talk(store.Owner{Tenant: "default", User: "eve"}, "s3", "chat-7", "Me too.")
	r.must(409, "GET", "/api/v1/sessions/chat-7", "")
}

func TestCloseQueues(t *testing.T) {
	r := newRig(t, alone())
	r.talk(store.Owner{Tenant: "default", User: "local"}, "s1", "", "I live in Oslo.")
	out := r.must(202, "POST", "/api/v1/sessions/s1/close?wait=1ms", "")
	if out["state"] != "running" || out["reflection"] == "" {
		t.Errorf("%v", out)
	}
	jobs := list(r.must(200, "GET", "/api/v1/reflections?state=queued", ""), "reflections")
	if len(jobs) != 1 || jobs[0]["id"] != out["reflection"] || jobs[0]["session"] != "s1" {
		t.Errorf("queue: %v", jobs)
	}
	if s := r.must(200, "GET", "/api/v1/sessions/s1", ""); s["state"] != "closed" {
		t.Errorf("session: %v", s["state"])
	}
	r.must(422, "GET", "/api/v1/reflections?state=lost", "")
	r.must(404, "POST", "/api/v1/reflections/j0/retry", "")
}

func TestCloseAnswersWithWhatWasKept(t *testing.T) {
	r := newRig(t, alone())
	o := store.Owner{Tenant: "default", User: "local"}
	r.talk(o, "s1", "", "I live in Oslo.")
	kept := make(chan error, 1)
	go func() {
		err := reflectOnce(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		kept <- err
	}()
	out := r.must(200, "POST", "/api/v1/sessions/s1/close?wait=20s", "")
	if err := <-kept; err != nil {
		t.Fatal(err)
	}
	ms, dropped := list(out, "memories"), list(out, "dropped")
	if len(ms) != 1 || ms[0]["text"] != "Lives in Oslo." {
		t.Errorf("memories: %v", out)
	}
	if len(dropped) != 1 || dropped[0]["text"] != "Said hello." || dropped[0]["reason"] != "noise" {
		t.Errorf("dropped: %v", out)
	}
	// Nothing new since: done at once, and the same answer to who asks again.
	again := r.must(200, "POST", "/api/v1/sessions/s1/close", "")
	if diff := cmp.Diff(out, again); diff != "" {
		t.Errorf("second close: %s", diff)
	}
}

// reflectOnce does the next reflection of the queue.
func reflectOnce(ctx context.Context, r *rig) error {
	for {
		job, ok, err := r.store.Claim(ctx, "test", time.Minute)
		if err != nil {
			return err
		}
		if !ok {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
			continue
		}
		m := store.Memory{
			ID: "mtest", Tenant: job.Owner.Tenant, Scope: job.Owner.Scope(), Type: store.UserFact, Layer: store.Semantic,
			Text: "Lives in Oslo.", State: store.Active, CreatedAt: time.Now(), UpdatedAt: time.Now(),
		}
		_, err = r.store.Apply(ctx, job, store.Outcome{
			Memories: []store.Memory{m}, Kept: []string{m.ID, "merased"},
			Dropped: []store.Dropped{{Text: "Said hello.", Reason: "noise"}},
		})
		return err
	}
}

func TestDeadReflectionIsAProblem(t *testing.T) {
	r := newRig(t, alone())
	r.talk(store.Owner{Tenant: "default", User: "local"}, "s1", "", "I live in Oslo.")
	id := r.must(202, "POST", "/api/v1/sessions/s1/close", "")["reflection"].(string)
	job, ok, err := r.store.Claim(t.Context(), "test", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := r.store.BuryJob(t.Context(), job, "the model refuses"); err != nil {
		t.Fatal(err)
	}
	dead := list(r.must(200, "GET", "/api/v1/reflections?state=dead", ""), "reflections")
	if len(dead) != 1 || dead[0]["reason"] != "the model refuses" {
		t.Errorf("dead: %v", dead)
	}
	if back := r.must(200, "POST", "/api/v1/reflections/"+id+"/retry", ""); back["state"] != "queued" {
		t.Errorf("retried: %v", back)
	}
	job.State, job.Reason = store.Dead, "the model refuses"
	a := New(Config{Store: r.store, Token: "x", Ready: steady(true, "on", "")})
	_, err = a.closed(t.Context(), job)
	var p *Problem
	if !errors.As(err, &p) || p.Status != 502 || !strings.Contains(p.Detail, "the model refuses") || !strings.Contains(p.Next, "/retry") {
		t.Errorf("close: %v", err)
	}
}

// slow is a queue whose job never ends.
type slow struct{ Store }

func (slow) WaitJob(ctx context.Context, id string) (store.Job, error) {
	<-ctx.Done()
	return store.Job{ID: id, State: store.WaitingForKey, Reason: "no key"}, ctx.Err()
}
func (slow) FindSession(context.Context, string) (store.Session, error) {
	return store.Session{ID: "s1"}, nil
}

func TestCloseWaitsNoLongerThanAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(Config{Store: slow{}, Token: "x", Ready: steady(true, "on", ""), Closer: closeFunc(func(context.Context, string) (store.Job, error) {
			return store.Job{ID: "j1", State: store.Queued}, nil
		})})
		start := time.Now()
		in := &closeInput{Wait: "30s"}
		out, err := a.closeSession(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != 202 || out.Body.State != "running" || out.Body.Reason != "no key" {
			t.Errorf("%+v", out)
		}
		if waited := time.Since(start); waited != 30*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestTenants(t *testing.T) {
	r := newRig(t, Config{})
	for i, where := range []string{`"one","scope":"user:ann"`, `"one","scope":"user:ann/agent:coder"`, `"two","scope":"user:ann"`} {
		r.must(201, "POST", path, fmt.Sprintf(`{"text":"Fact %d","type":"user_fact","tenant":%s}`, i, where))
	}
	all := list(r.must(200, "GET", "/api/v1/tenants", ""), "tenants")
	if len(all) != 2 || all[0]["id"] != "one" || len(list(all[0], "scopes")) != 2 {
		t.Fatalf("tenants: %v", all)
	}
	if got := list(all[0], "scopes")[0]["memories"]; fmt.Sprint(got) != "map[active:1]" {
		t.Errorf("counts: %v", got)
	}
	r.must(422, "POST", "/api/v1/tenants/link", `{"from":"one","to":"one"}`)
	r.must(422, "POST", "/api/v1/tenants/link", `{"from":"one"}`)
	r.must(200, "POST", "/api/v1/tenants/link", `{"from":"two","to":"one"}`)
	r.must(200, "POST", "/api/v1/tenants/link", `{"from":"two","to":"one"}`)
	r.must(409, "POST", "/api/v1/tenants/link", `{"from":"two","to":"three"}`)
	r.must(404, "POST", "/api/v1/tenants/link", `{"from":"three","to":"four"}`)
	if n := len(list(r.must(200, "GET", path+"?tenant=two", ""), "memories")); n != 3 {
		t.Errorf("%d memories under the linked name", n)
	}

	r.must(422, "DELETE", "/api/v1/tenants/one/scopes/everything", "")
	r.must(404, "DELETE", "/api/v1/tenants/one/scopes/", "")
	receipt := r.must(200, "DELETE", "/api/v1/tenants/one/scopes/user:ann%2Fagent:coder", "")
	if receipt["memories"] != 1.0 || receipt["scope"] != "user:ann/agent:coder" {
		t.Errorf("receipt: %v", receipt)
	}
	if n := len(list(r.must(200, "GET", path+"?tenant=one", ""), "memories")); n != 2 {
		t.Errorf("%d memories left", n)
	}
}
