package store

// Figures are a tenant's memories in numbers, counted from what is kept: they
// outlive a restart, and what was erased or deleted isn't in them.
type Figures struct {
	Memories int           `json:"memories"` // all that are kept, whatever their state
	States   map[State]int `json:"states"`
	Types    map[Type]int  `json:"types"`  // live ones
	Layers   map[Layer]int `json:"layers"` // live ones
	Ages     []AgeCount    `json:"ages"`   // live ones, the youngest first
	Promoted int           `json:"promoted"`
	// Merged counts the statements that joined a memory that was there instead of
	// becoming another, at most 19 a memory.
	Merged int    `json:"merged"`
	Judged Judged `json:"judged"`
}

// AgeCount is how many memories are younger than a number of days and not in a
// younger group; 0 days: all the older ones.
type AgeCount struct {
	Days     int `json:"days"`
	Memories int `json:"memories"`
}

// AgeGroups are the upper bounds of the groups of ages in days, the last one open.
func AgeGroups() []int { return []int{1, 7, 30, 90, 180, 365, 0} }

// Judged are reflection's verdicts on injected memories; Used includes confirmed.
type Judged struct {
	Used         int `json:"used"`
	Ignored      int `json:"ignored"`
	Contradicted int `json:"contradicted"`
}
