package wording

import "testing"

func TestSimplifiedMovesNoByte(t *testing.T) {
	for text, want := range map[string]string{
		"我對蝦過敏，請記住。": "我对虾过敏，请记住。",
		"\xff記\xfe":  "\xff记\xfe", // broken bytes stay
		"皇后，plain":   "皇后，plain",
	} {
		if got := Simplified(text); got != want || len(got) != len(text) {
			t.Errorf("%q: %q", text, got)
		}
	}
	for from, to := range variants {
		if len(string(from)) != 3 || len(string(to)) != 3 || variants[to] != 0 {
			t.Errorf("%c to %c", from, to)
		}
	}
	if !Contains("我對花生過敏", "我对花生过敏") || !Negated("我沒有車") || Negated("我有車") {
		t.Error("the forms aren't one")
	}
}
