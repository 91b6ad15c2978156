//go:build !linux

package innerloop

const memory = ""

func roomy() bool { return false }
