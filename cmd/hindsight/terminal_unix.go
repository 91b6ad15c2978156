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

// freeSpace is how many bytes this user can still write under dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // its type differs between systems
}
