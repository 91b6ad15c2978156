// Package session says whose a request is and to which conversation it
// belongs: tenant, user, agent, session, turn, and whether anybody spoke.
//
// The proxy calls [Tracker.Identify] with a scanned request, before it is
// forwarded. The [Turn] that comes back goes with the exchange: [Tracker.Begin]
// when 2xx headers have come, [Tracker.Ended] just before the answer's last
// byte is handed to the client, [Tracker.Finish] once for every Turn, whatever
// became of it, and [Tracker.Recorded] when the journal has what Finish
// returned. Begin and Finish return the record for the journal, or nil where
// nothing is to be recorded. [Tracker.Run] belongs into a goroutine of the
// process.
//
// Nothing here fails a request: a Turn whose Off is not empty means that
// memory does nothing for it, and says why in a word of the contract. Nothing
// of a tenant or user is created before a 2xx answer. Everything that a
// finished exchange teaches (places, anchors) is in memory before the client
// can have sent its next request; the disk gets it with the exchange.
//
// It isn't a store: what it remembers of a conversation are keyed hashes. It
// holds texts beyond an exchange only where the provider keeps the conversation
// and requests don't repeat it, and then the last few, shortened. The one secret in it is the caller's credential, see
// [Tracker.Credential].
package session

import (
	"net/http"
	"time"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/store"
)

// Incoming is what the proxy knows of a request. Req may be nil where the body
// couldn't be read: then only tenant and user are found.
type Incoming struct {
	Header   http.Header
	Path     string
	Query    string // with its question mark, or empty
	Dialect  string // its name: chat, responses, messages
	Req      *dialect.Request
	Received time.Time // zero: now
}

// Mode is what the caller allows (Hindsight-Memory, a key's scopes).
type Mode string

// The modes. With Off and Write nothing is injected and nothing replayed, with
// Off and Read nothing is recorded.
const (
	On    Mode = "on"
	Off   Mode = "off"
	Read  Mode = "read"
	Write Mode = "write"
)

// Injects says whether blocks may go into the request.
func (m Mode) Injects() bool { return m == On || m == Read }

// Records says whether the exchange is kept.
func (m Mode) Records() bool { return m == On || m == Write }

// silent is the mode without its injection.
func (m Mode) silent() Mode {
	if m.Records() {
		return Write
	}
	return Off
}

// Turn is one request as the tracker understood it. Its exported fields are
// set by Identify and not changed afterwards, but for Planned.
type Turn struct {
	Owner    store.Owner
	Session  string // ours; empty where none was found
	External string // the client's own name of the session, if it has one
	Parent   string // our id of the session whose sub-agent this is
	Exchange string // ours; a retry has the one of its first try

	// Off is the word for why memory does nothing for this request; empty means
	// that it works. Denied asks for a 401: auth.mode is keys and the caller
	// showed none that is known. Keyed asks for LLM_API_KEY upstream.
	Off    string
	Denied bool
	Keyed  bool
	Mode   Mode

	Side  bool // a side call: forwarded untouched, not a turn
	Child bool // a sub-agent: skills only, its texts are tool material
	Retry bool // of an exchange that has no complete answer yet

	// Places, Fresh, Skip, Words, Context and Texts are what injection asks
	// for, see inject.Conversation. They point into the request's body.
	Places  []inject.Place
	Fresh   int
	Skip    string
	Trial   store.Trial // its session's group, where sessions with and without memories are compared
	Words   string
	Context []string
	Texts   []string

	BodyHash store.Hash
	Zone     *time.Location // the user's, or the configured one
	Model    string
	Received time.Time

	held       []store.Hash // places whose blocks the provider keeps
	structured bool
	begins     bool // this request has drawn the session's id
	work       *work
}

// End says how an exchange ended. HTTP is the upstream's status, 0 without an
// answer; At the time of the last byte, zero for now.
type End struct {
	Status store.ExchangeStatus
	HTTP   int
	At     time.Time
}

// Credential is what a caller showed to the upstream, as header and whole
// value, and the dialect in which it was used.
type Credential struct {
	Header, Value string
	Dialect       string
}
