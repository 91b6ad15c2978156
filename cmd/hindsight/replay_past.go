package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"hindsight/internal/eval/replay"
	"hindsight/proxy/admin"
	"hindsight/store"
)

// pastQuery says which questions are asked again.
type pastQuery struct {
	tenant, session string
	since           time.Time
	limit           int
	grants          func(store.Owner) []store.Scope
}

// past is what was recorded: sessions, the oldest first, and the memories that
// their owners read.
type past struct {
	sessions []replay.Session
	memories []store.Memory
	texts    map[string]string // of memories that aren't read any more, by id
}

// recorded is a session as the management API shows it.
type recorded struct {
	admin.Session
	Events    []store.Event    `json:"events"`
	Exchanges []admin.Exchange `json:"exchanges"`
}

// readPast reads sessions until there are enough questions, then the memories.
func readPast(ctx context.Context, c *client, q pastQuery) (*past, error) {
	p := &past{texts: map[string]string{}}
	questions := 0
	err := eachSession(ctx, c, q, func(r recorded) bool {
		s := replay.Session{ID: r.ID, Owner: store.Owner{Tenant: r.Tenant, Agent: r.Agent}}
		s.Owner.User, _ = store.Scope(r.Scope).UserOf()
		var xs []replay.Exchange
		for _, x := range r.Exchanges {
			xs = append(xs, replay.Exchange{ID: x.ID, Turn: x.Turn, Started: x.Started, Model: x.Model, Injected: x.Injected})
		}
		s.Questions = replay.Questions(r.Events, xs)
		asked := slices.DeleteFunc(slices.Clone(s.Questions), func(x replay.Question) bool { return x.Started.Before(q.since) })
		if len(asked) > 0 && r.Parent == "" {
			questions += len(asked)
			p.sessions = append(p.sessions, s)
		}
		return questions < q.limit
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(p.sessions)
	return p, p.readMemories(ctx, c, q.grants)
}

// eachSession gives the chosen sessions, the newest first, until take says no.
func eachSession(ctx context.Context, c *client, q pastQuery, take func(recorded) bool) error {
	at := url.Values{}
	put(at, "tenant", q.tenant)
	one := func(id string) (r recorded, err error) {
		path, err := idPath(sessionsPath, id)
		if err == nil {
			_, err = c.do(ctx, http.MethodGet, path, at, nil, &r)
		}
		return r, err
	}
	if q.session != "" {
		r, err := one(q.session)
		if err == nil {
			take(r)
		}
		return err
	}
	for cursor := ""; ; {
		var page struct {
			Sessions   []admin.Session `json:"sessions"`
			NextCursor string          `json:"next_cursor"`
		}
		list := url.Values{"limit": {"200"}}
		put(list, "tenant", q.tenant)
		put(list, "cursor", cursor)
		if _, err := c.do(ctx, http.MethodGet, sessionsPath, list, nil, &page); err != nil {
			return err
		}
		for _, s := range page.Sessions {
			if s.LastSeen.Before(q.since) {
				continue
			}
			r, err := one(s.ID)
			if err != nil {
				return err
			}
			if !take(r) {
				return nil
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// readMemories reads every scope that an owner reads.
func (p *past) readMemories(ctx context.Context, c *client, grants func(store.Owner) []store.Scope) error {
	type place struct {
		tenant string
		scope  store.Scope
	}
	read := map[place]bool{}
	for _, s := range p.sessions {
		for _, sc := range append(s.Owner.OwnScopes(), grants(s.Owner)...) {
			at := place{s.Owner.Tenant, sc}
			if read[at] {
				continue
			}
			read[at] = true
			for cursor := ""; ; {
				var page struct {
					Memories   []store.Memory `json:"memories"`
					NextCursor string         `json:"next_cursor"`
				}
				q := url.Values{"tenant": {at.tenant}, "scope": {string(sc)}, "limit": {strconv.Itoa(1000)}}
				put(q, "cursor", cursor)
				if _, err := c.do(ctx, http.MethodGet, memoriesPath, q, nil, &page); err != nil {
					return err
				}
				p.memories = append(p.memories, page.Memories...)
				if cursor = page.NextCursor; cursor == "" {
					break
				}
			}
		}
	}
	return p.readTexts(ctx, c)
}

// readTexts reads the memories that were injected and aren't active any more.
func (p *past) readTexts(ctx context.Context, c *client) error {
	for _, m := range p.memories {
		p.texts[m.ID] = m.Text
	}
	for _, s := range p.sessions {
		for _, q := range s.Questions {
			for _, ref := range q.Injected {
				if _, ok := p.texts[ref.ID]; ok {
					continue
				}
				path, err := idPath(memoriesPath, ref.ID)
				if err != nil {
					return err
				}
				var m store.Memory
				_, err = c.do(ctx, http.MethodGet, path, nil, nil, &m)
				var refused *failure
				if err != nil && !errors.As(err, &refused) {
					return err
				}
				p.texts[ref.ID] = m.Text // empty: erased meanwhile
			}
		}
	}
	return nil
}

// text is a memory's, for people.
func (p *past) text(id string) string { return p.texts[id] }
