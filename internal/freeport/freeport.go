// Package freeport finds loopback ports for a process that is started later.
//
// A port that the kernel chose is given to the next outgoing connection once it
// is let go, and can't be listened on then. These lie below the ports that
// kernels choose from (Linux from 32768, macOS and Windows from 49152), and one
// process isn't given the same twice.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

const first, last = 10000, 32767

// Where the search begins, so that processes which search at once begin apart, and
// how far it has come.
var (
	begin = rand.Int64N(last - first)
	taken atomic.Int64
)

// Address is a loopback address, "127.0.0.1:port", that nobody listens on.
func Address() (string, error) {
	port, err := Row(1)
	return address(port), err
}

// Row is the first of n ports in a row that nobody listens on.
func Row(n int) (int, error) {
	for range 200 {
		base := first + int(begin+taken.Add(int64(n)))%(last-first-n)
		if free(base, n) {
			return base, nil
		}
	}
	return 0, fmt.Errorf("find %d free ports in a row on 127.0.0.1: none in %d to %d", n, first, last)
}

func free(base, n int) bool {
	for i := range n {
		ln, err := net.Listen("tcp", address(base+i))
		if err != nil {
			return false
		}
		defer func() { _ = ln.Close() }()
	}
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
