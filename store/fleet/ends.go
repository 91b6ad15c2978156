package fleet

import (
	"context"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// Outbox is what a directory has to deliver, oldest first, each with its
// payload as it is now. A shipment stays until it is reported, and one that
// changed meanwhile stays then too.
type Outbox interface {
	Outbox(ctx context.Context, limit int) ([]store.Shipment, error)
	OutboxWake() <-chan struct{}
	OutboxDepth() (rows int, oldest time.Time)
	Shipped(ctx context.Context, seqs []uint64) error
	Reship(ctx context.Context, tenant string, ids []string) error
}

// Copy takes in what others have written. Absorbing is idempotent; a memory is
// merged with what is there.
type Copy interface {
	AbsorbMemories(ctx context.Context, ms []store.SharedMemory) error
	AbsorbRecords(ctx context.Context, rs []store.SharedRecord) error
	DropCopy(ctx context.Context, tenant string, sc store.Scope) (freed int64, err error)
	// Copies are the scopes that are there, the one used longest ago first.
	Copies(ctx context.Context) ([]store.Copy, error)
	UseCopy(tenant string, sc store.Scope)
	Memory(ctx context.Context, id string) (store.Memory, error)
	ScopeMemories(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error)
}

// Local is the directory. Flush returns when what was handed over before is
// on disk; Unreflected lists the sessions that have something no reflection has
// covered.
type Local interface {
	Outbox
	Copy
	Flush(ctx context.Context) error
	Unreflected(ctx context.Context) ([]store.Session, error)
	Tenants(ctx context.Context) ([]store.Tenant, error)
	Memories(ctx context.Context, f store.MemoryFilter) ([]store.Memory, string, error)
}

// SharedMemories are the memories in the shared store. A put replaces a memory
// whole; failed names those that weren't taken. Changed tells what was written
// since a moment by the store's own clock, Load pages through a scope, Mend puts
// memories again that aren't found.
type SharedMemories interface {
	PutMemories(ctx context.Context, tenant string, ms []store.SharedMemory) (failed map[string]error, err error)
	DeleteMemories(ctx context.Context, tenant string, sc store.Scope, ids []string) error
	EraseScope(ctx context.Context, tenant string, sc store.Scope) (n int, err error)
	Memories(ctx context.Context, tenant string, sc store.Scope, ids []string) ([]store.SharedMemory, error)
	Changed(ctx context.Context, tenant string, scopes []store.Scope, since time.Time) ([]store.Stamp, error)
	Load(ctx context.Context, tenant string, sc store.Scope, after string, limit int) (page []store.SharedMemory, next string, err error)
	Count(ctx context.Context, tenant string, sc store.Scope) (int, error)
	Mend(ctx context.Context, tenant string, ms []store.SharedMemory) (mended int, err error)
	Search(ctx context.Context, q index.Query) (index.Result, error)
	List(ctx context.Context, q index.Query) ([]*store.Memory, error)
}

// SharedRecords are what else sidecars share.
type SharedRecords interface {
	PutRecords(ctx context.Context, tenant string, rs []store.SharedRecord) (failed map[string]error, err error)
	Records(ctx context.Context, tenant string, q store.RecordQuery) ([]store.SharedRecord, error)
}

// Remote is the shared store. Every call ends with its context, and after two
// seconds in any case.
type Remote interface {
	SharedMemories
	SharedRecords
	State() (on bool, reason string)
}

// scopeKey names a scope of a tenant.
type scopeKey struct {
	tenant string
	scope  store.Scope
}
