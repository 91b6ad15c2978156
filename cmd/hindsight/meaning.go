package main

import (
	"context"
	"fmt"
	"time"

	hreflect "hindsight/reflect"
	"hindsight/store"
	"hindsight/store/index"
)

// meaning finds neighbours for reflection: by the vectors of the memories, in
// the index that recall searches too.
type meaning struct {
	vectors *vectors
	index   *index.Index
}

var _ hreflect.Meaning = meaning{}

// neighbours is how many of the nearest memories are looked at for a text.
const neighbours = 10

// Near implements [hreflect.Meaning].
func (m meaning) Near(ctx context.Context, tenant string, scopes []store.Scope, texts []string) (map[string][]string, error) {
	if m.vectors == nil {
		return nil, nil
	}
	if reason, _ := m.vectors.State(); reason != "" {
		return nil, fmt.Errorf("find memories by meaning: %s", reason)
	}
	values, err := m.vectors.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed statements: %w", err)
	}
	out := map[string][]string{}
	for i, v := range values {
		res, err := m.index.Search(ctx, index.Query{Tenant: tenant, Scopes: scopes, Vector: v, Share: 1, Now: time.Now(), Limit: neighbours})
		if err != nil {
			return nil, fmt.Errorf("find memories by meaning: %w", err)
		}
		for _, h := range res.Hits {
			if h.Embedded && h.Cosine > hreflect.NearMeaning {
				out[texts[i]] = append(out[texts[i]], h.Memory.ID)
			}
		}
	}
	return out, nil
}
