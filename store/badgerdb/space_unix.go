//go:build linux || darwin || freebsd

package badgerdb

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeSpace is what an ordinary user may still write under dir, in bytes.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("read free space: %w", err)
	}
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), nil //nolint:unconvert // its type differs between systems
}
