package store

import "errors"

// Shareable says whether a memory of this type may reach other users at all:
// what was learned about a task may, what was learned about a person never.
func (t Type) Shareable() bool { return t == Solution || t == ErrorLesson }

// Promotion brings what users were taught to a scope that others read. What
// stands there afterwards has the words alone: no evidence and nothing that
// tells whose they were, but the ids of its sources, where both authors'
// evidence is.
type Promotion struct {
	Tenant string
	To     Scope // agent:<id> or shared
	// Sources are live memories in users' scopes that say the same.
	Sources []string
	// Person says that a person decided; else the sources must be of two users.
	Person bool
}

// ErrUnshareable refuses a promotion of what may not reach other users: a fact
// about a person or a preference, what isn't live or isn't a user's, or the
// word of one user without a person's decision.
var ErrUnshareable = errors.New("may not be shared")
