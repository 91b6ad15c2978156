package freeport

import (
	"net"
	"strconv"
	"testing"
)

func TestRow(t *testing.T) {
	seen := map[int]bool{}
	for range 300 {
		base, err := Row(6)
		if err != nil {
			t.Fatal(err)
		}
		for port := base; port < base+6; port++ {
			if seen[port] || port < first || port > last {
				t.Fatalf("port %d, twice or outside %d to %d", port, first, last)
			}
			seen[port] = true
		}
	}
}

func TestTaken(t *testing.T) {
	at, err := Address()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(at)
	n, _ := strconv.Atoi(port)
	taken.Store(int64(n-first-1) - begin) // the search begins at it
	if again, err := Address(); err != nil || again == at {
		t.Errorf("%s, which is listened on, is given as %s (%v)", at, again, err)
	}
}
