package spm

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// charsmap is a double array with one entry: A becomes "a". Its root has its
// children at 256, so that A's unit is at 256^'A', and A's leaf lies at 0 from
// there.
func charsmap() []byte {
	units := make([]uint32, 1024)
	units[0] = 256 << 10
	at := 256 ^ uint32('A')
	units[at] = 512<<10 | leafBit | 'A'
	units[at^512] = 0x80000000 // a leaf: the text at 0
	out := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		out = binary.LittleEndian.AppendUint32(out, u)
	}
	return append(out, "a\x00"...)
}

func testModel(t *testing.T, pieces []string, scores []float32) *Model {
	t.Helper()
	s, err := Build(pieces, scores, charsmap())
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSplitTakesTheBestPath(t *testing.T) {
	m := testModel(t,
		[]string{"<unk>", "<s>", "</s>", "▁", "a", "b", "▁ab", "ab", "▁a", "é"},
		[]float32{0, 0, 0, -1, -2, -2, -9, -3, -2.5, -4})
	for text, want := range map[string][]int32{
		"ab":         {3, 7},       // -4 against -9 and -4.5
		"a":          {8},          // -2.5 against -3
		"Ab":         {3, 7},       // the character map comes first
		"  b   b  ":  {3, 5, 3, 5}, // white space is one space, and none at the ends
		"aéz":        {8, 9, 0},    // nothing covers z
		"\xff":       {3, 0},       // a broken byte is one unknown character
		"":           {0},
		"   ":        {0},
		"z日":         {3, 0, 0},
		"a<s>":       {8, 1}, // as the reference does, which has these pieces too
		"a\u2581":    {8},
		"a \u2581 b": {8, 3, 3, 3, 5},
	} {
		if diff := cmp.Diff(want, m.Split(new(Splitter), nil, text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

func TestSplitterForgets(t *testing.T) {
	m := testModel(t, []string{"<unk>", "▁", "a", "b"}, []float32{0, -1, -2, -2})
	w := new(Splitter)
	m.Split(w, nil, "aaaaaaaabbbbbbb")
	if diff := cmp.Diff([]int32{9, 1, 3}, m.Split(w, []int32{9}, "b")); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenModelsAreRefused(t *testing.T) {
	if _, err := Build([]string{"a"}, nil, charsmap()); err == nil {
		t.Error("a piece without a score")
	}
	if _, err := Build([]string{"a"}, []float32{1}, []byte{255, 0, 0, 0, 1}); err == nil {
		t.Error("a cut character map")
	}
	s, err := Build([]string{"a"}, []float32{1}, charsmap())
	if err != nil {
		t.Fatal(err)
	}
	s.Pieces = s.Pieces[4:]
	if _, err := New(s); err == nil {
		t.Error("a trie without a node's piece")
	}
}
