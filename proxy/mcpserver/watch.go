package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hindsight/store"
)

// watch follows what a desk's clients may want to hear of.
type watch struct {
	mu       sync.Mutex
	on       bool              // somebody follows the scopes
	sessions map[string][]byte // content of the session resources that clients follow, as it was last
	count    map[string]int    // how many follow it
}

// How changes are looked for. A scope's are waited for in one long call.
const (
	changesWait  = 25 * time.Second
	sessionsLook = 2 * time.Second
	afterTrouble = 5 * time.Second
)

// changes is an answer of the management API.
type changes struct {
	Tenant  string   `json:"tenant"`
	Version string   `json:"version"`
	Changed []string `json:"changed"`
	Lost    bool     `json:"lost"`
}

// follow begins to follow the scopes, unless somebody does. It ends by itself
// when the last session has gone.
func (d *desk) follow() {
	d.watch.mu.Lock()
	defer d.watch.mu.Unlock()
	if d.watch.on || d.life.Err() != nil {
		return
	}
	d.watch.on = true
	go func() {
		for d.inUse() {
			var all sync.WaitGroup
			for _, sc := range d.grant.Read {
				all.Go(func() { d.followScope(sc) })
			}
			all.Go(d.followSessions)
			all.Wait()
		}
	}()
}

// inUse says whether somebody is there to hear of changes; if not, the watch is
// over.
func (d *desk) inUse() bool {
	d.watch.mu.Lock()
	defer d.watch.mu.Unlock()
	d.watch.on = d.life.Err() == nil && d.anybody()
	if !d.watch.on {
		d.watch.sessions, d.watch.count = nil, nil
	}
	return d.watch.on
}

func (d *desk) anybody() bool {
	for range d.server.Sessions() {
		return true
	}
	return false
}

// followScope tells of the changes of a scope while there are sessions.
func (d *desk) followScope(sc store.Scope) {
	version := ""
	for d.life.Err() == nil && d.anybody() {
		var now changes
		q := d.query("scope", string(sc), "after", version)
		if version != "" {
			q.Set("wait", changesWait.String())
		}
		ctx, cancel := context.WithTimeout(d.life, changesWait+afterTrouble)
		err := d.api.do(ctx, http.MethodGet, memoriesPath+"/changes", q, nil, &now)
		cancel()
		if err != nil {
			d.log.Debug("changes can't be followed", "error", err)
			if version != "" {
				version = "0" // whatever happens meanwhile, clients look again afterwards
			}
			select {
			case <-time.After(afterTrouble):
			case <-d.life.Done():
			}
			continue
		}
		if version != "" && (now.Lost || len(now.Changed) > 0) {
			d.tell(sc, now.Changed)
		}
		version = now.Version
	}
}

// tell says that a scope's memories have changed.
func (d *desk) tell(sc store.Scope, ids []string) {
	d.updated(uriOfScope(sc))
	if plain := scopeBegin + string(sc); plain != uriOfScope(sc) {
		d.updated(plain)
	}
	for _, id := range ids {
		d.updated(uriOfMemory(id))
	}
	d.addScope(sc) // the list has changed
}

func (d *desk) updated(uri string) {
	if err := d.server.ResourceUpdated(d.life, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		d.log.Debug("a client can't be told of a change", "error", err)
	}
}

// followSessions tells of what is said in the sessions that clients follow.
func (d *desk) followSessions() {
	look := time.NewTicker(sessionsLook)
	defer look.Stop()
	for d.anybody() {
		select {
		case <-look.C:
		case <-d.life.Done():
			return
		}
		d.watch.mu.Lock()
		uris := make([]string, 0, len(d.watch.sessions))
		for uri := range d.watch.sessions {
			uris = append(uris, uri)
		}
		d.watch.mu.Unlock()
		for _, uri := range uris {
			ctx, cancel := context.WithTimeout(d.life, afterTrouble)
			now, err := d.resource(ctx, uri)
			cancel()
			if err != nil {
				continue // it may be back at the next look
			}
			d.watch.mu.Lock()
			was, still := d.watch.sessions[uri]
			if still {
				d.watch.sessions[uri] = now
			}
			d.watch.mu.Unlock()
			if still && !bytes.Equal(was, now) {
				d.updated(uri)
			}
		}
	}
}

// maxFollowed bounds the session resources that are looked at.
const maxFollowed = 100

// subscribe lets a client follow what it may read.
func (d *desk) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Limit)
	defer cancel()
	uri := req.Params.URI
	now, err := d.resource(ctx, uri)
	if err != nil {
		return wireResource(uri, err)
	}
	if !strings.HasPrefix(uri, "session://") {
		return nil
	}
	d.watch.mu.Lock()
	defer d.watch.mu.Unlock()
	if d.watch.sessions == nil {
		d.watch.sessions, d.watch.count = map[string][]byte{}, map[string]int{}
	}
	if _, known := d.watch.sessions[uri]; !known && len(d.watch.sessions) >= maxFollowed {
		return errors.New("too many sessions are followed: unsubscribe from some")
	}
	d.watch.sessions[uri] = now
	d.watch.count[uri]++
	return nil
}

func (d *desk) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	d.watch.mu.Lock()
	defer d.watch.mu.Unlock()
	uri := req.Params.URI
	if d.watch.count[uri]--; d.watch.count[uri] <= 0 {
		delete(d.watch.count, uri)
		delete(d.watch.sessions, uri)
	}
	return nil
}
