package store

// Tenant is one owner of scopes, with what stands in each of them.
type Tenant struct {
	ID     string       `json:"id"`
	Scopes []ScopeCount `json:"scopes"`
}

// ScopeCount counts what one scope holds. A session counts where its skills
// go: in the agent's part of the user's scope where it names an agent.
type ScopeCount struct {
	Scope    Scope         `json:"scope"`
	Memories map[State]int `json:"memories"`
	Sessions int           `json:"sessions"`
}

// Receipt says what erasing a scope removed, in numbers of records.
type Receipt struct {
	Tenant     string  `json:"tenant"`
	Scope      Scope   `json:"scope"`
	Erased     []Scope `json:"erased"` // the scope and, of a user, the parts of their agents
	Memories   int     `json:"memories"`
	Remade     int     `json:"remade"`    // memories of other scopes that lost evidence from here
	Revisions  int     `json:"revisions"` // older forms of those memories
	Promoted   int     `json:"promoted"`  // memories of other scopes that were made of them: gone, or made anew without them
	Tombstones int     `json:"tombstones"`
	Sessions   int     `json:"sessions"`
	Exchanges  int     `json:"exchanges"`
	Places     int     `json:"places"`
	Anchors    int     `json:"anchors"`
	Ledger     int     `json:"ledger"`
	Why        int     `json:"why"`
	Jobs       int     `json:"jobs"`
}

// SessionFilter selects sessions for a listing, the last started first. Zero
// fields select all.
type SessionFilter struct {
	Tenant   string
	Scope    Scope // as in ScopeCount
	User     string
	External string // the client's own id
	Parent   string
	State    SessionState
	Limit    int    // at most this many; 0 means 100
	Cursor   string // opaque, from the page before
}
