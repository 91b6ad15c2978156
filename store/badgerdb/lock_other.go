//go:build !linux && !darwin && !freebsd

package badgerdb

// lockDir isn't known here: nobody is kept out while the files are read.
func lockDir(string) (unlock func(), ok bool) { return func() {}, true }
