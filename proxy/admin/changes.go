package admin

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Feed tells what has changed. Versions grow with every change of a scope's
// memories; they mean nothing after the store was opened anew, which is when
// ScopeChanges says false.
type Feed interface {
	ScopeVersion(tenant string, sc store.Scope) uint64
	ScopeChanges(tenant string, sc store.Scope, since uint64) ([]store.Memory, uint64, bool)
}

// The bounds of a wait for changes.
const (
	maxChangesWait = time.Minute
	changesPause   = 200 * time.Millisecond
)

func (a *API) changes(api huma.API) {
	route(api, "memory-changes", http.MethodGet, base+"/memories/changes", "Wait for changes of a scope's memories", a.memoryChanges)
}

type changesInput struct {
	Tenant string `query:"tenant" maxLength:"200"`
	Scope  string `query:"scope" required:"true" doc:"The scope to follow."`
	After  string `query:"after" maxLength:"40" doc:"version of the answer before; left out: only says where things stand."`
	Wait   string `query:"wait" maxLength:"20" doc:"How long to wait for a change, such as 25s; at most 1m." example:"25s"`
}

type changesOutput struct {
	Body struct {
		Tenant  string   `json:"tenant" doc:"Its name as memories have it: a tenant that was linked to another has that one's."`
		Version string   `json:"version" doc:"after of the next call."`
		Changed []string `json:"changed" nullable:"false" doc:"The ids of the memories that changed or went."`
		Lost    bool     `json:"lost" doc:"It can't be said what changed since: look at everything anew."`
	}
}

func (a *API) memoryChanges(ctx context.Context, in *changesInput) (*changesOutput, error) {
	if a.cfg.Feed == nil {
		return nil, problem(http.StatusNotImplemented, "Ask the server that runs on this directory.", "changes can't be followed here")
	}
	tenant, sc, err := a.asked(ctx, in.Tenant, in.Scope)
	if err != nil {
		return nil, err
	}
	wait, err := waitTime(in.Wait, maxChangesWait, "25s")
	if err != nil {
		return nil, err
	}
	out := &changesOutput{}
	out.Body.Tenant, out.Body.Changed = tenant, []string{}
	now := a.cfg.Feed.ScopeVersion(tenant, sc)
	if in.After == "" {
		out.Body.Version = strconv.FormatUint(now, 10)
		return out, nil
	}
	after, err := strconv.ParseUint(in.After, 10, 64)
	if err != nil {
		return nil, wrong(http.StatusUnprocessableEntity, "query.after", "Send version of the answer before.", "isn't a version")
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	look := time.NewTicker(changesPause)
	defer look.Stop()
	for waiting := wait > 0; waiting && now == after; {
		select {
		case <-look.C:
			now = a.cfg.Feed.ScopeVersion(tenant, sc)
		case <-late.C:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	changed, version, ok := a.cfg.Feed.ScopeChanges(tenant, sc, after)
	out.Body.Version, out.Body.Lost = strconv.FormatUint(version, 10), !ok
	for _, m := range changed {
		out.Body.Changed = append(out.Body.Changed, m.ID)
	}
	return out, nil
}
