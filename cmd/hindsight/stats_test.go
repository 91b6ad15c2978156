package main

import (
	"net/http"
	"strings"
	"testing"

	"hindsight/proxy/admin"
	"hindsight/store"
)

func (w *world) stats() admin.Stats {
	w.t.Helper()
	var s admin.Stats
	w.decode(w.admin(http.MethodGet, "/api/v1/stats", ""), &s)
	return s
}

// What conversations did shows in the figures and on /metrics; what is counted
// from the store is the same after a restart, the rest begins anew.
func TestFiguresOfConversations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.learn("I live in Lisbon.")
	w.learn("As I said, I live in Lisbon.")
	w.learn("I live in Oslo.")
	c := w.conversation()
	if r := c.say("Where do I live?"); r.memory() != "injected" {
		t.Fatalf("%s: %s", r.memory(), r.body)
	}
	c.say("Where do I live, again?") // found again and not said again
	w.close(c.say("OK.").session())
	s := w.stats()
	r := s.Run
	if s.Kept.States[store.Active] != 1 || s.Kept.States[store.Superseded] != 1 || s.Conflict == nil || *s.Conflict != 0.5 || s.Kept.Merged != 1 {
		t.Errorf("kept: %+v", s)
	}
	if s.Kept.Judged != (store.Judged{Used: 1}) || s.Utilisation == nil || *s.Utilisation != 1 {
		t.Errorf("judged: %+v", s.Kept.Judged)
	}
	if r.Injections != 1 || r.Recalls < 4 || r.Hit == nil || *r.Hit != float64(r.Injections)/float64(r.Recalls) || r.InjectedTokens == 0 || r.CarriedTokens != 3*r.InjectedTokens {
		t.Errorf("recalls: %+v", r)
	}
	if r.Spared == 0 || r.TokensSaved == 0 || r.Prompt == 0 || r.PrefixKept == nil || *r.PrefixKept != 1 {
		t.Errorf("this process: %+v", r)
	}
	metrics := string(w.admin(http.MethodGet, "/metrics", ""))
	for _, name := range []string{`hindsight_recall_spared_total{reason="already_said"}`, "hindsight_recall_spared_tokens_total", `hindsight_prefix_total{result="kept"} 2`, `hindsight_reflect_verdicts_total{verdict="used"} 1`} {
		if !strings.Contains(metrics, name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	for _, word := range []string{"Lisbon", "local", "user:"} {
		if strings.Contains(metrics, word) {
			t.Errorf("%q on /metrics", word)
		}
	}
	// A forgotten memory takes its block out of the conversation.
	w.admin(http.MethodDelete, "/api/v1/memories/"+w.memories("local")[0].ID, "")
	c.say("Fine.")
	if p := w.stats().Run.PrefixKept; p == nil || *p >= 1 {
		t.Errorf("prefix kept after a block went: %v", p)
	}
	w.restart()
	after := w.stats()
	if after.Kept.Judged != s.Kept.Judged || after.Kept.Memories != 2 || after.Run.Recalls != 0 || after.Run.Hit != nil {
		t.Errorf("after a restart: %+v, %+v", after.Kept, after.Run)
	}
}
