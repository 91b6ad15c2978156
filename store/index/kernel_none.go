//go:build !(goexperiment.simd && amd64)

package index

// step is the multiple of values that the kernel takes at a time.
const step = 1

// codes says whether vectors are kept as codes too: in plain Go floats are faster.
func codes() bool { return false }

func dotCodes(out []float32, codes []int8, units []float32, q []int16, unit float32) {
	dotCodesPlain(out, codes, units, q, unit)
}
