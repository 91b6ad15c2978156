package session

import (
	"fmt"
	"testing"
	"time"

	"hindsight/store"
)

// Whoever asks the same again and again gets the same answer: of its sessions the
// newest are kept, in whatever order they come to be known.
func TestKnownAnchorsAreBounded(t *testing.T) {
	var n known
	t0 := time.Now()
	at := func(i int) store.Anchor {
		return store.Anchor{Session: fmt.Sprint("s", i), Length: 2, Time: t0.Add(time.Duration(i) * time.Second)}
	}
	for _, i := range []int{5, 4, 3} {
		n.add(at(i))
	}
	for i := 6; i < 10*maxKnown; i++ {
		n.add(at(i))
	}
	n.add(at(0)) // the store's, late
	again := at(9*maxKnown + 1)
	again.Time = t0.Add(time.Hour)
	n.add(again)
	if len(n.anchors) != maxKnown {
		t.Fatalf("%d are kept, want %d", len(n.anchors), maxKnown)
	}
	seen := map[string]time.Time{}
	for _, a := range n.anchors {
		seen[a.Session] = a.Time
	}
	for i := 9 * maxKnown; i < 10*maxKnown; i++ {
		if _, ok := seen[fmt.Sprint("s", i)]; !ok {
			t.Errorf("session %d is forgotten before older ones", i)
		}
	}
	if seen[again.Session] != again.Time {
		t.Error("a session that comes again keeps its old time")
	}
}
