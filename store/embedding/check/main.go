// Command check compares the built-in embedder with reference vectors, and
// measures it:
//
//	go run ./store/embedding/check use-reference.json.gz
//	GOEXPERIMENT=simd go run ./store/embedding/check use-reference.json.gz
//
// The file holds [{"text","ids","vector"}], gzipped or plain; without one it only
// measures. It prints how many texts have the same token ids, the lowest cosine,
// the least time of a question of 15 tokens on one core, and the process's
// anonymous memory, warm. It fails if ids differ or a cosine is below 0.9999.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"hindsight/store/embedding"
	"hindsight/store/embedding/use"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	for _, name := range files {
		if err := compare(name); err != nil {
			return err
		}
	}
	return measure()
}

func compare(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the reference: %w", err)
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("read the reference: %w", err)
		}
		if data, err = io.ReadAll(r); err != nil {
			return fmt.Errorf("read the reference: %w", err)
		}
	}
	var refs []struct {
		Text   string
		IDs    []int32
		Vector []float32
	}
	if err := json.Unmarshal(data, &refs); err != nil {
		return fmt.Errorf("read the reference: %w", err)
	}
	encoder, err := use.New()
	if err != nil {
		return err
	}
	same, lowest, worst := 0, 2.0, ""
	out := [][]float32{make([]float32, use.Dim)}
	for _, r := range refs {
		ids := encoder.Tokens(nil, r.Text, len(r.Text), 1)
		if slices.Equal(ids, r.IDs) {
			same++
		} else {
			fmt.Printf("%q: ids %v, not %v\n", r.Text, ids, r.IDs)
		}
		encoder.Encode([][]int32{ids}, out)
		if c := cosine(out[0], r.Vector); !(c >= lowest) {
			lowest, worst = c, r.Text
		}
	}
	fmt.Printf("%s: same ids %d of %d, lowest cosine %.7f (%q)\n", name, same, len(refs), lowest, worst)
	if same < len(refs) || !(lowest >= 0.9999) {
		return errors.New("the encoder differs from the reference")
	}
	return nil
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// measure times a question as the proxy asks it.
func measure() error {
	runtime.GOMAXPROCS(1)
	before := anonymous()
	b, err := embedding.Open()
	if err != nil {
		return err
	}
	ctx := context.Background()
	start := time.Now()
	b.Warm(ctx)
	fmt.Printf("warm after %v\n", time.Since(start).Round(time.Millisecond))
	var took []time.Duration
	for range 300 {
		start := time.Now()
		// This question has 15 tokens, its frame included.
		if _, err := b.EmbedQuery(ctx, "what did I tell you about my sister's allergy?"); err != nil {
			return err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	fmt.Printf("a question of 15 tokens: least %v, median %v\n", took[0].Round(time.Microsecond), took[len(took)/2].Round(time.Microsecond))
	fmt.Printf("RssAnon: %s before, %s warm\n", before, anonymous())
	return nil
}

// anonymous is the process's anonymous memory as Linux tells it.
func anonymous() string {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	defer func() { _ = f.Close() }() // it is only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}
