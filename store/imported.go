package store

// Imported is what became of one memory that was brought from elsewhere, and the
// id under which it stands; a forgotten one has none.
type Imported struct {
	ID     string       `json:"id,omitempty"`
	Result ImportResult `json:"result"`
}

// ImportResult says what an import did with a memory.
type ImportResult string

// The results of an import.
const (
	ImportAdded ImportResult = "added"
	ImportKnown ImportResult = "known" // it, or one of the same text, was there
	// ImportForgotten is one that a person had forgotten here, or whose scope was
	// erased after it was said.
	ImportForgotten ImportResult = "forgotten"
	// ImportLeft is an older form of a memory that isn't here, or that was changed
	// here since.
	ImportLeft ImportResult = "left"
)

// Copied is the cause of a memory that an import wrote.
const Copied Cause = "import"
