package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"hindsight/store"
)

// lived is what happened to the memories of one round's user: five events of a
// subject became one memory, and corrections replaced what they correct. A start
// after the kill must find the state before or after each, nothing between: the
// sources of a consolidation are hidden only where what was made of them is there,
// and of what a user has one of there is one live value.
type lived struct {
	user    string
	mu      sync.Mutex
	groups  map[string][]string // by subject: the ids of its five events
	moves   int
	settled bool // a move was reflected: from then on there is a home
}

// gather writes five events of a subject and has them consolidated, again and
// again.
func (l *lived) gather(ctx context.Context, c *Child) error {
	for n := 0; ctx.Err() == nil; n++ {
		subject := fmt.Sprintf("pump %s", letters(fmt.Sprintf("%s-%d", l.user, n)))
		var ids []string
		for i := range 5 {
			m, err := l.event(ctx, c, subject, fmt.Sprintf("The %s was oiled on 2026-0%d-11.", subject, i+1))
			if err != nil {
				return err
			}
			ids = append(ids, m.ID)
		}
		l.mu.Lock()
		l.groups[subject] = ids
		l.mu.Unlock()
		body, _ := json.Marshal(map[string]any{"tenant": "kill", "scope": store.UserScope(l.user), "subject": subject})
		if _, err := Call(ctx, http.MethodPost, c.Admin+"/api/v1/memories/consolidate", body, asJSON); err != nil {
			return err
		}
		wait(ctx, 100*time.Millisecond)
	}
	return nil
}

func (l *lived) event(ctx context.Context, c *Child, subject, text string) (m store.Memory, err error) {
	body, _ := json.Marshal(map[string]any{
		"tenant": "kill", "scope": store.UserScope(l.user), "type": store.EventType, "layer": store.Episodic, "subject": subject, "text": text,
	})
	raw, err := Call(ctx, http.MethodPost, c.Admin+"/api/v1/memories", body, asJSON)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}

// move lets the user say where they live now, a session each.
func (l *lived) move(ctx context.Context, c *Child) error {
	for n := 0; ctx.Err() == nil; n++ {
		town := "Town" + letters(fmt.Sprintf("%s-%d", l.user, n))
		x, err := say(ctx, c, l.user, []map[string]string{{"role": "user", "content": "I live in " + town + "."}}, false)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.moves++
		l.mu.Unlock()
		if _, err := Call(ctx, http.MethodPost, c.Admin+"/api/v1/sessions/"+url.PathEscape(x.session)+"/close?wait=10s", nil, nil); err != nil {
			return err
		}
		l.mu.Lock()
		l.settled = true
		l.mu.Unlock()
	}
	return nil
}

func asJSON(r *http.Request) func(*http.Response) {
	r.Header.Set("Content-Type", "application/json")
	return func(*http.Response) {}
}

// check holds what a start finds against the law, and returns how many groups are
// one memory.
func (l *lived) check(ctx context.Context, c *Child, rep *Report) (merged int, err error) {
	active, err := memoriesOf(ctx, c, l.user)
	if err != nil {
		return 0, err
	}
	homes := 0
	products := map[string]store.Memory{} // by subject
	for _, m := range active {
		if strings.Contains(m.Text, " lives in ") {
			homes++
		}
		if len(m.SourceIDs) > 0 {
			if _, ok := products[m.Subject]; ok {
				rep.fault("%s was consolidated twice", m.Subject)
			}
			products[m.Subject] = m
		}
	}
	if homes > 1 || l.settled && homes == 0 {
		rep.fault("%d homes after %d moves", homes, l.moves)
	}
	for subject, ids := range l.groups {
		product, made := products[subject]
		for _, id := range ids {
			raw, err := get(ctx, c.Admin+"/api/v1/memories/"+path.Clean(id))
			var m store.Memory
			if err == nil {
				err = json.Unmarshal(raw, &m)
			}
			switch {
			case err != nil:
				rep.fault("source %s of %s: %v", id, subject, err)
			case made && (m.State != store.Consolidated || m.SupersededBy != product.ID || !slices.Contains(product.SourceIDs, id)):
				rep.fault("%s is one memory, and its source %s is %s", subject, id, m.State)
			case !made && m.State != store.Active:
				rep.fault("nothing was made of %s, and its source %s is %s", subject, id, m.State)
			}
		}
	}
	return len(products), nil
}
