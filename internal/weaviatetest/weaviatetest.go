// Package weaviatetest gives tests a real Weaviate. The program is the one that
// HINDSIGHT_TEST_WEAVIATE names; without it a test fails, it is never skipped.
// Tests that use this package are built with the tag weaviate only; `.ci/run
// weaviate` builds the program and runs them.
package weaviatetest

import (
	"fmt"
	"os"
	"testing"

	"hindsight/internal/weaviateserver"
)

// Program names the variable that holds the path of the server.
const Program = "HINDSIGHT_TEST_WEAVIATE"

// Server is one Weaviate.
type Server = weaviateserver.Server

// New starts a server for a test, ready to be used, and stops it at the test's end.
// extra are settings of its environment, KEY=value.
func New(t testing.TB, extra ...string) *Server {
	t.Helper()
	s, err := Prepare(t.TempDir(), extra...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("weaviate said at last:\n%s", s.Log(2000))
		}
	})
	return s
}

// Prepare chooses ports for a server over a directory and starts nothing.
func Prepare(dir string, extra ...string) (*Server, error) {
	program := os.Getenv(Program)
	if program == "" {
		return nil, fmt.Errorf("%s doesn't name Weaviate's server; .ci/run weaviate builds it", Program)
	}
	return weaviateserver.Prepare(program, dir, extra...)
}
