package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Owner says whose something is. Tenant and User are never empty where memory
// is on; Agent may be.
type Owner struct {
	Tenant string `json:"tenant"`
	User   string `json:"user"`
	Agent  string `json:"agent,omitempty"`
}

// Scope names the holder of memories inside a tenant: `user:<id>`,
// `user:<id>/agent:<id>`, `agent:<id>` or `shared`, ids percent-encoded by
// [EscapeID].
type Scope string

// Shared is the scope that all users of a tenant read where a grant says so.
const Shared Scope = "shared"

// UserScope is where everything learned about a user goes.
func UserScope(user string) Scope { return Scope("user:" + EscapeID(user)) }

// UserAgentScope is where what an agent learned while serving a user goes.
func UserAgentScope(user, agent string) Scope {
	return UserScope(user) + Scope("/agent:"+EscapeID(agent))
}

// AgentScope is read by all users of an agent where a grant says so.
func AgentScope(agent string) Scope { return Scope("agent:" + EscapeID(agent)) }

// Scope is the owner's own scope for facts and preferences.
func (o Owner) Scope() Scope { return UserScope(o.User) }

// SkillScope is where the owner's solutions and error lessons go: the agent's
// part of the user's scope where an agent is named, else the user's.
func (o Owner) SkillScope() Scope {
	if o.Agent == "" {
		return o.Scope()
	}
	return UserAgentScope(o.User, o.Agent)
}

// ScopeOf is where the owner's memories of a type go.
func (o Owner) ScopeOf(t Type) Scope {
	if LayerOf(t) == Skill {
		return o.SkillScope()
	}
	return o.Scope()
}

// OwnScopes are the scopes that need no grant to be read, the user's first.
func (o Owner) OwnScopes() []Scope {
	if o.Agent == "" {
		return []Scope{o.Scope()}
	}
	return []Scope{o.Scope(), UserAgentScope(o.User, o.Agent)}
}

// UserOf returns the id in a user scope (`user:<id>` or `user:<id>/agent:<id>`)
// and whether there is one.
func (s Scope) UserOf() (string, bool) {
	rest, ok := strings.CutPrefix(string(s), "user:")
	if !ok {
		return "", false
	}
	id, _, _ := strings.Cut(rest, "/")
	return UnescapeID(id), true
}

// ParseScope checks a scope's form. The error names what is wrong with it.
func ParseScope(s string) (Scope, error) {
	bad := func(why string) (Scope, error) {
		return "", fmt.Errorf("scope %q: %s; a scope is user:<id>, user:<id>/agent:<id>, agent:<id> or shared", s, why)
	}
	if s == string(Shared) {
		return Shared, nil
	}
	if len(s) > 3*2*MaxID+len("user:/agent:") {
		return bad("too long")
	}
	for i, part := range strings.Split(s, "/") {
		kind, id, ok := strings.Cut(part, ":")
		switch {
		case !ok || id == "":
			return bad("no id")
		case i == 0 && kind != "user" && kind != "agent", i == 1 && (kind != "agent" || !strings.HasPrefix(s, "user:")), i > 1:
			return bad("unknown form")
		case EscapeID(UnescapeID(id)) != id:
			return bad("an id there is not percent-encoded")
		case len(UnescapeID(id)) > MaxID:
			return bad("an id has at most 200 bytes")
		}
	}
	return Scope(s), nil
}

// MaxID is the greatest length of a user's or agent's id in bytes.
const MaxID = 200

// EscapeID percent-encodes `%`, `/`, `:` and control characters of an id, so
// that no id can imitate a scope. It is the inverse of [UnescapeID].
func EscapeID(id string) string {
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case c == '%', c == '/', c == ':', c < 0x20, c == 0x7f:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// UnescapeID undoes [EscapeID]; what isn't an escape stays as it is.
func UnescapeID(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.WriteByte(c[0])
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Hash is a keyed hash of a name or a text, 16 bytes of HMAC-SHA256.
type Hash [16]byte

// String is the hash in lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is the form in JSON: that of String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText is the inverse of MarshalText. The error says that it isn't 32
// hexadecimal digits.
func (h *Hash) UnmarshalText(b []byte) error {
	var out Hash
	if len(b) != 2*len(out) {
		return fmt.Errorf("read hash %q: want %d hexadecimal digits", b, 2*len(out))
	}
	if _, err := hex.Decode(out[:], b); err != nil {
		return fmt.Errorf("read hash %q: %w", b, err)
	}
	*h = out
	return nil
}

// IsZero says whether the hash was never set.
func (h Hash) IsZero() bool { return h == Hash{} }

// IdentityKey keys every hash of a credential, a person, a conversation or a
// text that is written to disk, so that they can't be guessed from outside.
type IdentityKey [32]byte

// Hash is the HMAC of the parts under a domain. Parts are length-framed: no two
// different lists of parts give the same input. Most inputs are names, and fit
// the stack: a request hashes a dozen of them.
func (k IdentityKey) Hash(domain string, parts ...string) Hash {
	size := sha256.BlockSize + 8 + len(domain)
	for _, p := range parts {
		size += 8 + len(p)
	}
	var small [512]byte
	if size > len(small) {
		return k.hashLong(domain, parts)
	}
	k.pad(small[:sha256.BlockSize], 0x36)
	b := appendFramed(small[:sha256.BlockSize], domain)
	for _, p := range parts {
		b = appendFramed(b, p)
	}
	var outer [sha256.BlockSize + sha256.Size]byte
	k.pad(outer[:sha256.BlockSize], 0x5c)
	inner := sha256.Sum256(b)
	copy(outer[sha256.BlockSize:], inner[:])
	sum := sha256.Sum256(outer[:])
	return Hash(sum[:16])
}

// pad is the key's block for one of HMAC's two passes (RFC 2104).
func (k *IdentityKey) pad(block []byte, with byte) {
	for i := range block {
		block[i] = with
	}
	for i, b := range k {
		block[i] ^= b
	}
}

func appendFramed(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

// hashLong is Hash for what doesn't fit the stack.
func (k IdentityKey) hashLong(domain string, parts []string) Hash {
	m := hmac.New(sha256.New, k[:])
	var n [8]byte
	piece := make([]byte, 0, 512) // io.WriteString would move every caller's parts to the heap
	put := func(s string) {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		m.Write(n[:])
		for len(s) > 0 {
			piece = append(piece[:0], s[:min(len(s), cap(piece))]...)
			m.Write(piece)
			s = s[len(piece):]
		}
	}
	put(domain)
	for _, p := range parts {
		put(p)
	}
	var sum [sha256.Size]byte
	return Hash(m.Sum(sum[:0])[:16])
}

// Derive makes a key for one use of its own, here those of one owner.
func (k IdentityKey) Derive(domain string, parts ...string) IdentityKey {
	var out IdentityKey
	half := k.Hash(domain+" 1", parts...)
	copy(out[:], half[:])
	half = k.Hash(domain+" 2", parts...)
	copy(out[len(half):], half[:])
	return out
}

// Fingerprint tells two identity keys apart without giving either away.
func (k IdentityKey) Fingerprint() string { return k.Hash("fingerprint").String() }
