package session

import (
	"fmt"
	"testing"
)

func TestLRUForgetsWhatWasNotUsedForLongest(t *testing.T) {
	l := newLRU[int](3, func(v int) bool { return v < 0 })
	order := func() string {
		out := ""
		l.each(func(v int) bool { out += fmt.Sprint(v, " "); return true })
		return out
	}
	for i := 1; i <= 3; i++ {
		l.put(i, i)
	}
	l.get(1)
	l.put(2, 20)
	if got := order(); got != "20 1 3 " {
		t.Errorf("by use: %s", got)
	}
	l.put(4, 4)
	if _, ok := l.get(3); ok || order() != "4 20 1 " {
		t.Errorf("3 is still there: %s", order())
	}
	l.put(1, -1) // busy
	l.get(4)
	l.get(2)
	l.put(5, 5)
	if got := order(); got != "5 20 -1 " {
		t.Errorf("a busy one went, or the wrong one: %s", got)
	}
	for i := 6; i < 1000; i++ {
		l.put(i, i)
	}
	if got := order(); got != "999 998 -1 " || len(l.slots) != 4 {
		t.Errorf("after many: %s in %d slots", got, len(l.slots))
	}
	n := 0
	l.each(func(int) bool { n++; return false })
	if n != 1 {
		t.Errorf("each went on %d times", n)
	}
}
