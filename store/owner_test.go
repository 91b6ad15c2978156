package store

import (
	"strings"
	"testing"
)

// The short way and the long way are the same function, and it frames its parts.
func TestHashIsHMACOfFramedParts(t *testing.T) {
	k := IdentityKey{1, 2, 3, 31: 9}
	for n := range 600 {
		s := strings.Repeat("x", n)
		if k.Hash("d", s, "y") != k.hashLong("d", []string{s, "y"}) {
			t.Fatalf("a part of %d bytes hashes differently", n)
		}
	}
	if k.Hash("d", "ab", "c") == k.Hash("d", "a", "bc") || k.Hash("d", "a") == k.Hash("da") {
		t.Error("parts run into each other")
	}
	if (IdentityKey{1}).Hash("d", "a") == (IdentityKey{2}).Hash("d", "a") {
		t.Error("the key doesn't matter")
	}
}

func TestScopes(t *testing.T) {
	evil := "ann/agent:x"
	if s := UserScope(evil); s == UserAgentScope("ann", "x") || !strings.HasPrefix(string(s), "user:ann%2F") {
		t.Errorf("%s", s)
	}
	for _, id := range []string{"ann", "a/b", "100%", "x:y", "安娜", "\x00\x1f", "%2F"} {
		if UnescapeID(EscapeID(id)) != id {
			t.Errorf("%q comes back as %q", id, UnescapeID(EscapeID(id)))
		}
		if _, err := ParseScope(string(UserAgentScope(id, id))); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "user:", "ann", "user:a/b", "user:a/user:b", "agent:x/agent:y", "user:a/agent:b/agent:c", "shared/x", "user:a\n", "user:" + strings.Repeat("x", 201)} {
		if s, err := ParseScope(bad); err == nil {
			t.Errorf("%q is scope %q", bad, s)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	k := IdentityKey{1}
	b.ReportAllocs()
	for b.Loop() {
		k.Hash("place", "tenant", "user", "session", "which port does the billing service use in Oslo?")
	}
}
