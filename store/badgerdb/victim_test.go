package badgerdb

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"hindsight/internal/innerloop"
)

// What the test binary does instead of its tests, by the variable that names the
// directory for it.
func TestMain(m *testing.M) {
	for variable, live := range map[string]func(dir string){childDir: child, lifeDir: liveOn, fleetDir: liveInFleet} {
		if dir := os.Getenv(variable); dir != "" {
			live(dir)
		}
	}
	os.Exit(innerloop.Tests{M: m}.Run())
}

// victim is the test binary as a process that is going to be killed; its lines
// can be scanned until it is.
type victim struct {
	*bufio.Scanner
	cmd *exec.Cmd
}

// newVictim starts one over a directory and waits until its store is open.
func newVictim(t *testing.T, variable, dir string) victim {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := victim{bufio.NewScanner(out), cmd}
	t.Cleanup(v.kill) // where the test breaks off
	if !v.Scan() {
		t.Fatal("the child didn't start")
	}
	return v
}

func (v victim) kill() { _ = v.cmd.Process.Kill() }

// end waits until a victim is gone, which must not be of its own accord.
func (v victim) end(t *testing.T) {
	t.Helper()
	_ = v.cmd.Wait()
	if code := v.cmd.ProcessState.ExitCode(); code != -1 {
		t.Errorf("the child wasn't killed, it ended with %d", code)
	}
}

// victimStore opens a victim's store, and says so to whoever waits for it.
func victimStore(cfg Config) *Store {
	s, err := New(asTested("", cfg))
	check(err)
	go func() { panic(s.Run(context.Background())) }()
	check(s.Ready(context.Background()))
	fmt.Println("ready")
	return s
}

// check ends a victim with an error that it doesn't expect.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
