package store

import "time"

// RecordKey is the form in which an anchor's key stands in a shared record.
func RecordKey(key Hash) string { return key.String() }

// SessionNote is the Data of a shared session record, as JSON, as far as every
// sidecar understands it. Whoever holds a lease adds its own fields.
type SessionNote struct {
	Owner    Owner     `json:"owner"`
	LastSeen time.Time `json:"last_seen,omitzero"`
	Closed   bool      `json:"closed,omitempty"`
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
