package store

import (
	"bytes"
	"cmp"
	"time"
)

// RecordKey is the form in which an anchor's key stands in a shared record.
func RecordKey(key Hash) string { return key.String() }

// SessionNote is the Data of a shared session record, as JSON, as far as every
// sidecar understands it. Whoever holds a lease adds its own fields.
type SessionNote struct {
	Owner    Owner     `json:"owner"`
	LastSeen time.Time `json:"last_seen,omitzero"`
	Closed   bool      `json:"closed,omitempty"`
}

// MergedRecord is what two forms of one shared record make together; like
// [Merged] it doesn't depend on the order. An exchange that was reflected stays
// so, a block that was withdrawn is withdrawn for good (its text is empty, so it
// is the later one by Time); else the later one holds.
func MergedRecord(a, b SharedRecord) SharedRecord {
	c := 0
	if a.Kind == RecordExchange && a.Reflected != b.Reflected {
		if c = -1; a.Reflected {
			c = 1
		}
	}
	if c = cmp.Or(c, a.Time.Compare(b.Time), cmp.Compare(len(a.Keys), len(b.Keys)), bytes.Compare(a.Data, b.Data)); c < 0 {
		return b
	}
	return a
}

// Copy is a scope whose memories a sidecar has in its directory. Used is when a
// request last needed it, as far as that is known; Bytes is what its memories
// take there, older forms left out.
type Copy struct {
	Tenant string
	Scope  Scope
	Used   time.Time
	Bytes  int64
}
