//go:build linux || darwin || freebsd

package badgerdb

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockDir takes the lock that Badger takes, unless somebody has it.
func lockDir(dir string) (unlock func(), ok bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = f.Close() // nothing was done with it
		return nil, false
	}
	return func() { _ = f.Close() }, true
}
