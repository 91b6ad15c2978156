package use

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reference is a text with what the published Python package makes of it.
type reference struct {
	Text   string
	IDs    []int32
	Vector []float32
}

func readReference(t testing.TB) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r reference
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 12 {
		t.Fatalf("%d references", len(all))
	}
	return all
}

func newEncoder(t testing.TB) *Encoder {
	t.Helper()
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func vectors(n int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, Dim)
	}
	return out
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestWeightsAreTheOnesThatWerePacked(t *testing.T) {
	sum := sha256.Sum256(weights)
	if got := hex.EncodeToString(sum[:]); got != Checksum {
		t.Errorf("SHA-256 of weights.bin is %s, not %s", got, Checksum)
	}
}

func TestAgreesWithThePublishedPackage(t *testing.T) {
	e := newEncoder(t)
	plain := newEncoder(t)
	plain.mul = plainProduct
	refs := readReference(t)
	var ids [][]int32
	for _, r := range refs {
		got := e.Tokens(nil, r.Text, 1000, 0)
		if diff := cmp.Diff(r.IDs, got); diff != "" {
			t.Errorf("%q: ids (-package +ours)\n%s", r.Text, diff)
		}
		ids = append(ids, got)
	}
	for name, e := range map[string]*Encoder{"as built": e, "plain": plain} {
		together := vectors(len(refs))
		e.Encode(ids, together)
		for i, r := range refs {
			alone := vectors(1)
			e.Encode(ids[i:i+1], alone)
			for how, v := range map[string][]float32{"alone": alone[0], "in a batch": together[i]} {
				if c := cosine(r.Vector, v); c < 0.9999 {
					t.Errorf("%s, %q %s: cosine %.6f", name, r.Text, how, c)
				}
				if l := cosineLength(v); math.Abs(l-1) > 1e-5 {
					t.Errorf("%s, %q %s: length %.6f", name, r.Text, how, l)
				}
			}
		}
	}
}

func cosineLength(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func TestLongTextsKeepTheirEnds(t *testing.T) {
	e := newEncoder(t)
	text := "one two three four five six seven eight nine ten"
	all := e.Tokens(nil, text, 1000, 0)
	got := e.Tokens([]int32{-1}, text, 2, 3)
	want := append([]int32{-1}, all[:3]...)
	want = append(want, all[len(all)-4:]...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all, e.Tokens(nil, text, len(all)-2, 0)); diff != "" {
		t.Errorf("a text that just fits was cut: %s", diff)
	}
}

func TestConcurrentCallsAgree(t *testing.T) {
	e := newEncoder(t)
	refs := readReference(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, r := range refs[:6] {
				out := vectors(1)
				e.Encode([][]int32{e.Tokens(nil, r.Text, 64, 0)}, out)
				if c := cosine(r.Vector, out[0]); c < 0.9999 {
					t.Errorf("%q: cosine %.6f", r.Text, c)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkTokens(b *testing.B) {
	e := newEncoder(b)
	ids := make([]int32, 0, 100)
	b.ReportAllocs()
	for b.Loop() {
		ids = e.Tokens(ids[:0], "what did I tell you about my sister's allergy?", 24, 40)
	}
}

func benchmarkEncode(b *testing.B, mul product, tokens, texts int) {
	e := newEncoder(b)
	e.mul = mul
	ids := make([][]int32, texts)
	for i := range ids {
		for j := range tokens {
			ids[i] = append(ids[i], int32(1000+37*i+j*101))
		}
	}
	out := vectors(texts)
	b.ReportAllocs()
	least := time.Hour
	for b.Loop() {
		start := time.Now()
		e.Encode(ids, out)
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
}

// The token counts are with both frames: a question of 15 tokens has 13 pieces.
func BenchmarkEncode(b *testing.B) {
	for _, k := range []struct {
		name string
		mul  product
	}{{"plain", plainProduct}, {"as_built", multiply()}} {
		b.Run(k.name+"/1x15", func(b *testing.B) { benchmarkEncode(b, k.mul, 15, 1) })
		b.Run(k.name+"/1x66", func(b *testing.B) { benchmarkEncode(b, k.mul, 66, 1) })
		b.Run(k.name+"/8x15", func(b *testing.B) { benchmarkEncode(b, k.mul, 15, 8) })
	}
}
