package session

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"

	"hindsight/store"
)

// memo remembers the hashes of texts: a history comes again with every turn, and
// its keyed hashes are a good part of what a long one costs. A text is known by
// its length and by a hash of 64 bits whose key is drawn when the process starts,
// which is a tenth of the work; two texts of one owner that share both come once
// in some 10^15 requests. An entry is lost when another text takes its slot.
// It is safe for concurrent use; a nil memo remembers nothing.
type memo struct {
	seed  maphash.Seed
	slots []atomic.Pointer[memory]
}

type memory struct {
	of     *hasher
	domain string
	short  uint64
	length int
	hash   store.Hash
}

const (
	memoSlots = 1 << 14 // about a megabyte when all are taken
	memoLeast = 32      // bytes that are worth one
)

func newMemo() *memo {
	return &memo{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[memory], memoSlots)}
}

// hash is [hasher.hash].
func (c *memo) hash(h *hasher, domain string, parts ...string) store.Hash {
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	if c == nil || length < memoLeast {
		return h.hash(domain, parts...)
	}
	short := c.short(parts)
	slot := &c.slots[short%memoSlots]
	if m := slot.Load(); m != nil && m.of == h && m.short == short && m.length == length && m.domain == domain {
		return m.hash
	}
	m := &memory{of: h, domain: domain, short: short, length: length, hash: h.hash(domain, parts...)}
	slot.Store(m)
	return m.hash
}

func (c *memo) short(parts []string) uint64 {
	if len(parts) == 1 {
		return maphash.String(c.seed, parts[0])
	}
	var small [256]byte // names and hashes fit
	b := small[:0]
	for _, p := range parts {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(p))), p...)
	}
	return maphash.Bytes(c.seed, b)
}

// body is a short hash of a request's body, good as long as the process lives.
func (c *memo) body(body []byte) uint64 { return maphash.Bytes(c.seed, body) }
