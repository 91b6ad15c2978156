package session

import (
	"context"
	"strconv"
	"strings"
	"time"

	"hindsight/inject"
	"hindsight/proxy/session/clients"
	"hindsight/store"
)

// work is the tracker's own side of a Turn.
type work struct {
	*hasher     // nil until the owner is known
	shown       shown
	claims      bool      // tenant `default` is this credential's if it is the first one accepted
	crowd       bool      // shows that the tenant has more than one person
	implied     bool      // the user is the implied one
	tenantFacts [2]string // names of the tenant's facts, where an implied user is possible

	live    *live // nil: memory does nothing for the request
	attempt *attempt
	try     int
	grown   *growth   // the message is a later form of this one
	after   *answered // the provider keeps what was said up to here
	stored  bool      // the provider may be asked for the answer later
	context []string  // the last of that

	// What the request says, without its texts.
	dialect  string
	path     string // where that isn't the dialect's usual one, see placeOf
	fresh    []candidate
	lastUser store.Hash // the place of the last human words
	words    store.Hash // the last human words
	length   int
	chain    store.Hash // the human words so far, zero if they are too few
	heard    int        // how many of them the session knows, where no answer stands between them
	growth   store.Hash // under which name the message may grow; zero if it can't
	text     store.Hash // of that message
	form     string     // that message, until the exchange is over
	body     store.Hash // of the request's body
	textLen  int
	system   store.Hash
	tools    bool
	echoed   []store.Hash
	verdict  store.Hash // a prompt_cache_key that turned out to be no session's
	sent     int
	end      bool // Hindsight-Session-End

	// What became of it. Tracker.mu guards these.
	void       bool // accepted, but belongs to nobody
	begun      bool
	record     store.Exchange
	finished   bool
	finishedAt time.Time
	done       chan struct{} // closed by Finish; nil while nobody waits
	recorded   chan struct{} // closed when the record is in the journal's hands; nil while nobody waits
}

// Identify says whose a request is and to which conversation it belongs. It
// waits for exchanges of the same owner whose answer is already with the
// client, and for the store, within ctx. It never returns nil.
func (k *Tracker) Identify(ctx context.Context, in Incoming) *Turn {
	if in.Received.IsZero() {
		in.Received = k.cfg.Now()
	}
	t := &Turn{
		Mode: modeOf(in.Header), Fresh: -1, Skip: clients.NotAUserTurn,
		Zone: k.zoneOf(in.Header), Received: in.Received,
		work: &work{dialect: in.Dialect, path: placeOf(in.Path, in.Query)},
	}
	sig := k.signalsOf(in.Header, in.Req)
	if !k.who(ctx, t, in, sig) {
		return t
	}
	app := clients.App(in.Header)
	if in.Req != nil {
		t.Model = strings.Clone(in.Req.Model)
		if rule := k.rules.SideCall(in.Req, in.Header, app); rule != "" {
			k.aside(t, rule)
			return t
		}
	}
	if sig.temporary {
		t.Off = temporary
	}
	if in.Req == nil || t.Off != "" {
		return t
	}
	w := t.work
	w.end = strings.EqualFold(in.Header.Get("Hindsight-Session-End"), "true")
	r := k.read(w.hasher, in.Req, app)
	t.BodyHash = w.hash("body", strconv.FormatUint(k.memo.body(in.Req.Body), 36), strconv.Itoa(len(in.Req.Body)), in.Path, sig.external)
	w.body = t.BodyHash
	k.await(ctx, t, sig, r)
	if err := k.locate(ctx, t, in, sig, r); err != nil {
		k.log.Debug("memory is off for a request", "err", err)
		t.Off = off(ctx, err)
		return t
	}
	if t.Side || t.Off != "" {
		return t
	}
	k.fill(t, r)
	return t
}

// aside makes a turn a side call.
func (k *Tracker) aside(t *Turn, rule string) {
	t.Side, t.Skip = true, sideCall
	k.m.side.WithLabelValues(rule).Inc()
}

// Conversation is the turn as injection sees it: a session that is held out
// is only replayed what it got before.
func (t *Turn) Conversation() inject.Conversation {
	skip, recall := t.Skip, t.Trial != store.TrialWithout
	if !recall && t.Fresh >= 0 {
		skip = holdout
	}
	return inject.Conversation{
		Owner: t.Owner, Session: t.Session, Exchange: t.Exchange, New: t.begins, Child: t.Child,
		Places: t.Places, Fresh: t.Fresh, Skip: skip,
		Words: t.Words, Context: t.Context, Texts: t.Texts,
		Held: t.held, Model: t.Model, Structured: t.structured, BodyHash: t.BodyHash,
		Recall: recall, Now: t.Received, Zone: t.Zone,
	}
}

// Planned drops what only injection asks for: the texts of a long history are
// as large as the request, whose answer may take minutes.
func (t *Turn) Planned() { t.Context, t.Texts = nil, nil }
