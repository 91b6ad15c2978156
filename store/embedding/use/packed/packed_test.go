package packed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSectionsComeBack(t *testing.T) {
	var buf bytes.Buffer
	err := Write(&buf, []Section{
		{"first", []byte("abc")},
		{"sixteen-bytes-ok", bytes.Repeat([]byte{7}, 65)},
		{"floats", PutFloats([]float32{1.5, -2})},
		{"empty", nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := f.Section("first", 3); err != nil || string(s) != "abc" {
		t.Errorf("first: %q, %v", s, err)
	}
	if s, err := f.Section("sixteen-bytes-ok", -1); err != nil || len(s) != 65 {
		t.Errorf("second: %d bytes, %v", len(s), err)
	}
	got, err := f.Floats("floats", 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{1.5, -2}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := f.Section("first", 4); err == nil {
		t.Error("a section of the wrong length was accepted")
	}
	if _, err := f.Section("none", -1); err == nil {
		t.Error("a section that isn't there was found")
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, []Section{{"a", []byte("abc")}}); err != nil {
		t.Fatal(err)
	}
	good := buf.Bytes()
	for name, data := range map[string][]byte{
		"empty":         nil,
		"other magic":   append([]byte("NOTAPACK"), good[8:]...),
		"cut":           good[:40],
		"too many":      append([]byte(magic), 0xff, 0xff, 0xff, 0x7f),
		"header only":   good[:12],
		"section shift": bytes.Replace(good, []byte{64, 0, 0, 0, 3}, []byte{64, 0, 0, 9, 3}, 1),
	} {
		if _, err := Open(data); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	if err := Write(&buf, []Section{{strings.Repeat("x", 17), nil}}); err == nil {
		t.Error("a name of 17 bytes was written")
	}
}
