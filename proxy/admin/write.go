package admin

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode"

	"hindsight/store"
)

// The values of a written memory that its writer leaves out.
const (
	writtenImportance = 0.7
	writtenConfidence = 1.0
)

type addInput struct {
	Body struct {
		Tenant     string            `json:"tenant,omitempty" maxLength:"200"`
		Scope      string            `json:"scope,omitempty" doc:"Where it goes; the default user's scope where left out."`
		Text       string            `json:"text" minLength:"1" maxLength:"8000" doc:"One statement that stands on its own."`
		Type       string            `json:"type" enum:"user_fact,preference,solution,error_lesson,event"`
		Layer      string            `json:"layer,omitempty" enum:"episodic,semantic,skill" doc:"That of the type where left out."`
		Importance *float64          `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"0.7 where left out."`
		Confidence *float64          `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"1 where left out."`
		Subject    string            `json:"subject,omitempty" maxLength:"500"`
		Scenario   string            `json:"scenario,omitempty" maxLength:"2000"`
		Standing   bool              `json:"standing,omitempty" doc:"Holds in every conversation."`
		ValidFrom  time.Time         `json:"valid_from,omitzero"`
		ValidTo    time.Time         `json:"valid_to,omitzero"`
		Metadata   map[string]string `json:"metadata,omitempty" maxProperties:"64"`
	}
}

func (a *API) addMemory(ctx context.Context, in *addInput) (*memoryOutput, error) {
	b := &in.Body
	tenant, err := a.tenant(ctx, b.Tenant, "body.tenant")
	if err != nil {
		return nil, err
	}
	sc, err := a.writeScope(ctx, b.Scope, "body.scope")
	if err != nil {
		return nil, err
	}
	text, err := statement(b.Text)
	if err != nil {
		return nil, err
	}
	if err := ordered(b.ValidFrom, b.ValidTo, "body.valid_to", "valid_from"); err != nil {
		return nil, err
	}
	now := a.cfg.Now()
	m := store.Memory{
		ID:     store.MemoryID(tenant, sc, "", 0, 0, b.Subject, store.Fold(text)),
		Tenant: tenant, Scope: sc, Text: text, Type: store.Type(b.Type), Layer: store.Layer(b.Layer),
		Subject: strings.TrimSpace(b.Subject), Scenario: strings.TrimSpace(b.Scenario),
		Importance: writtenImportance, Confidence: writtenConfidence, Standing: b.Standing,
		State: store.Active, AttributedTo: store.ByUser, ValidFrom: b.ValidFrom, ValidTo: b.ValidTo,
		CreatedAt: now, UpdatedAt: now, Metadata: b.Metadata,
	}
	if m.Layer == "" {
		m.Layer = store.LayerOf(m.Type)
	}
	set(&m.Importance, b.Importance)
	set(&m.Confidence, b.Confidence)
	kept, created, err := a.cfg.Store.PutMemory(ctx, m)
	out, err := a.one("the memory", kept, err)
	if out != nil && created {
		out.Status = http.StatusCreated
	}
	return out, err
}

// statement is a memory's text without white space around it.
func statement(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", wrong(http.StatusUnprocessableEntity, "body.text", "Write one statement.", "holds nothing but white space")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }) {
		return "", wrong(http.StatusUnprocessableEntity, "body.text", "Leave them out.", "holds control characters")
	}
	return wordsOf(text)
}

// edit is what of a memory can be changed; what is left out stays.
type edit struct {
	Text       *string            `json:"text,omitempty" minLength:"1" maxLength:"8000"`
	Type       *string            `json:"type,omitempty" enum:"user_fact,preference,solution,error_lesson,event"`
	Layer      *string            `json:"layer,omitempty" enum:"episodic,semantic,skill"`
	Importance *float64           `json:"importance,omitempty" minimum:"0" maximum:"1"`
	Confidence *float64           `json:"confidence,omitempty" minimum:"0" maximum:"1"`
	Subject    *string            `json:"subject,omitempty" maxLength:"500"`
	Scenario   *string            `json:"scenario,omitempty" maxLength:"2000"`
	Standing   *bool              `json:"standing,omitempty"`
	ValidFrom  *time.Time         `json:"valid_from,omitempty" doc:"0001-01-01T00:00:00Z takes it away."`
	ValidTo    *time.Time         `json:"valid_to,omitempty" doc:"0001-01-01T00:00:00Z takes it away."`
	Metadata   *map[string]string `json:"metadata,omitempty" doc:"Replaces all of it."`
}

type editInput struct {
	MemoryPath
	Body edit
}

func (a *API) editMemory(ctx context.Context, in *editInput) (*memoryOutput, error) {
	e := in.Body
	if e == (edit{}) {
		return nil, wrong(http.StatusUnprocessableEntity, "body", "Send the fields that change.", "changes nothing")
	}
	if e.Text != nil {
		text, err := statement(*e.Text)
		if err != nil {
			return nil, err
		}
		e.Text = &text
	}
	m, err := a.cfg.Store.EditMemory(ctx, in.ID, func(m *store.Memory) error {
		e.apply(m)
		return ordered(m.ValidFrom, m.ValidTo, "body.valid_to", "valid_from")
	})
	return a.one(in.what(), m, err)
}

// apply writes what is given. The layer follows the type unless it is given.
func (e edit) apply(m *store.Memory) {
	set(&m.Text, e.Text)
	if e.Type != nil {
		m.Type = store.Type(*e.Type)
		m.Layer = store.LayerOf(m.Type)
	}
	if e.Layer != nil {
		m.Layer = store.Layer(*e.Layer)
	}
	set(&m.Importance, e.Importance)
	set(&m.Confidence, e.Confidence)
	set(&m.Subject, e.Subject)
	set(&m.Scenario, e.Scenario)
	set(&m.Standing, e.Standing)
	set(&m.ValidFrom, e.ValidFrom)
	set(&m.ValidTo, e.ValidTo)
	set(&m.Metadata, e.Metadata)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
