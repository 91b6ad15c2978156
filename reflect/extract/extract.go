// Package extract says what a session taught. [Prompt] turns the material of a
// session into a question for a model and [Read] turns the answer into
// candidates; what a check refused and the model may put right is asked for
// [Once] more, and [Mended] joins the two answers. [Rules] does without a
// model. None of them asks anybody: they are pure functions, and the caller
// owns the call.
//
// A model only proposes. Whether a statement is kept is decided here, in code:
// the quote must stand in the turn that it is said to come from, numbers and
// names must stand in the evidence, what a tool or a third party said is never
// a fact about the user, secrets and instructions to the model are refused.
// What is thrown away is returned too, with a word for the reason.
//
// Fitting candidates among the memories that exist is the business of
// lifecycle, not of this package.
package extract

import (
	"slices"
	"time"

	"hindsight/store"
)

// Apart is how far the turns of two conversations lie apart that share a call: the
// n-th of them begins at turn n times Stride.
const (
	Apart  = 5000
	Stride = 2 * Apart
)

// Limits of one session.
const (
	MaxMemories   = 12  // kept of one session
	MinImportance = 0.6 // of what nobody asked to remember
	maxText       = 500 // runes of one memory
	minQuote      = 6   // of [wording.Weight]: a shorter quote proves nothing
)

// Role is who speaks in an event.
type Role string

// The roles of an event.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolCall  Role = "tool_call"
	Tool      Role = "tool" // a tool's result, or a third party's text
)

// Event is one numbered step of the material.
type Event struct {
	ID        string
	Role      Role
	Turn      int
	Time      time.Time // in the user's zone
	Name      string    // the tool's name
	CallID    string
	Text      string
	Untrusted bool // outside text: never the user's words
	Failed    bool // a tool result that reports an error
}

// Note is a memory that exists already: a neighbour, or one that was injected.
type Note struct {
	ID   string
	Type store.Type
	Text string
}

// Material is what one look back covers.
type Material struct {
	Session      string
	Strategy     Strategy // how the model is asked; "" is [Classify]
	Events       []Event
	Before       []Event // what was said just before: context, no material
	Existing     []Note  // near neighbours, so that the model can relate to them
	Injected     []Note  // what the conversation was given
	Instructions string  // what the operator cares about
}

// Candidate is a statement that may become a memory.
type Candidate struct {
	Type       store.Type
	Text       string
	Subject    string
	Scenario   string
	Importance float64
	Confidence float64
	Standing   bool // holds for every conversation to come
	Thin       bool // the text lost something of its quote, which now stands beside it
	Explicit   bool // the user asked to remember it
	Corrects   bool // the user put right with it what was said before
	By         store.Speaker
	Turn       int
	Time       time.Time // of the event that it rests on
	Until      time.Time // when it stops to hold; zero if nobody said so
	Offset     int       // of the quote in the event, in bytes; 0 if it stands there in another form
	Quote      string
	Context    string // the quote's turn and its neighbours
	Relation   Relation
	RelationID string
	Why        string // it is held; empty: it isn't
}

// Relation is how a model relates a candidate to a memory that exists.
type Relation string

// The relations.
const (
	New         Relation = "new"
	SameAs      Relation = "same_as"
	Refines     Relation = "refines"
	Contradicts Relation = "contradicts"
)

// Result is what a session taught and what was thrown away.
type Result struct {
	Candidates []Candidate
	Held       []Candidate // wait for a person's word; each is among Dropped, too
	Dropped    []store.Dropped
	Verdicts   []store.Verdict
	Doubts     []Doubt // what asking once more may mend
}

// The reasons for which a statement is dropped, as the management API shows
// them and the counters name them.
const (
	Noise         = "noise"          // the model itself says that it isn't worth keeping
	BadItem       = "schema"         // the item breaks the schema
	NoEvidence    = "evidence"       // it names no event of the material
	NoQuote       = "quote"          // the quote doesn't stand in the turn
	NewNumber     = "number"         // a number that the evidence doesn't hold
	NewName       = "name"           // a name or identifier that it doesn't hold
	NewDate       = "date"           // a month, weekday or relative day that it doesn't hold
	Turned        = "turned"         // it says the opposite, or turns round what was compared
	NewNegation   = "negation"       // it denies what nobody denied
	Ungrounded    = "ungrounded"     // less than half of its words stand in the evidence
	NotTheUsers   = "not_the_users"  // a fact or preference on another's word
	Secret        = "secret"         // it holds a credential
	Instruction   = "instruction"    // an order to the model, not a statement
	Example       = "example"        // text of the prompt's own examples
	OtherLanguage = "language"       // not the conversation's language
	Unimportant   = "importance"     // below the threshold
	NoDifference  = "no_difference"  // a later conversation would go the same without it
	Hidden        = "hidden_text"    // its words hold characters that nobody sees
	OverCap       = "cap"            // one session teaches at most so much
	Unproven      = "unproven"       // only a tool, a document or the assistant says so, and nobody saw it work
	KeptOut       = "not_to_be_kept" // the user asked not to remember it
)

// drop says why a text isn't kept, and which turns it is about: in a shared call
// they tell whose it is.
func drop(text, reason string, turns ...int) store.Dropped {
	if r := []rune(text); len(r) > maxText {
		text = string(r[:maxText])
	}
	d := store.Dropped{Text: Redact(text), Reason: reason}
	for _, turn := range turns {
		d.Of |= Nth(turn / Stride)
	}
	return d
}

// Nth is the bit of [store.Dropped] for the n-th session of a call.
func Nth(n int) uint64 { return 1 << n }

// alone takes back whose things are that were dropped where one session was asked
// about.
func (r *Result) alone(events []Event) {
	if slices.ContainsFunc(events, func(e Event) bool { return e.Turn >= Apart }) {
		return
	}
	for i := range r.Dropped {
		r.Dropped[i].Of = 0
	}
}
