package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in Linux's /proc.
const tick = 10 * time.Millisecond

// CPU is the CPU time that a process and its children have used, 0 where the
// system doesn't tell (it has no /proc).
func CPU(pid int) time.Duration {
	var sum time.Duration
	for _, p := range family(pid) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			continue
		}
		// The name, in brackets, may hold anything; utime and stime are the
		// 14th and 15th field.
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(f) < 13 {
			continue
		}
		for _, v := range f[11:13] {
			n, _ := strconv.Atoi(v) // the kernel's own number
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// RssAnon is the anonymous memory of a process and its children in bytes, 0
// where the system doesn't tell.
func RssAnon(pid int) int64 {
	var sum int64
	for _, p := range family(pid) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(raw), "RssAnon:")
		kib, _, _ := strings.Cut(rest, "kB")
		n, _ := strconv.ParseInt(strings.TrimSpace(kib), 10, 64) // the kernel's own number
		sum += n << 10
	}
	return sum
}

// family is a process and its children.
func family(pid int) []int {
	if pid == 0 {
		return nil
	}
	all := []int{pid}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return all
	}
	for _, f := range strings.Fields(string(raw)) {
		if child, err := strconv.Atoi(f); err == nil {
			all = append(all, child)
		}
	}
	return all
}
