package use

import (
	"slices"
	"strings"
	"testing"

	"hindsight/store/embedding/use/spm"
)

func FuzzTokens(f *testing.F) {
	for _, r := range readReference(f) {
		f.Add(r.Text)
	}
	f.Add("\xff\xfe broken \xe2\x96")
	f.Add("a\x00b\u2581\u2581")
	f.Add(strings.Repeat("\u0301", 50))
	e := newEncoder(f)
	f.Fuzz(func(t *testing.T, text string) {
		ids := e.Tokens(nil, text, len(text), 1)
		if len(ids) < 3 || ids[0] != spm.Begin || ids[len(ids)-1] != spm.End {
			t.Fatalf("%q: %v isn't framed", text, ids)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= e.Pieces() {
				t.Fatalf("%q: id %d", text, id)
			}
		}
		short := e.Tokens(nil, text, 2, 3)
		if len(short) > 7 {
			t.Fatalf("%q: %d ids after the cut", text, len(short))
		}
		if !slices.Equal(short[:2], ids[:2]) || short[len(short)-2] != ids[len(ids)-2] {
			t.Fatalf("%q: the cut lost an end: %v of %v", text, short, ids)
		}
	})
}
