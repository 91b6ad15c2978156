package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hindsight/store"
)

// reembedCmd is `hindsight reembed`.
type reembedCmd struct{ reach }

const embeddingPath = "/api/v1/embedding"

// Run has vectors of another model replaced and watches until all memories are
// embedded. An interrupt ends the watching; a server goes on.
func (c *reembedCmd) Run(ctx context.Context, a *app) (err error) {
	cl, err := a.client(ctx, c.reach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.close()) }()
	var p store.EmbeddingProgress
	if _, err := cl.do(ctx, http.MethodPost, embeddingPath+"/renew", nil, nil, &p); err != nil {
		return err
	}
	shown := a.long("embedding with "+p.Embedder, p.Memories)
	defer shown.end()
	for p.Embedded < p.Memories || p.Reason != "" {
		shown.of(p.Memories)
		shown.at(p.Embedded)
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
		}
		if _, err := cl.do(ctx, http.MethodGet, embeddingPath, nil, nil, &p); ctx.Err() != nil {
			return &failure{
				wrong: fmt.Sprintf("interrupted with %d of %d memories embedded", p.Embedded, p.Memories),
				next:  "A server goes on by itself; `hindsight reembed` goes on from there, or shows how far it is.",
			}
		} else if err != nil {
			return err
		}
	}
	shown.end()
	if a.json {
		return a.printJSON(p)
	}
	return a.say("All %d memories are embedded with %s.", p.Memories, p.Embedder)
}
