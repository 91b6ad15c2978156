//go:build !(goexperiment.simd && amd64)

package use

// multiply picks the kernel: without vector instructions, the plain one.
func multiply() product { return plainProduct }
