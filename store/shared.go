package store

import "time"

// What a fleet of sidecars shares is described here: the memories, and of
// conversations what another sidecar must know to go on with them. The
// directory of a sidecar (badgerdb) gives it out as Shipments and takes it in;
// the shared store (weaviatedb) holds it.

// SharedMemory is a memory with its vector, which is empty while there is none.
type SharedMemory struct {
	Memory Memory
	Vector []float32
}

// Stamp is what a look at the shared store's changes tells of a memory: enough
// to see whether the form that is here is the same. Changed is the shared
// store's own time, so that sidecars whose clocks differ can go on from it.
type Stamp struct {
	ID       string
	Scope    Scope
	Revision int
	Digest   string
	Changed  time.Time
}

// RecordKind says what a shared record is.
type RecordKind string

// The kinds of a shared record.
const (
	RecordExchange  RecordKind = "exchange"  // an ended exchange; its keys are its anchors
	RecordLedger    RecordKind = "ledger"    // a block that was injected
	RecordTombstone RecordKind = "tombstone" // something that a person has had forgotten
	RecordErasure   RecordKind = "erasure"   // a scope that was erased, and when
	RecordGone      RecordKind = "gone"      // a memory that was erased
	RecordSession   RecordKind = "session"   // last seen, lease and end of a session
)

// SharedRecord is one thing that sidecars share besides memories. Its ID is
// unique inside the tenant and the kind; writing it again replaces it. Data is
// the writer's own encoding, which the shared store doesn't look into.
type SharedRecord struct {
	Kind    RecordKind
	ID      string
	Tenant  string
	Scope   Scope
	Session string
	// Keys are what the record can be found by beside its ID and session.
	Keys []string
	Time time.Time
	// Reflected says of an exchange that its events have been worked.
	Reflected bool
	Data      []byte
	// Changed is when the shared store took it in, by its own clock; set by reading.
	Changed time.Time
}

// RecordQuery selects shared records of a tenant. What is set must all hold;
// of a list one entry is enough.
type RecordQuery struct {
	// Scopes are required, unless AllScopes says that the asker means the whole
	// tenant.
	Scopes    []Scope
	AllScopes bool
	Kinds     []RecordKind
	IDs       []string
	Keys      []string
	Sessions  []string
	// Since selects what was written at or after this moment, by the shared
	// store's own time.
	Since time.Time
	// Pending selects exchanges whose events no reflection has worked.
	Pending bool
	Limit   int // 0 means 1,000; at most 10,000
}

// Shipment is one change that waits to be delivered to the shared store: the
// memory, the erased memory or the record as it is when the shipment is read.
// Seq names it to whoever reports it delivered.
type Shipment struct {
	Seq    uint64
	At     time.Time
	Tenant string
	Scope  Scope
	// One of these is set.
	Memory *SharedMemory
	Gone   string // the id of a memory that was erased
	Record *SharedRecord
}
