//go:build goexperiment.simd && amd64

package use

import (
	"reflect"
	"simd/archsimd"
	"testing"
)

// Without this, a build that never picks the vector kernel would pass every other
// test.
func TestVectorKernelIsPicked(t *testing.T) {
	want := archsimd.X86.AVX2() && archsimd.X86.FMA()
	if got := reflect.ValueOf(multiply()).Pointer() == reflect.ValueOf(product(vectorProduct)).Pointer(); got != want {
		t.Errorf("the vector kernel is picked: %v, the processor can: %v", got, want)
	}
}
