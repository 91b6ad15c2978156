package innerloop

import "golang.org/x/sys/unix"

// memory is where Linux has a file system in memory.
const memory = "/dev/shm"

// room is what must be free there. The short tests hold a tenth of it; a container
// often has only 64 MB.
const room = 1 << 30

// roomy says whether files can be made there, and enough of them.
func roomy() bool {
	var st unix.Statfs_t
	return unix.Access(memory, unix.W_OK|unix.X_OK) == nil && unix.Statfs(memory, &st) == nil &&
		st.Type == unix.TMPFS_MAGIC && st.Bavail*uint64(st.Bsize) >= room
}
