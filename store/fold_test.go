package store

import "testing"

func TestFoldMeansTheSameText(t *testing.T) {
	same := [][2]string{
		{"I live in Berlin.", "i  live in\tberlin"},
		{"My port is ８０８０!", "my port is 8080"},
		{"我住在北京。", "我住在北京"},
		{"“Tea”, please", "tea please"},
		{"a\u200bb", "a b"},
		{"co-op", "co op"},
	}
	for _, p := range same {
		if a, b := Fold(p[0]), Fold(p[1]); a != b {
			t.Errorf("Fold(%q) = %q, Fold(%q) = %q: want equal", p[0], a, p[1], b)
		}
	}
	different := [][2]string{
		{"version 1.5", "version 15"},
		{"it is -5 outside", "it is 5 outside"},
		{"I write C#", "I write C"},
		{"I write C++", "I write C"},
		{"20% off", "20 off"},
		{"1/2 cup", "12 cup"},
		{"", "a"},
	}
	for _, p := range different {
		if a, b := Fold(p[0]), Fold(p[1]); a == b {
			t.Errorf("Fold(%q) = Fold(%q) = %q: want different", p[0], p[1], a)
		}
	}
}

func TestFoldIsIdempotent(t *testing.T) {
	for _, s := range []string{"  A, b; C# 1.5 -3 ", "İstanbul", "ﬁne…", "…", "a.b.c", "5-3", "--5"} {
		if once := Fold(s); Fold(once) != once {
			t.Errorf("Fold(%q) = %q, again %q", s, once, Fold(once))
		}
	}
}

func TestHashTextForm(t *testing.T) {
	h := IdentityKey{1}.Hash("x", "y")
	b, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var back Hash
	if err := back.UnmarshalText(b); err != nil || back != h {
		t.Fatalf("UnmarshalText(%s) = %v, %v; want %v", b, back, err, h)
	}
	if err := back.UnmarshalText([]byte("zz")); err == nil {
		t.Error("a malformed hash was accepted")
	}
}
