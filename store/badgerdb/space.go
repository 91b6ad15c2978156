package badgerdb

import "fmt"

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
