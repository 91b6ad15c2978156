package session

import (
	"strings"
	"testing"

	"hindsight/store"
)

// A remembered hash is the one that would have been made: of the same owner,
// domain and parts, however these are cut.
func TestMemo(t *testing.T) {
	c := newMemo()
	long := strings.Repeat("said before ", 30)
	for _, tenant := range []string{"a", "b"} {
		h := &hasher{key: store.IdentityKey{1}.Derive("owner", tenant, "u")}
		for range 2 {
			for _, domain := range []string{"said", "words"} {
				for _, parts := range [][]string{{long}, {long[:100], long[100:]}, {long[:101], long[101:]}, {"short"}, {long, ""}, {"", long}} {
					if got, want := c.hash(h, domain, parts...), h.hash(domain, parts...); got != want {
						t.Errorf("%s %s %q: %s, want %s", tenant, domain, parts, got, want)
					}
				}
			}
		}
	}
}

func TestSent(t *testing.T) {
	for _, s := range []string{
		"", "x", "plain text, longer than a word of the machine", "你好", "a你好b and more ascii behind it 안녕 ",
		strings.Repeat("é", 9), "mixed é 你 😀 " + strings.Repeat("ascii ", 9), "1234567你", "12345678你12345678",
	} {
		if got, want := sent([]byte(s)), store.Tokens(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
