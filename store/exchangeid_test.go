package store_test

import (
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

func TestAnExchangesIDNamesItsSession(t *testing.T) {
	t.Parallel()
	id := store.ExchangeID("sabc", "12")
	if s, ok := store.SessionOf(id); id != "xabc.12" || s != "sabc" || !ok {
		t.Errorf("SessionOf(%q) = %q, %v", id, s, ok)
	}
	if own, ok := store.OwnExchange(id, "sabc"); own != "12" || !ok {
		t.Errorf("OwnExchange = %q, %v", own, ok)
	}
	for _, c := range [][2]string{{id, "sab"}, {id, "abc"}, {id, "s"}, {id, ""}, {"xabc", "sabc"}, {"xabc.", "sabc"}, {"yabc.1", "sabc"}, {"x.1", "s"}, {"", ""}} {
		if own, ok := store.OwnExchange(c[0], c[1]); ok {
			t.Errorf("OwnExchange(%q, %q) = %q", c[0], c[1], own)
		}
	}
	for _, id := range []string{"", "x", "x1", "x.1", "xabc.", "yabc.1"} {
		if s, ok := store.SessionOf(id); ok {
			t.Errorf("SessionOf(%q) = %q", id, s)
		}
	}
}

func TestADrawnSessionKnowsWhenItBegan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 10, 0, 0, 123456789, time.UTC)
	id := store.DrawSession(now)
	if at, ok := store.DrawnAt(id); !ok || !at.Equal(now) || len(id) != 27 {
		t.Errorf("DrawnAt(%q) = %v, %v", id, at, ok)
	}
	if again := store.DrawSession(now); again == id {
		t.Errorf("%q was drawn twice", id)
	}
	if early, late := store.DrawSession(now), store.DrawSession(now.Add(1)); early[:14] >= late[:14] {
		t.Errorf("%q comes before %q", late, early)
	}
	for _, id := range []string{"", "s1", "s" + id, "x" + id[1:], "s1" + id[2:], strings.ToUpper(id), "s0123456789abcdef0123456789abcdef"} {
		if at, ok := store.DrawnAt(id); ok {
			t.Errorf("DrawnAt(%q) = %v", id, at)
		}
	}
}
