//go:build !unix

package soak

import "io/fs"

// onDisk is a file's length here, holes and all.
func onDisk(info fs.FileInfo) int64 { return info.Size() }
