package badgerdb

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve fills the holes of a file.
func reserve(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, fi.Size())
}
