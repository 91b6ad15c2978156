package main

import (
	"strings"
	"testing"
)

// What a memory holds can neither steer a terminal nor show another text than is
// there.
func TestTheTerminalIsNotSteered(t *testing.T) {
	s := newShell(t)
	s.must("memories", "add", "The dock\u202e is \u2066closed\U000e0041 on\u200b Mondays.", "--scope", "user:ann", "--type", "user_fact")
	out := s.must("memories", "list", "--scope", "user:ann")
	id := strings.Fields(strings.Split(out, "\n")[1])[0]
	out += s.must("memories", "show", id)
	if strings.Count(out, "The dock is closed on Mondays.") != 2 {
		t.Errorf("shown as %q", out)
	}
	if got := printable("a\x1b[31mb\u202ec\nd\te") + oneLine("\u009b31mx\u2067\ny"); got != "a[31mbc\nd\te31mx y" {
		t.Errorf("shown as %q", got)
	}
}
