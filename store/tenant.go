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
