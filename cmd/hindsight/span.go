package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// span reads a command's --since and --until into the API's form.
func span(since, until string) (from, to string, err error) {
	if from, err = moment("--since", since, time.Now()); err != nil {
		return "", "", err
	}
	to, err = moment("--until", until, time.Now())
	return from, to, err
}

// moment reads a time as people write it: RFC 3339, a day in the local zone, or
// how long ago (7d, 12h). Empty stays empty.
func moment(flag, s string, now time.Time) (string, error) {
	if s == "" {
		return "", nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Format(time.RFC3339Nano), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t.Format(time.RFC3339), nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n).Format(time.RFC3339Nano), nil
		}
	}
	if ago, err := time.ParseDuration(s); err == nil && ago >= 0 {
		return now.Add(-ago).Format(time.RFC3339Nano), nil
	}
	return "", &failure{wrong: fmt.Sprintf("%s %q isn't a time", flag, s), next: "Write 2026-01-31, 2026-01-31T08:00:00Z, or 7d or 12h for that long ago.", code: exitUsage}
}
