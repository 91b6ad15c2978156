package session

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"hindsight/store"
)

// hasher makes the keyed hashes of one owner: no hash of one tenant or user is
// ever equal to another's.
type hasher struct {
	key          store.IdentityKey // made of tenant and user
	tenant, user string
	// What requests without a system text have in common.
	noSystem, growsUnderNone store.Hash
}

// ownerKey names an owner's hasher.
type ownerKey struct {
	key          store.IdentityKey
	tenant, user string
}

// hasherOf returns the hasher of an owner; making it costs as much as a few
// hashes.
func (k *Tracker) hasherOf(key store.IdentityKey, tenant, user string) *hasher {
	of := ownerKey{key, tenant, user}
	k.mu.Lock()
	h, ok := k.hashers.get(of)
	k.mu.Unlock()
	if ok {
		return h
	}
	h = &hasher{key: key.Derive("owner", tenant, user), tenant: tenant, user: user}
	h.noSystem = h.hash("system", "")
	h.growsUnderNone = h.hash("grown", raw(h.noSystem))
	k.mu.Lock()
	k.hashers.put(of, h)
	k.mu.Unlock()
	return h
}

func (h *hasher) hash(domain string, parts ...string) store.Hash { return h.key.Hash(domain, parts...) }

// raw is a hash as a part of another one.
func raw(h store.Hash) string { return string(h[:]) }

// explicitID is our id of a session that the client has a name for. It says
// nothing of where the name stood, so that header and body agree.
func (h *hasher) explicitID(external string) string {
	return "s" + h.hash("session", external).String()
}

// newExchangeID names the session, see [store.ExchangeID]. Forty bits tell the
// exchanges of one session apart; nobody is kept out by their being secret.
func newExchangeID(session string) string {
	const digits = "abcdefghijklmnopqrstuvwxyz234567"
	var own [8]byte
	bits := rand.Uint64()
	for i := range own {
		own[i], bits = digits[bits%32], bits/32
	}
	return store.ExchangeID(session, string(own[:]))
}

// isOwnID says whether a value looks like a session id of ours.
func isOwnID(s string) bool {
	if len(s) != 1+26 && len(s) != 1+32 || s[0] != 's' {
		return false
	}
	for _, c := range s[1:] {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func validID(s string) bool { return len(s) >= 1 && len(s) <= store.MaxID }

// isTemplate says whether a value is what a client sends when it forgot to
// fill a template in.
func isTemplate(s string) bool {
	switch s {
	case "undefined", "null", "None", "anonymous":
		return true
	}
	return strings.Contains(s, "{{") || strings.Contains(s, "}}") || strings.Contains(s, "${") ||
		s != "" && strings.IndexByte("{$%<", s[0]) >= 0 && variable.MatchString(s)
}

// variable is a value that is nothing but a variable's name, in the forms of
// Python, shells, Windows and documentation.
var variable = regexp.MustCompile(`^(?:\{[\w .-]+\}|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|<[\w .-]+>)$`)

// validSignal says whether a value may name a session: least to 200 printable
// characters.
func validSignal(s string, least int) bool {
	if n := utf8.RuneCountInString(s); n < least || n > 200 || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// randomChars is how many random characters make an id unique by itself.
const randomChars = 16

// isRandom says whether an id looks as if nobody else could have drawn it: a
// UUID, or a run of 16 or more letters and digits that changes between small
// letters, capitals and digits as words and counters don't. A random id that
// is mistaken for a name (1 in 50 of the shortest) is only hashed together
// with the words before it, as every short one is.
func isRandom(id string) bool {
	if isUUID(id) {
		return true
	}
	run, changes, last := 0, 0, 0
	for i := 0; i < len(id); i++ {
		class := charClass(id[i])
		if class == 0 {
			run, changes, last = 0, 0, 0
			continue
		}
		if run > 0 && class != last {
			changes++
		}
		run, last = run+1, class
		if run >= randomChars && changes >= 4 {
			return true
		}
	}
	return false
}

// charClass is 1 for a small letter, 2 for a capital, 3 for a digit, else 0.
func charClass(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return 1
	case c >= 'A' && c <= 'Z':
		return 2
	case c >= '0' && c <= '9':
		return 3
	}
	return 0
}

// isUUID says whether a UUID stands at the end of id (`call_<uuid>`, too).
func isUUID(id string) bool {
	if len(id) < 36 {
		return false
	}
	for i, c := range []byte(id[len(id)-36:]) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}
