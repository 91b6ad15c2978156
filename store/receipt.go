package store

import "time"

// Receipt says what erasing a scope, or a memory, removed, in numbers of records.
type Receipt struct {
	Tenant     string  `json:"tenant"`
	Scope      Scope   `json:"scope"`
	Memory     string  `json:"memory,omitempty"`        // the one that was erased; empty where a scope was
	Erased     []Scope `json:"erased" nullable:"false"` // the scope and, of a user, the parts of their agents; none for a memory
	Memories   int     `json:"memories"`                // with those that were made of it alone
	Remade     int     `json:"remade"`                  // other memories that lost evidence or sources from here
	Revisions  int     `json:"revisions"`               // older forms of those memories
	Vectors    int     `json:"vectors"`
	Evidence   int     `json:"evidence,omitempty"` // quotes that an erased memory held; of a scope they go uncounted
	Promoted   int     `json:"promoted"`           // memories of other scopes that were made of them: gone, or made anew without them
	Tombstones int     `json:"tombstones"`
	Sessions   int     `json:"sessions"`
	Exchanges  int     `json:"exchanges"`
	Places     int     `json:"places"` // records of which messages were seen, of exchanges that had gone before
	Anchors    int     `json:"anchors"`
	Ledger     int     `json:"ledger"`
	Why        int     `json:"why"`
	Jobs       int     `json:"jobs"`             // reflections: gone with a scope, rid of the words of a memory
	Outbox     int     `json:"outbox,omitempty"` // what was put down to be told to the shared store

	// ErasedAt is the moment from which on nothing of it can be read here.
	ErasedAt time.Time `json:"erased_at"`
	// State says whether its bytes have left the files of the directory.
	State ErasureState `json:"state" enum:"sweeping,done"`
	// Shared says whether the store that sidecars share was told; empty where there is none.
	Shared     ErasureState `json:"shared,omitempty" enum:"waiting,done"`
	OutOfReach []OutOfReach `json:"out_of_reach" nullable:"false"`
}

// Add counts what another erasure removed.
func (r *Receipt) Add(o Receipt) {
	r.Memories += o.Memories
	r.Remade += o.Remade
	r.Revisions += o.Revisions
	r.Vectors += o.Vectors
	r.Evidence += o.Evidence
	r.Promoted += o.Promoted
	r.Tombstones += o.Tombstones
	r.Sessions += o.Sessions
	r.Exchanges += o.Exchanges
	r.Places += o.Places
	r.Anchors += o.Anchors
	r.Ledger += o.Ledger
	r.Why += o.Why
	r.Jobs += o.Jobs
	r.Outbox += o.Outbox
	r.ErasedAt, r.State, r.Shared = o.ErasedAt, o.State, o.Shared
}

// ErasureState is how far an erasure is.
type ErasureState string

// The states of an erasure.
const (
	ErasureSweeping ErasureState = "sweeping"
	ErasureWaiting  ErasureState = "waiting"
	ErasureDone     ErasureState = "done"
)

// OutOfReach is a place that may hold something of what was erased, and that the
// erasure doesn't reach.
type OutOfReach struct {
	What string `json:"what" enum:"backups,provider,shared_store,conversations"`
	Note string `json:"note"`
}

// BeyondErasure lists what an erasure can't reach.
func BeyondErasure(encrypted, shared bool) []OutOfReach {
	backups := "Backups and copies of the directory from before hold it until they are replaced."
	if encrypted {
		backups = "Backups and copies of the directory from before open without the scope beside today's scopes.keys; a copy of scopes.keys from before opens them whole."
	}
	out := []OutOfReach{
		{"backups", backups},
		{"provider", "What was sent to the model's provider lies there: responses and conversations stored under an id, files, logs. They are deleted there."},
	}
	if shared {
		out = append(out, OutOfReach{"shared_store", "Deleted objects leave the files of Weaviate when it merges them; backups of it hold them until they are replaced."})
	}
	return out
}

// BeyondMemory is BeyondErasure for a single memory: its scope's key stays, and what
// is still to be reflected does too.
func BeyondMemory(shared bool) []OutOfReach {
	return append(BeyondErasure(false, shared), OutOfReach{
		"conversations", "An exchange in which it was said and that isn't reflected yet is kept until a week after its reflection; erasing the scope removes it now. It isn't learned from there again.",
	})
}
