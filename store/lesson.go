package store

// Lesson is a statement that somebody writes to be kept, as an agent does over
// MCP. It goes the way of what a conversation teaches: screened, compared with
// what is known, and in order with everything else that is written.
type Lesson struct {
	Owner      Owner
	Scope      Scope // where it goes; empty: the owner's, by type
	Type       Type
	Text       string
	Subject    string
	Importance float64 // 0 to 1
	Confidence float64 // 0 to 1
	Metadata   map[string]string
}

// Learned is what became of a Lesson.
type Learned struct {
	// Memory is the one that says it now; zero where it was refused.
	Memory Memory
	Result LessonResult
	// Reason is a word for why it was refused.
	Reason string
	// Replaced are the memories that hold no longer because of it.
	Replaced []string
	// Near are memories of which code can't tell whether they say the same or
	// can't hold beside it: a reader can.
	Near []Memory
}

// LessonResult says what became of a Lesson.
type LessonResult string

// What becomes of a lesson.
const (
	LessonCreated LessonResult = "created"
	LessonKnown   LessonResult = "known" // a memory says it already
	LessonRefused LessonResult = "refused"
)
