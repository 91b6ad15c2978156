// Package store says what Hindsight keeps and under which names: memories and
// their evidence, sessions and the exchanges in them, the reflection queue,
// the ledger of injected blocks. It holds types and contracts only. How they
// are kept is the business of the packages below it (badgerdb, weaviatedb),
// how they are found that of index; the interfaces through which other
// packages use a store are declared by those packages.
//
// Every name of a person or conversation that reaches a key goes through
// [IdentityKey.Hash], so that a directory listing or a key dump tells nothing.
package store

import (
	"errors"
	"fmt"
)

// Product is the one constant behind header names, metric names and paths.
const Product = "hindsight"

// ErrNotFound says that nothing is kept under the given name. It is also the
// answer to a name that belongs to another tenant or user.
var ErrNotFound = errors.New("not found")

// ErrForgotten refuses a write of something that a person has had forgotten.
var ErrForgotten = errors.New("forgotten by its user")

// ErrStale refuses a change that rests on what is no longer so: the session was
// reflected by another, the lease was lost, a memory was changed meanwhile.
var ErrStale = errors.New("changed by another meanwhile")

// ErrNoRevision refuses a revision that a memory never had.
var ErrNoRevision = errors.New("no such revision")

// ErrNotConsolidated refuses to undo a consolidation that there wasn't.
var ErrNotConsolidated = errors.New("not made by a consolidation")

// ErrCursor refuses a listing's cursor that no listing gave out.
var ErrCursor = errors.New("malformed cursor")

// Off is the error of a store that can't be used now. The request path turns
// memory off for the request and forwards it; everything else reports Reason.
type Off struct {
	// Reason is one line for people: what is wrong and what mends it.
	Reason string
	// Held says that another process has the data open.
	Held bool
}

func (o *Off) Error() string { return fmt.Sprintf("memory is off: %s", o.Reason) }
