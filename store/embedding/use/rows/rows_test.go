package rows

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// table is skewed as the real one is: most values in the middle, a few at the
// edges, one class that holds a single value.
func table(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	flat := make([]byte, n*Width)
	for i := range flat {
		class := i / Width % Classes
		if class == 3 {
			flat[i] = 40
			continue
		}
		flat[i] = byte(min(63, max(0, 30+r.NormFloat64()*float64(1+class))))
	}
	flat[0], flat[1] = 0, 63
	return flat
}

func TestEveryRowComesBack(t *testing.T) {
	flat := table(100)
	lengths, offsets, data, err := Encode(flat)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > len(flat)*3/4 {
		t.Errorf("%d bytes became %d", len(flat), len(data))
	}
	c, err := Open(lengths, offsets, data)
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 100 {
		t.Fatalf("%d rows", c.Len())
	}
	var got, want [Width]byte
	for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(100) {
		c.Row(i, &got)
		copy(want[:], flat[i*Width:])
		if !bytes.Equal(got[:], want[:]) {
			t.Fatalf("row %d differs", i)
		}
	}
}

func TestSkewedCountsStayInTheLimit(t *testing.T) {
	var counts [Symbols]int
	for i := range counts {
		counts[i] = 1 << min(i, 40) // unlimited, this makes codes of 40 bits
	}
	if _, err := canonical(codeLengths(counts)); err != nil {
		t.Error(err)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	if _, _, _, err := Encode(make([]byte, Width+1)); err == nil {
		t.Error("half a row was encoded")
	}
	if _, _, _, err := Encode(bytes.Repeat([]byte{64}, Width)); err == nil {
		t.Error("a value of 7 bits was encoded")
	}
	lengths, offsets, data, err := Encode(table(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(lengths[1:], offsets, data); err == nil {
		t.Error("opened without a code length")
	}
	if _, err := Open(lengths, offsets[1:], data); err == nil {
		t.Error("opened with broken offsets")
	}
	if _, err := Open(lengths, offsets, data[:len(data)-1]); err == nil {
		t.Error("opened a cut table")
	}
	if _, err := Open(bytes.Repeat([]byte{1}, Classes*Symbols), offsets, data); err == nil {
		t.Error("opened with lengths that are no code")
	}
}

func BenchmarkRow(b *testing.B) {
	lengths, offsets, data, err := Encode(table(1000))
	if err != nil {
		b.Fatal(err)
	}
	c, err := Open(lengths, offsets, data)
	if err != nil {
		b.Fatal(err)
	}
	var row [Width]byte
	i := 0
	for b.Loop() {
		c.Row(i, &row)
		i = (i + 1) % 1000
	}
}
