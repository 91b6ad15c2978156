package store

import "time"

// FateKind is what a sweep does with a memory.
type FateKind string

// The fates of a memory.
const (
	FateArchive FateKind = "archive"
	FateLower   FateKind = "lower"  // its importance falls
	FateDelete  FateKind = "delete" // from the archive, for good
)

// Fate is what a sweep wants done with one memory as it was read: the store
// leaves alone what was changed or used since.
type Fate struct {
	ID       string
	Do       FateKind
	To       float64 // the importance that FateLower leaves
	Revision int
	LastUsed time.Time
	State    State
}

// Merge is one consolidation: what was made of which memories, or, with
// Reason, why nothing was.
type Merge struct {
	Scope   Scope    `json:"scope"`
	Subject string   `json:"subject"`
	Sources []string `json:"sources"`          // ids
	Memory  *Memory  `json:"memory,omitempty"` // what was made of them
	Reason  string   `json:"reason,omitempty"` // why nothing was made
}

// SweepReport is what a sweep did, or, dry, would do.
type SweepReport struct {
	DryRun   bool        `json:"dry_run"`
	Archived int         `json:"archived"`
	Lowered  int         `json:"lowered"` // importance
	Deleted  int         `json:"deleted"`
	Memories []SweptItem `json:"memories"` // the first thousand of them
}

// SweptItem is one memory that a sweep took and why.
type SweptItem struct {
	ID     string   `json:"id"`
	Tenant string   `json:"tenant"`
	Scope  Scope    `json:"scope"`
	Type   Type     `json:"type"`
	Text   string   `json:"text"`
	Do     FateKind `json:"do"`
	Reason string   `json:"reason"` // old, too_many or archived
	Score  float64  `json:"score"`
}
