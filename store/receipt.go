package store

import "time"

// Receipt says what erasing a scope removed, in numbers of records.
type Receipt struct {
	Tenant     string  `json:"tenant"`
	Scope      Scope   `json:"scope"`
	Erased     []Scope `json:"erased" nullable:"false"` // the scope and, of a user, the parts of their agents
	Memories   int     `json:"memories"`
	Remade     int     `json:"remade"`    // memories of other scopes that lost evidence from here
	Revisions  int     `json:"revisions"` // older forms of those memories
	Promoted   int     `json:"promoted"`  // memories of other scopes that were made of them: gone, or made anew without them
	Tombstones int     `json:"tombstones"`
	Sessions   int     `json:"sessions"`
	Exchanges  int     `json:"exchanges"`
	Places     int     `json:"places"` // records of which messages were seen, of exchanges that had gone before
	Anchors    int     `json:"anchors"`
	Ledger     int     `json:"ledger"`
	Why        int     `json:"why"`
	Jobs       int     `json:"jobs"`

	// ErasedAt is the moment from which on nothing of it can be read here.
	ErasedAt time.Time `json:"erased_at"`
	// State says whether its bytes have left the files of the directory.
	State ErasureState `json:"state" enum:"sweeping,done"`
	// Shared says whether the store that sidecars share was told; empty where there is none.
	Shared     ErasureState `json:"shared,omitempty" enum:"waiting,done"`
	OutOfReach []OutOfReach `json:"out_of_reach" nullable:"false"`
}

// ErasureState is how far an erasure is.
type ErasureState string

// The states of an erasure.
const (
	ErasureSweeping ErasureState = "sweeping"
	ErasureWaiting  ErasureState = "waiting"
	ErasureDone     ErasureState = "done"
)

// OutOfReach is a place that may hold something of what was erased, and that
// Hindsight can't reach.
type OutOfReach struct {
	What string `json:"what" enum:"backups,provider,shared_store"`
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
