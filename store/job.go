package store

import "time"

// Trigger says why a session is reflected.
type Trigger string

// The triggers of a reflection.
const (
	TriggerIdle     Trigger = "idle"
	TriggerTokens   Trigger = "tokens"
	TriggerExplicit Trigger = "explicit"
	TriggerShutdown Trigger = "shutdown"
	// TriggerConsolidate is that of a consolidation: enough memories of one
	// subject have gathered.
	TriggerConsolidate Trigger = "consolidate"
)

// Due is a session that is to be reflected, and why.
type Due struct {
	Owner   Owner
	Session string
	Trigger Trigger
}

// JobState is where a reflection stands.
type JobState string

// The states of a job. WaitingForKey waits for the caller's next request.
const (
	Queued        JobState = "queued"
	Running       JobState = "running"
	WaitingForKey JobState = "waiting_for_key"
	Done          JobState = "done"
	Dead          JobState = "dead"
)

// Job is one reflection: the exchanges of a session after From up to To. ID is
// a hash of the session and From, so that asking twice makes one job.
//
// With Scope set it is a consolidation instead: the episodic memories of
// Subject in Scope become one. It has no range; Session is the last that
// taught one of them, whose credential and model are used.
type Job struct {
	ID       string    `json:"id"`
	Session  string    `json:"session"`
	Owner    Owner     `json:"owner"`
	From     uint64    `json:"from"` // exclusive
	To       uint64    `json:"to"`   // inclusive
	Trigger  Trigger   `json:"trigger"`
	State    JobState  `json:"state"`
	Attempts int       `json:"attempts"`
	Answered int       `json:"answered,omitempty"` // calls of failed attempts that a model answered
	Reason   string    `json:"reason,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	// NotBefore holds a retry back; Lease is until when a claim holds.
	NotBefore time.Time `json:"not_before,omitzero"`
	Lease     time.Time `json:"lease,omitzero"`
	Claim     string    `json:"claim,omitempty"` // who holds the lease

	Kept     []string  `json:"kept,omitempty"`     // ids of memories that it wrote or confirmed
	Dropped  []Dropped `json:"dropped,omitempty"`  // what it threw away and why
	Strategy string    `json:"strategy,omitempty"` // how it was extracted: rules, or the prompt's version

	Scope   Scope  `json:"scope,omitempty"`
	Subject string `json:"subject,omitempty"`
	Sources int    `json:"sources,omitempty"` // how many memories there were when it was queued
}

// Consolidates says whether the job is a consolidation.
func (j *Job) Consolidates() bool { return j.Scope != "" }

// JobFilter selects jobs. Cursor is opaque, from the page before; Limit 0 is any
// number.
type JobFilter struct {
	State   JobState
	Session string
	Limit   int
	Cursor  string
}

// JobPage is a page of the queue, the last created first. Counts has the number of
// jobs in each state, whatever state the filter asks for; Next is empty at the end.
type JobPage struct {
	Jobs   []Job
	Counts map[JobState]int
	Next   string
}

// Dropped is a statement that reflection didn't keep.
type Dropped struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
	// Of has a bit for each of the sessions that it is about, of those that shared a
	// call. It isn't kept, and zero where there was one session or nobody can tell.
	Of uint64 `json:"-"`
}

// Outcome is what one reflection changes. The store applies it in one
// transaction: Memories are put whole (new before retired), the session's
// cursor moves to the job's To, the job is done.
type Outcome struct {
	Memories []Memory
	// Vectors are those of memories that have been embedded already, by id; each is of
	// the text that its memory has here. The others are embedded later.
	Vectors  map[string][]float32
	Kept     []string
	Dropped  []Dropped
	Verdicts []Verdict
	Strategy string
	// Merged counts the statements that were known already, Revised those that
	// gave a memory a fuller form.
	Merged, Revised int
	// Dead, if set, ends the job as a dead letter with this reason instead of
	// done: the model could not be asked, and Memories are what rules found.
	Dead string
}

// The verdicts on an injected memory.
const (
	VerdictUsed         = "used"
	VerdictIgnored      = "ignored"
	VerdictConfirmed    = "confirmed"
	VerdictContradicted = "contradicted"
)

// Verdict is what reflection says of one injected memory: used, ignored,
// confirmed or contradicted.
type Verdict struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
}
