// Package innerloop makes short tests cheap on the machine: their files lie in
// memory, and garbage is collected seldom.
//
// A Badger directory opens in memory in a third of the time, and the short tests
// open hundreds. The whole tests stay on the disk, and so does everything where no
// file system in memory has room.
package innerloop

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Tests are a package's tests, for its TestMain: os.Exit(innerloop.Tests{M: m}.Run()).
type Tests struct{ *testing.M }

// Run runs them; it is m.Run where they aren't short.
func (t Tests) Run() int {
	flag.Parse()
	if testing.Short() {
		debug.SetGCPercent(400)
		if os.Getenv("TMPDIR") == "" && roomy() {
			_ = os.Setenv("TMPDIR", memory) // else they stay on the disk
		}
	}
	return t.M.Run()
}
