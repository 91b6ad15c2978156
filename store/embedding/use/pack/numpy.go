package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// array is one NumPy array: its shape, and its values as they lie in the file.
type array struct {
	kind  string // NumPy's name, such as <f4 or |u1
	shape []int
	data  []byte
}

// readArrays reads every array of an .npz file.
func readArrays(npz []byte) (map[string]array, error) {
	r, err := zip.NewReader(bytes.NewReader(npz), int64(len(npz)))
	if err != nil {
		return nil, fmt.Errorf("open the weights: %w", err)
	}
	arrays := map[string]array{}
	for _, f := range r.File {
		data, err := member(npz, f.Name)
		if err != nil {
			return nil, err
		}
		a, err := readArray(data)
		if err != nil {
			return nil, fmt.Errorf("read array %s: %w", f.Name, err)
		}
		arrays[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	return arrays, nil
}

// readArray reads an .npy file of version 1, row by row.
func readArray(npy []byte) (array, error) {
	var a array
	if len(npy) < 10 || string(npy[:7]) != "\x93NUMPY\x01" {
		return a, fmt.Errorf("not a NumPy file of version 1")
	}
	end := 10 + int(binary.LittleEndian.Uint16(npy[8:]))
	if end > len(npy) {
		return a, fmt.Errorf("the header is cut")
	}
	head := string(npy[10:end])
	m := regexp.MustCompile(`'descr': '([^']+)', 'fortran_order': False, 'shape': \(([0-9, ]*)\)`).FindStringSubmatch(head)
	if m == nil {
		return a, fmt.Errorf("unexpected header %q", head)
	}
	a.kind, a.data = m[1], npy[end:]
	width, err := strconv.Atoi(a.kind[2:])
	if err != nil {
		return a, fmt.Errorf("unexpected type %q", a.kind)
	}
	size := width
	for s := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return a, fmt.Errorf("unexpected shape %q", m[2])
		}
		a.shape = append(a.shape, n)
		size *= n
	}
	if size != len(a.data) {
		return a, fmt.Errorf("%d bytes of values, not %d", len(a.data), size)
	}
	return a, nil
}

// floats gives the values of a float32 array.
func (a array) floats() ([]float32, error) {
	if a.kind != "<f4" {
		return nil, fmt.Errorf("unexpected type %q", a.kind)
	}
	out := make([]float32, len(a.data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(a.data[4*i:]))
	}
	return out, nil
}
