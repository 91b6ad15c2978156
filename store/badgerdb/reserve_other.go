//go:build !linux

package badgerdb

import "errors"

// reserve isn't known here: a disk that runs full at once may end the process.
func reserve(string) error { return errors.ErrUnsupported }
