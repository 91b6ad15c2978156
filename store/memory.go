package store

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// Type says what a memory is about.
type Type string

// The types of a memory. Noise is a verdict of reflection, never stored.
const (
	UserFact    Type = "user_fact"
	Preference  Type = "preference"
	Solution    Type = "solution"
	ErrorLesson Type = "error_lesson"
	EventType   Type = "event"
)

// Types lists every type that can be stored.
func Types() []Type { return []Type{UserFact, Preference, Solution, ErrorLesson, EventType} }

// Layer says which kind of remembering a memory is.
type Layer string

// The layers. Working is the open session and never a stored memory.
const (
	Working  Layer = "working"
	Episodic Layer = "episodic"
	Semantic Layer = "semantic"
	Skill    Layer = "skill"
)

// LayerOf is the layer that a type belongs to unless its writer says otherwise.
func LayerOf(t Type) Layer {
	switch t {
	case Solution, ErrorLesson:
		return Skill
	case EventType:
		return Episodic
	default:
		return Semantic
	}
}

// State is where a memory stands in its life. Only Active ones are recalled.
type State string

// The states of a memory.
const (
	Active       State = "active"
	Superseded   State = "superseded"
	Consolidated State = "consolidated"
	Archived     State = "archived"
	Quarantined  State = "quarantined"
)

// Speaker says whose word a memory rests on.
type Speaker string

// The speakers, the most trusted first.
const (
	ByUser      Speaker = "user"
	ByAssistant Speaker = "assistant"
	ByTool      Speaker = "tool"
)

// Evidence is where a memory comes from: a verbatim quote in a turn.
type Evidence struct {
	Session string    `json:"session"`
	Turn    int       `json:"turn"`
	Quote   string    `json:"quote"`
	Time    time.Time `json:"time,omitzero"`
	// Context is the quote with a turn on each side, for recall.
	Context string `json:"context,omitempty"`
}

// Memory is one self-contained statement. Its JSON form is part of the
// contract (the management API, export and import). Importance and Confidence
// lie between 0 and 1.
type Memory struct {
	ID           string            `json:"id"`
	Tenant       string            `json:"tenant"`
	Scope        Scope             `json:"scope"`
	Layer        Layer             `json:"layer"`
	Type         Type              `json:"type"`
	Text         string            `json:"text"`
	Subject      string            `json:"subject"`
	Scenario     string            `json:"scenario"`
	Importance   float64           `json:"importance"`
	Confidence   float64           `json:"confidence"`
	Standing     bool              `json:"standing"`
	State        State             `json:"state"`
	AttributedTo Speaker           `json:"attributed_to"`
	Evidence     []Evidence        `json:"evidence"`
	SourceIDs    []string          `json:"source_ids"`
	SupersededBy string            `json:"superseded_by"`
	ValidFrom    time.Time         `json:"valid_from,omitzero"`
	ValidTo      time.Time         `json:"valid_to,omitzero"`
	CreatedAt    time.Time         `json:"created_at"`
	UpdatedAt    time.Time         `json:"updated_at"`
	LastVerified time.Time         `json:"last_verified,omitzero"`
	LastUsed     time.Time         `json:"last_used,omitzero"`
	Uses         int               `json:"uses"`
	Ignored      int               `json:"ignored,omitempty"`      // sessions that were given it and had no use for it
	Contradicted int               `json:"contradicted,omitempty"` // sessions that were given it and contradicted it
	ArchivedAt   time.Time         `json:"archived_at,omitzero"`
	Metadata     map[string]string `json:"metadata"`
	Revision     int               `json:"revision"`
	Change       Change            `json:"change,omitzero"`
	// About names what a memory gives the value of, where a person has one such
	// value at a time ("home"): of several active memories of a scope about one
	// thing only the last by [Order] holds. Not part of the contract; the
	// management API leaves it out.
	About string `json:"about,omitempty"`
	// Life is what lets two forms of the memory be merged, see [Merged]. Its store
	// keeps it; the management API leaves it out.
	Life Life `json:"life,omitzero" hidden:"true"`
}

// Change says what made a memory's present revision.
type Change struct {
	By Cause `json:"by"`
	// Session is the one whose reflection it was.
	Session string `json:"session,omitempty"`
}

// Cause is a word for what changed a memory; empty where it wasn't recorded.
type Cause string

// The causes of a change.
const (
	Written    Cause = "write"
	Edited     Cause = "edit"
	Verified   Cause = "verify"
	Forgotten  Cause = "forget"
	Restored   Cause = "restore"
	Undone     Cause = "undo" // another took its place again
	Reflection Cause = "reflection"
	Gathered   Cause = "consolidation"
	Swept      Cause = "sweep"
	Promoted   Cause = "promotion"
)

// ShortID is how many characters of a memory's id stand in a block, at least.
const ShortID = 7

// Worth is the importance as feedback has left it: sessions that ignored a
// memory take from it, those that contradicted it three times as much, those
// that used it give it back. It is never less than half of the importance, so
// that feedback moves a memory down and never out.
func (m *Memory) Worth() float64 {
	const patience = 4 // sessions before feedback weighs much
	against := float64(m.Ignored + 3*m.Contradicted)
	by := float64(m.Uses + patience)
	return m.Importance * max(0.5, by/(by+against))
}

// Ref names a memory at a revision.
type Ref struct {
	ID       string `json:"id"`
	Revision int    `json:"revision"`
}

// MemoryID is the id of a memory: a hash of what it is and where it comes
// from, so that the same session range read twice, or by two sidecars, gives
// the same ids. folded is the text through the tokeniser's folding; a written
// memory (API, MCP) has no session and an empty range.
func MemoryID(tenant string, scope Scope, session string, from, to uint64, subject, folded string) string {
	h := sha256.New()
	var n [8]byte
	put := func(s string) {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	put(tenant)
	put(string(scope))
	put(session)
	binary.BigEndian.PutUint64(n[:], from)
	h.Write(n[:])
	binary.BigEndian.PutUint64(n[:], to)
	h.Write(n[:])
	put(subject)
	put(folded)
	return "m" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:15]))
}

// MemoryFilter selects memories for a listing. Zero fields select all; State
// empty means Active. Subject and Scenario match whole, by their folded form.
type MemoryFilter struct {
	Tenant   string
	Scope    Scope
	Type     Type
	Layer    Layer
	Subject  string
	Session  string
	Scenario string
	State    State
	Since    time.Time // created at or after
	Until    time.Time // created before
	Limit    int       // at most this many; 0 means 100
	Cursor   string    // opaque, from the page before
}
