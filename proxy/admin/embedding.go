package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Embedding keeps memories embedded. Reembed has vectors of another model
// replaced, in the background.
type Embedding interface {
	Reembed()
	Progress(ctx context.Context) (store.EmbeddingProgress, error)
}

func (a *API) embedding(api huma.API) {
	route(api, "embedding", http.MethodGet, base+"/embedding", "How far the memories are embedded", a.embedded)
	route(api, "renew-embedding", http.MethodPost, base+"/embedding/renew", "Embed all memories anew where their vectors are of another model", a.reembed)
}

type embeddingOutput struct{ Body store.EmbeddingProgress }

func (a *API) reembed(ctx context.Context, in *struct{}) (*embeddingOutput, error) {
	if a.cfg.Embedding != nil {
		a.cfg.Embedding.Reembed()
	}
	return a.embedded(ctx, in)
}

func (a *API) embedded(ctx context.Context, _ *struct{}) (*embeddingOutput, error) {
	if a.cfg.Embedding == nil {
		return nil, problem(http.StatusConflict, "Set HINDSIGHT_EMBEDDER to builtin or to a served model.", "no embedder is configured")
	}
	p, err := a.cfg.Embedding.Progress(ctx)
	if err != nil {
		return nil, a.fail("the vectors", err)
	}
	return &embeddingOutput{Body: p}, nil
}
