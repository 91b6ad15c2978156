package badgerdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
)

// free reads the free space and says whether it is below the watermark. What
// can't be read counts as enough.
func (s *Store) free() (uint64, bool) {
	n, err := s.cfg.Free(s.cfg.Dir)
	if err != nil {
		return 0, false
	}
	s.metrics.free.Set(float64(n))
	return n, n < s.cfg.Watermark
}

// checkSpace brings the store's degraded reason up to date and says whether
// recording has to stop. It is asked before every group commit: a disk that
// runs full under a mapped log kills the process.
func (s *Store) checkSpace() bool {
	n, low := s.free()
	if !low && n < 8*s.cfg.Watermark {
		low = errors.Is(s.reserveLog(), syscall.ENOSPC)
	}
	reason := ""
	if low {
		reason = fmt.Sprintf("nothing is recorded: only %s are free under %s and %s are needed", size(n), s.cfg.Dir, size(s.cfg.Watermark))
	}
	s.mu.Lock()
	was := s.low
	s.low = reason
	s.mu.Unlock()
	switch {
	case low && was == "":
		s.log.Warn("stop recording", "reason", reason)
	case !low && was != "":
		s.log.Info("record again")
	}
	return low
}

// roomToWrite refuses a change that adds data while the disk is nearly full.
// Forgetting and erasing go on.
func (s *Store) roomToWrite() error {
	if !s.checkSpace() {
		return nil
	}
	_, reason := s.State()
	return off("%s", reason)
}

// reserveLog takes the room of the newest log from the disk. Badger maps it with
// holes, and a write into one kills the process once another has filled the disk:
// a few hundred megabytes are gone between a look at the free space and a write.
func (s *Store) reserveLog() error {
	logs, err := filepath.Glob(filepath.Join(s.cfg.Dir, "*.mem"))
	if err != nil || len(logs) == 0 {
		return err
	}
	newest := slices.Max(logs)
	if was := s.reserved.Load(); was != nil && *was == newest {
		return nil
	}
	if err := reserve(newest); err != nil {
		return err
	}
	s.reserved.Store(&newest)
	return nil
}
