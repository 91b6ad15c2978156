//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the width of a terminal; 0 where it doesn't say.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// openFiles is how many files and connections this process may have open at a
// time; 0 where the system doesn't say.
func openFiles() uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return uint64(r.Cur) //nolint:unconvert // its type differs between systems
}

// freeSpace is how many bytes this user can still write under dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // its type differs between systems
}

// private makes what this process creates its owner's alone: memories are in it,
// whatever the mode of the directory.
func private() { unix.Umask(0o077) }
