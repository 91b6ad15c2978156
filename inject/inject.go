// Package inject chooses what a conversation should see: which block of
// recalled notes stands in front of which user message. Call [Engine.Plan]
// with what the proxy knows of a request, then, before the request leaves,
// [Engine.Commit] with the plan that is used. A plan may be empty and then says
// why; there is no error, because nothing that goes wrong here may fail a
// request. A plan that is never committed leaves no trace.
//
// A plan is made of two parts. Replay: every block that the session's ledger
// has for a message of the request stands there again, byte for byte, so that
// the provider's prompt cache still fits. Recall: for a message that a person
// has just sent, memories are searched, ranked, held against the gate (silence
// is the default), cleared of duplicates and of what the request already says,
// and rendered into one block within the budgets.
//
// [HasBlock] and [Strip] recognise and remove the blocks of any Hindsight.
package inject

import (
	"time"

	"hindsight/store"
)

// Conversation is what the proxy knows of one request. Nothing of it is kept
// beyond the call.
type Conversation struct {
	Owner    store.Owner
	Session  string
	Exchange string
	New      bool // this request begins the session: nothing is kept of it yet
	Child    bool // a sub-agent: skills only, no facts about the user

	// Places are the user messages of this request where a block may stand,
	// oldest first.
	Places []Place
	// Fresh is the index in Places of the message that a person has just sent,
	// or -1; then Skip is the word for why there is none (side_call,
	// tool_turn, not_a_user_turn …).
	Fresh int
	Skip  string

	// Held are the places of messages that the upstream keeps, with their
	// blocks, and that aren't in this request: what those blocks say is said.
	Held []store.Hash

	// Words are the human's words of the fresh message; Context the turns
	// before it, oldest first, the human's words and the answers.
	Words   string
	Context []string
	// Texts are the request's own texts: a memory whose evidence stands in
	// them isn't injected.
	Texts []string

	Model      string
	Structured bool // facts above the gate only
	BodyHash   store.Hash
	Recall     bool // false: replay only (holdout, paused …)
	Now        time.Time
	Zone       *time.Location
}

// Place is one user message: Key names it inside its session (see
// store.Place), Message is its index in the request. Form is the key that a message
// which has grown would have by its present words, zero for others: a process that
// doesn't know of its first form looks for that.
type Place struct {
	Key     store.Hash
	Form    store.Hash
	Message int
}

// Status is the first word of the answer's status header.
type Status string

// What happened to a request, in the header's words.
const (
	Injected Status = "injected" // something is new
	Replayed Status = "replayed" // earlier blocks only
	None     Status = "none"     // recall ran and found nothing
	OffState Status = "off"      // memory is off for the request
	Skipped  Status = "skipped"  // recall didn't run
)

// Plan is what to splice into a request. The zero Plan changes nothing.
type Plan struct {
	Blocks   []Block // by message, ascending
	New      []store.Ref
	Status   Status
	Reason   string // a word of the contract, or empty
	Degraded string // words or cache, or empty

	held []Block // those that the upstream keeps, oldest places first

	// What Commit makes real.
	owner   store.Owner
	session string
	body    store.Hash
	entries []store.LedgerEntry
	why     *store.Why
	result  string // of the recall, for its counter; empty if none ran
	prefix  string // whether earlier blocks stand again; empty if there are none
	spared  []spared
}

// Block is one block of bytes in front of one message. Message is the index
// of the message in the request.
type Block struct {
	Message int
	Text    string
	Refs    []store.Ref
	Fresh   bool
}
