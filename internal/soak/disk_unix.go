//go:build unix

package soak

import (
	"io/fs"
	"syscall"
)

// onDisk is what a file takes on disk, in bytes: the store's files have holes.
func onDisk(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
