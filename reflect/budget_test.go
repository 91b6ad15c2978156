package hreflect_test

import (
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
