//go:build !linux && !darwin && !freebsd

package badgerdb

import "errors"

// freeSpace isn't known here, so the watermark never stops recording.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
