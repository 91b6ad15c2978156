package mcpserver

import (
	"time"

	"hindsight/store"
)

// Note is a memory as tools answer it: what a model needs of it.
type Note struct {
	ID           string            `json:"id" jsonschema:"names the memory in later calls"`
	Text         string            `json:"text"`
	Type         string            `json:"type" jsonschema:"user_fact, preference, solution, error_lesson or event"`
	Layer        string            `json:"layer" jsonschema:"working, episodic, semantic or skill"`
	Scope        string            `json:"scope" jsonschema:"whose it is"`
	State        string            `json:"state" jsonschema:"active, or why it holds no longer"`
	Subject      string            `json:"subject,omitempty"`
	Scenario     string            `json:"scenario,omitempty" jsonschema:"when it is useful"`
	Importance   float64           `json:"importance"`
	Confidence   float64           `json:"confidence"`
	Standing     bool              `json:"standing,omitempty" jsonschema:"holds in every conversation"`
	CreatedAt    string            `json:"created_at"`
	LastVerified string            `json:"last_verified,omitempty"`
	ValidTo      string            `json:"valid_to,omitempty"`
	SupersededBy string            `json:"superseded_by,omitempty" jsonschema:"the id of the memory that holds instead"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

func noteOf(m store.Memory) Note {
	return Note{
		ID: m.ID, Text: m.Text, Type: string(m.Type), Layer: string(m.Layer), Scope: string(m.Scope), State: string(m.State),
		Subject: m.Subject, Scenario: m.Scenario, Importance: m.Importance, Confidence: m.Confidence, Standing: m.Standing,
		CreatedAt: stamp(m.CreatedAt), LastVerified: stamp(m.LastVerified), ValidTo: stamp(m.ValidTo),
		SupersededBy: m.SupersededBy, Metadata: m.Metadata,
	}
}

func notesOf(ms []store.Memory) []Note {
	out := make([]Note, len(ms))
	for i, m := range ms {
		out[i] = noteOf(m)
	}
	return out
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
