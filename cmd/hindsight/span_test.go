package main

import (
	"testing"
	"time"
)

func TestMoments(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 9, 30, 0, 0, time.FixedZone("", 8*3600))
	for in, want := range map[string]string{
		"": "", "2026-01-31": "2026-01-31T00:00:00+08:00", "2026-01-31T08:00:00Z": "2026-01-31T08:00:00Z",
		"7d": "2026-03-03T09:30:00+08:00", "12h": "2026-03-09T21:30:00+08:00", "0d": "2026-03-10T09:30:00+08:00",
	} {
		if got, err := moment("--since", in, now); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"yesterday", "-3d", "2026-13-01", "d", "-1h"} {
		if got, err := moment("--since", in, now); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}
