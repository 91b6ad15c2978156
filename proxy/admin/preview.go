package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Previewer shows what reflection would make of a session. The error is the
// store's; that a model can't be asked is part of the answer.
type Previewer interface {
	Preview(ctx context.Context, s store.Session) (Preview, error)
}

// Preview is what reflection would make of a session.
type Preview struct {
	Session  string          `json:"session"`
	Model    string          `json:"model" doc:"The model that was asked; empty: none."`
	Strategy string          `json:"strategy" doc:"How it was found: a prompt's version, or rules."`
	Reason   string          `json:"reason,omitempty" doc:"Why no model was asked, or why its answer doesn't count."`
	Calls    []PreviewCall   `json:"calls" nullable:"false"`
	Memories []PreviewMemory `json:"memories" nullable:"false"`
	Dropped  []store.Dropped `json:"dropped" nullable:"false"`
	Verdicts []store.Verdict `json:"verdicts" nullable:"false" doc:"What is said of the memories that the session was given."`
}

// PreviewCall is one question and its answer, as they went.
type PreviewCall struct {
	System string `json:"system"`
	User   string `json:"user"`
	Answer string `json:"answer"`
	Error  string `json:"error,omitempty"`
}

// PreviewMemory is one memory as it would be written.
type PreviewMemory struct {
	Change string       `json:"change" enum:"new,changed,superseded"`
	Memory store.Memory `json:"memory"`
}

func (a *API) preview(api huma.API) {
	route(api, "preview-reflection", http.MethodPost, base+"/sessions/{id}/preview",
		"Show what reflection would make of a session: the prompt, the answer, every decision. Nothing is changed", a.previewSession)
}

type previewOutput struct{ Body Preview }

func (a *API) previewSession(ctx context.Context, in *SessionPath) (*previewOutput, error) {
	if a.cfg.Previewer == nil {
		return nil, problem(http.StatusNotImplemented, "Set HINDSIGHT_REFLECT_MODEL to rules, or HINDSIGHT_REFLECT_API_BASE or LLM_API_BASE to an API.", "there is nowhere to ask a model")
	}
	s, err := a.session(ctx, *in)
	if err != nil {
		return nil, err
	}
	p, err := a.cfg.Previewer.Preview(ctx, s)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	for i := range p.Memories {
		p.Memories[i].Memory = view(p.Memories[i].Memory)
	}
	return &previewOutput{p}, nil
}
