package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// A sample counts for the innermost package that tells something, the kernel and
// the garbage collector for themselves.
func TestReadProfile(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu"}}}
	add := func(ns int64, stack ...string) {
		s := &profile.Sample{Value: []int64{1, ns}}
		for _, name := range stack {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	add(40, "internal/runtime/syscall/linux.Syscall6", "syscall.write", "net/http.(*persistConn).writeLoop")
	add(25, "runtime.memmove", "hindsight/proxy/session.(*Tracker).read", "hindsight/proxy.(*exchange).identify")
	add(15, "runtime.mallocgc", "hindsight/store/badgerdb.within[go.shape.[]hindsight/store.Anchor].func1")
	add(10, "runtime.scanObject", "runtime.gcBgMarkWorker")
	add(7, "runtime.mapaccess1", "github.com/gofiber/fiber/v2.(*App).next")
	add(3, "runtime.findRunnable", "runtime.mcall")
	path := filepath.Join(t.TempDir(), "cpu.pprof")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got, err := ReadProfile(path, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	want := []Share{
		{"system calls", 40},
		{"hindsight/proxy/session", 25},
		{"hindsight/store/badgerdb", 15},
		{"garbage collector", 10},
		{"fasthttp", 7},
		{"the runtime's scheduler and others", 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
	if _, err := ReadProfile(path, "inuse_space"); err == nil {
		t.Error("a kind that the profile lacks was read")
	}
}
