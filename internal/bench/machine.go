package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine names what the figures were measured on.
func Machine() string {
	model := ""
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil { // Linux alone has it
		for l := range strings.Lines(string(raw)) {
			if name, ok := strings.CutPrefix(l, "model name"); ok {
				model = ", " + strings.TrimLeft(strings.TrimSpace(name), ": \t")
				break
			}
		}
	}
	return fmt.Sprintf("%s/%s, %d cores%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model, runtime.Version())
}
