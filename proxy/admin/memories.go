package admin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// memories registers the calls on memories but search.
func (a *API) memories(api huma.API) {
	route(api, "list-memories", http.MethodGet, base+"/memories", "List memories, newest first", a.listMemories)
	route(api, "add-memory", http.MethodPost, base+"/memories", "Write a memory", a.addMemory,
		created, also(http.StatusOK, "The same text is there already: the memory that holds it."))
	route(api, "get-memory", http.MethodGet, base+"/memories/{id}", "Read a memory", a.getMemory)
	route(api, "edit-memory", http.MethodPatch, base+"/memories/{id}", "Change a memory; the history is kept", a.editMemory)
	route(api, "forget-memory", http.MethodDelete, base+"/memories/{id}", "Forget a memory: archive it, or remove it for good", a.forgetMemory)
	route(api, "verify-memory", http.MethodPost, base+"/memories/{id}/verify", "Say that a memory is still true", a.verifyMemory)
}

// created makes 201 the status of an operation's usual answer.
func created(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }

// MemoryPath names a memory.
type MemoryPath struct {
	ID string `path:"id" maxLength:"64" doc:"The memory's id."`
}

func (m MemoryPath) what() string { return fmt.Sprintf("memory %q", m.ID) }

type memoryOutput struct {
	Status int
	Body   store.Memory
}

type listInput struct {
	Tenant   string    `query:"tenant" maxLength:"200"`
	Scope    string    `query:"scope" doc:"user:<id>, user:<id>/agent:<id>, agent:<id> or shared."`
	Type     string    `query:"type" enum:"user_fact,preference,solution,error_lesson,event"`
	Layer    string    `query:"layer" enum:"working,episodic,semantic,skill" doc:"working: what was just said in open sessions, which no memory was made of yet."`
	Subject  string    `query:"subject" maxLength:"500" doc:"Exactly this, letter case and punctuation apart."`
	Session  string    `query:"session" maxLength:"1000" doc:"The session that it comes from: Hindsight's id or the client's own."`
	Scenario string    `query:"scenario" maxLength:"2000" doc:"Exactly this, letter case and punctuation apart."`
	State    string    `query:"state" enum:"active,superseded,consolidated,archived,quarantined" default:"active"`
	Since    time.Time `query:"since" doc:"Created at or after."`
	Until    time.Time `query:"until" doc:"Created before."`
	Limit    int       `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor   string    `query:"cursor" maxLength:"1000" doc:"next_cursor of the page before."`
}

type listOutput struct {
	Body struct {
		Memories   []store.Memory `json:"memories" nullable:"false"`
		NextCursor string         `json:"next_cursor" doc:"Empty on the last page."`
	}
}

func (a *API) listMemories(ctx context.Context, in *listInput) (*listOutput, error) {
	tenant, sc, err := a.asked(ctx, in.Tenant, in.Scope)
	if err != nil {
		return nil, err
	}
	if err := ordered(in.Since, in.Until, "query.until", "since"); err != nil {
		return nil, err
	}
	f := store.MemoryFilter{
		Tenant: tenant, Scope: sc, Type: store.Type(in.Type), Layer: store.Layer(in.Layer),
		Subject: in.Subject, Session: in.Session, Scenario: in.Scenario, State: store.State(in.State),
		Since: in.Since, Until: in.Until, Limit: in.Limit, Cursor: in.Cursor,
	}
	list := a.cfg.Store.Memories
	if f.Layer == store.Working {
		list = a.working
	} else if f.Session, err = a.sessionID(ctx, tenant, in.Session); err != nil {
		return nil, err
	}
	page, next, err := list(ctx, f)
	if err != nil {
		return nil, a.fail("the page", err)
	}
	out := &listOutput{}
	out.Body.Memories, out.Body.NextCursor = views(page), next
	return out, nil
}

func (a *API) getMemory(ctx context.Context, in *MemoryPath) (*memoryOutput, error) {
	m, err := a.cfg.Store.Memory(ctx, in.ID)
	return a.one(in.what(), m, err)
}

type forgetInput struct {
	MemoryPath
	Erase bool `query:"erase" doc:"Remove it and its history for good instead of archiving it."`
}

// ForgottenMemory is a memory as it was left, or as it was, and the receipt of its
// erasure where it was erased.
type ForgottenMemory struct {
	store.Memory
	Erasure *store.Receipt `json:"erasure,omitempty"`
}

type forgetOutput struct{ Body ForgottenMemory }

func (a *API) forgetMemory(ctx context.Context, in *forgetInput) (*forgetOutput, error) {
	m, receipt, err := a.forget(ctx, in.ID, in.Erase)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	return &forgetOutput{ForgottenMemory{view(m), receipt}}, nil
}

// forget archives a memory, or erases it; the receipt is that of its erasure.
func (a *API) forget(ctx context.Context, id string, erase bool) (store.Memory, *store.Receipt, error) {
	if !erase {
		m, err := a.cfg.Store.ForgetMemory(ctx, id)
		return m, nil, err
	}
	m, err := a.cfg.Store.Memory(ctx, id)
	if err != nil {
		return m, nil, err
	}
	receipt, err := a.cfg.Store.EraseMemory(ctx, id)
	return m, &receipt, err
}

func (a *API) verifyMemory(ctx context.Context, in *MemoryPath) (*memoryOutput, error) {
	m, err := a.cfg.Store.EditMemory(ctx, in.ID, func(m *store.Memory) error {
		m.LastVerified, m.Change.By = a.cfg.Now(), store.Verified
		return nil
	})
	return a.one(in.what(), m, err)
}

// one answers with a memory, or with the problem of the call.
func (a *API) one(what string, m store.Memory, err error) (*memoryOutput, error) {
	if err != nil {
		return nil, a.fail(what, err)
	}
	return &memoryOutput{Status: http.StatusOK, Body: view(m)}, nil
}

// view is a memory as the contract has it: lists and maps are never null.
func view(m store.Memory) store.Memory {
	m.About, m.Life = "", store.Life{}
	if m.Evidence == nil {
		m.Evidence = []store.Evidence{}
	}
	if m.SourceIDs == nil {
		m.SourceIDs = []string{}
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	return m
}

func views(ms []store.Memory) []store.Memory {
	out := make([]store.Memory, len(ms))
	for i, m := range ms {
		out[i] = view(m)
	}
	return out
}

// ordered refuses a span of time that ends before it begins.
func ordered(from, to time.Time, field, other string) error {
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return wrong(http.StatusUnprocessableEntity, field, "Choose a later time.", "isn't after %s", other)
	}
	return nil
}
