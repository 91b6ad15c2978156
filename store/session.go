package store

import "time"

// EventKind is the kind of one step inside an exchange.
type EventKind string

// The kinds of an event.
const (
	UserInput      EventKind = "user_input"
	ModelReasoning EventKind = "model_reasoning"
	ToolCall       EventKind = "tool_call"
	ToolResult     EventKind = "tool_result"
	FinalOutput    EventKind = "final_output"
)

// Event is one step of a conversation. Text of a user input is the human's
// words whole; what stood in the message without being theirs (documents,
// reminders) is ThirdParty. Name is the tool's name, or the name on a user
// message; CallID joins a tool call to its result; Failed marks a tool result
// that reports an error.
type Event struct {
	Kind       EventKind `json:"type"`
	Time       time.Time `json:"time"`
	Turn       int       `json:"turn"`
	Text       string    `json:"text"`
	Name       string    `json:"name,omitempty"`
	CallID     string    `json:"call_id,omitempty"`
	Failed     bool      `json:"failed,omitempty"`
	ThirdParty string    `json:"third_party,omitempty"`
}

// ExchangeStatus says how an exchange ended.
type ExchangeStatus string

// The ends of an exchange.
const (
	Complete  ExchangeStatus = "complete"
	Aborted   ExchangeStatus = "aborted"   // by the client, or by our own death
	Truncated ExchangeStatus = "truncated" // by the upstream
	Errored   ExchangeStatus = "error"     // no 2xx answer
)

// Exchange is one request and its answer, reduced to what is new to the
// session. It is written once when its 2xx headers have come (Status empty:
// begun) and again, under the same ID, when it has ended; the second replaces
// the first. Seq is given by the store when the ended exchange is committed
// and grows by commit order inside a session.
type Exchange struct {
	ID       string         `json:"id"`
	Session  string         `json:"session"`
	Owner    Owner          `json:"owner"`
	Seq      uint64         `json:"seq"`
	Status   ExchangeStatus `json:"status"`
	HTTP     int            `json:"http_status"`
	Started  time.Time      `json:"started"`
	Finished time.Time      `json:"finished,omitzero"`
	Zone     string         `json:"zone,omitempty"` // the user's time zone: its IANA name, or an offset (+08:00)
	Dialect  string         `json:"dialect"`
	Path     string         `json:"path,omitempty"` // asked for, where the dialect's usual one isn't the place: Azure's, with its api-version
	Model    string         `json:"model,omitempty"`
	Turn     int            `json:"turn"`
	Events   []Event        `json:"events"`
	Tokens   int            `json:"tokens"`              // of Events, by [Tokens]
	Sent     int            `json:"sent"`                // of the request's whole body, by [Tokens]: what the tenant sent through us
	Injected []Ref          `json:"injected,omitempty"`  // newly injected in this exchange
	Replayed int            `json:"replayed,omitempty"`  // blocks replayed
	Usage    Usage          `json:"usage,omitzero"`      // as reported by the upstream
	System   Hash           `json:"system,omitzero"`     // of the system text, for the echo rule
	Answer   Hash           `json:"answer,omitzero"`     // of the answer's text, for the echo rule
	Echoed   []Hash         `json:"echoed,omitempty"`    // answers of this session that came back as assistant content in this request
	Cred     Hash           `json:"credential,omitzero"` // of the credential that it came with

	// SessionInfo is what the store writes into the session's record together
	// with this exchange.
	SessionInfo SessionInfo `json:"session_info"`
	// Again says that an exchange with this ID may have ended before, in this
	// session: a client has repeated a request.
	Again bool `json:"-"`
	// Places and Anchors are committed with the exchange.
	Places  []Place  `json:"-"`
	Anchors []Anchor `json:"-"`
}

// Usage is the upstream's own count of tokens.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached"`
}

// SessionInfo is the part of a session's record that requests decide.
type SessionInfo struct {
	ExternalID string `json:"external_id,omitempty"`
	Parent     string `json:"parent,omitempty"`
	// End asks the store to close the session with this exchange
	// (Hindsight-Session-End).
	End bool `json:"end,omitempty"`
	// Trial is the session's group, and Corrections how many of the exchange's
	// messages put something right; both empty where nothing is compared.
	Trial       Trial `json:"trial,omitempty"`
	Corrections int   `json:"corrections,omitempty"`
	// New says that the session's id was drawn for this exchange, which is the
	// first of it that ended: nothing can be kept under it.
	New bool `json:"-"`
}

// SessionState is open until idle time, a header or a call closes it.
type SessionState string

// The states of a session. A closed one that gets a new exchange is open again.
const (
	Open   SessionState = "open"
	Closed SessionState = "closed"
)

// Session is a conversation's record. Cursor is the Seq of the last exchange
// that reflection has covered; NewTokens counts what came after it.
type Session struct {
	ID         string       `json:"id"`
	ExternalID string       `json:"external_id"`
	Owner      Owner        `json:"owner"`
	Parent     string       `json:"parent"`
	State      SessionState `json:"state"`
	Turns      int          `json:"turns"`
	Started    time.Time    `json:"started"`
	LastSeen   time.Time    `json:"last_seen"`
	LastSeq    uint64       `json:"last_seq"`
	Cursor     uint64       `json:"cursor"`
	NewTokens  int          `json:"new_tokens"`
	Dialect    string       `json:"dialect"`
	Path       string       `json:"path,omitempty"` // as in [Exchange]
	Model      string       `json:"model"`
	Zone       string       `json:"zone,omitempty"`
	Cred       Hash         `json:"credential,omitzero"`

	// What is compared of sessions with and without memories: nothing is counted
	// where Trial is empty.
	Trial       Trial `json:"trial,omitempty"`
	Corrections int   `json:"corrections,omitempty"`
	Usage       Usage `json:"usage,omitzero"`
}

// Place is one message of a session where words stand that only appear once:
// a user message (Key over its human words and the answer before it) or a tool
// result. A place that a session already has is not new material.
type Place struct {
	Key  Hash `json:"key"`
	Turn int  `json:"turn"`
}

// Anchor points from something that only the upstream can have said to the
// session in which it was said. Length is the number of messages that the
// history had when it was said, the answer included. Alone says that the key
// is good by itself (a provider's id of 16 or more random characters).
type Anchor struct {
	Key     Hash      `json:"key"`
	Session string    `json:"session"`
	Length  int       `json:"length"`
	Alone   bool      `json:"alone,omitempty"`
	Time    time.Time `json:"time"`
}

// LedgerEntry says which block stands in front of which message of a session,
// so that it can be replayed byte for byte. Withdrawn entries stay, empty, so
// that the session isn't injected again.
type LedgerEntry struct {
	Owner     Owner     `json:"owner"`
	Session   string    `json:"session"`
	Key       Hash      `json:"key"`
	Text      string    `json:"text"`
	Refs      []Ref     `json:"refs"`
	Checks    []string  `json:"checks,omitempty"` // ids of refs that the block asks to check
	Created   time.Time `json:"created"`
	LastUsed  time.Time `json:"last_used"`
	Withdrawn bool      `json:"withdrawn,omitempty"`
}

// Why keeps what recall considered for one exchange.
type Why struct {
	Exchange   string      `json:"exchange"`
	Session    string      `json:"session"`
	Owner      Owner       `json:"owner"`
	Time       time.Time   `json:"time"`
	Status     string      `json:"status"`
	Reason     string      `json:"reason,omitempty"`
	Degraded   string      `json:"degraded,omitempty"`
	Query      string      `json:"query"`
	Gate       float64     `json:"gate"`
	Considered []Candidate `json:"considered"`
}

// Candidate is one memory that recall looked at. Verdict is `chosen` or the
// word for why not: gate, budget, duplicate, evidence_present, already_said,
// subject_merged, top_k.
type Candidate struct {
	ID      string             `json:"id"`
	Text    string             `json:"text"`
	Parts   map[string]float64 `json:"parts"`
	Verdict string             `json:"verdict"`
}

// Tokens is the one estimate of a text's length in tokens: a CJK character is
// one, four other bytes are one, rounded up (the budget function of the
// design, section 7.8).
func Tokens(s string) int {
	cjk, other := 0, 0
	for _, r := range s {
		switch {
		case CJK(r):
			cjk++
		case r < 0x80:
			other++
		case r < 0x800:
			other += 2
		case r < 0x10000:
			other += 3
		default:
			other += 4
		}
	}
	return cjk + (other+3)/4
}

// CJK says whether a character counts as a token of its own.
func CJK(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7af || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff
}
