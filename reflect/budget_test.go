package hreflect_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// A tenant's reflection costs a share of what it sent that day; beyond it rules
// do. What was spent holds across a restart, and the next day is a new one.
func TestBudgetOfADay(t *testing.T) {
	h := newHouse(t, func(w http.ResponseWriter, _ int, data string) {
		say(w, `{"items":[`+both(data)+`],"injected":[]}`)
	})
	tenth := 0.1
	h.cfg.Budget, h.cfg.BudgetLeast = &tenth, 0
	stop := h.run()
	reflect := func(session, strategy string) {
		t.Helper()
		h.talk(session, 1, bike+". "+boat+".", "Nice!")
		if j := h.close(session); j.State != store.Done || j.Strategy != strategy {
			t.Errorf("%s: %s by %q, want %q", session, j.State, j.Strategy, strategy)
		}
	}
	reflect("nothing was sent", extract.RulesVersion)
	h.Sent(&store.Exchange{Owner: ann, Sent: 100_000}) // one call costs less than 10,000 tokens, and two don't
	reflect("within", extract.Classify.Version())
	calls := h.calls()
	for n := 0; n < 20 && h.calls() == calls; n++ { // until it is spent
		h.talk("more"+strings.Repeat("x", n), 1, bike+". "+boat+".", "Nice!")
		if j := h.close("more" + strings.Repeat("x", n)); j.Strategy == extract.RulesVersion {
			break
		}
		calls = h.calls()
	}
	reflect("spent", extract.RulesVersion)
	if h.calls() == 0 || h.calls() > 8 {
		t.Errorf("%d calls", h.calls())
	}
	calls = h.calls()
	stop()
	h.run()
	reflect("spent, after a restart", extract.RulesVersion)
	// Another tenant's tokens are another's.
	h.Sent(&store.Exchange{Owner: store.Owner{Tenant: "other", User: "u"}, Sent: 1_000_000})
	reflect("still spent", extract.RulesVersion)
	h.Sent(&store.Exchange{Owner: ann, Sent: 200_000})
	reflect("more was sent", extract.Classify.Version())
	h.clock.add(24 * time.Hour)
	reflect("a new day without traffic", extract.RulesVersion)
	if h.calls() != calls+1 {
		t.Errorf("%d calls, want %d", h.calls(), calls+1)
	}
}

// spent is what the tenant's day has cost, as it stands in the store.
func (h *house) spent() int {
	h.t.Helper()
	v, _, err := h.Fact(h.t.Context(), "reflection budget of t")
	var is struct{ Spent int }
	if err != nil || json.Unmarshal([]byte(v), &is) != nil {
		h.t.Fatalf("%q %v", v, err)
	}
	return is.Spent
}

// A question that nothing depends on isn't asked where the day has no room for it.
func TestBudgetOfAFocusedRetry(t *testing.T) {
	calls := func(budget int) (int, int) {
		h := newHouse(t, func(w http.ResponseWriter, _ int, data string) {
			say(w, `{"items":[`+itemOf(data, bike, "The user owns 7 red bikes.")+`]}`)
		})
		if budget > 0 {
			all := 1.0
			h.cfg.Budget, h.cfg.BudgetLeast = &all, budget
		}
		h.run()
		h.talk("s", 1, bike+".", "Nice!")
		if j := h.close("s"); j.State != store.Done || j.Strategy != extract.Classify.Version() {
			t.Fatalf("%+v", j)
		}
		return h.calls(), h.spent()
	}
	n, both := calls(0)
	if n != 2 {
		t.Fatalf("%d calls without a limit", n)
	}
	if n, one := calls(both * 7 / 10); n != 1 || one >= both {
		t.Errorf("%d calls for %d tokens of %d", n, one, both)
	}
	if n, _ := calls(both * 2); n != 2 {
		t.Errorf("%d calls where there is room", n)
	}
}

// A consolidation counts against the day and waits for the next one where that
// is spent.
func TestBudgetOfAConsolidation(t *testing.T) {
	t.Parallel()
	en := pumped["en"]
	h := pumpHouse(t, func(int, string) string { return whole(en) })
	stop := h.run()
	h.teach(en[:4])
	stop()
	fifth, _, err := h.PutMemory(t.Context(), store.Memory{
		Tenant: "t", Scope: ann.Scope(), Type: store.EventType, Layer: store.Episodic, Subject: "pump", Text: en[4] + ".", Importance: 0.9,
	})
	if err != nil {
		t.Fatal(err)
	}
	tenth := 0.1
	h.cfg.Budget, h.cfg.BudgetLeast = &tenth, 0
	h.run()
	active, _, _ := h.all()
	if len(active) != 5 || fifth.ID == "" {
		t.Fatalf("%d active", len(active))
	}
	over := func() {
		t.Helper()
		if err := h.Gather(t.Context(), active); err != nil {
			t.Fatal(err)
		}
		h.Wake()
		h.until("the consolidation is over", func() bool {
			_, waiting := h.job(store.Queued)
			_, claimed := h.job(store.Running)
			return !waiting && !claimed
		})
	}
	over()
	if _, hidden, _ := h.all(); len(hidden) != 0 || h.calls() != 4 {
		t.Fatalf("%d hidden, %d calls with nothing to spend", len(hidden), h.calls())
	}
	now, err := h.Runner.Consolidate(t.Context(), "t", "", "pump", false)
	if err != nil || len(now) != 1 || now[0].Memory != nil || now[0].Reason != "the budget of the day is spent" {
		t.Errorf("%+v %v", now, err)
	}
	h.clock.add(24 * time.Hour)
	h.Sent(&store.Exchange{Owner: ann, Sent: 100_000})
	over()
	if active, hidden, _ := h.all(); len(active) != 1 || len(hidden) != 5 || h.spent() == 0 {
		t.Errorf("%d active, %d hidden, %d tokens spent", len(active), len(hidden), h.spent())
	}
}
