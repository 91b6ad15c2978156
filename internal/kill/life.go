package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// LifeReport says what a run of [Life] met and what didn't hold.
type LifeReport struct {
	Groups, Merged int // groups of five events, and those that a start found as one memory
	Corrections    int // sessions that gave a new value to what a user has one of
	Faults         []string
}

// lived is what the load of [Life] has done, over all rounds.
type lived struct {
	mu      sync.Mutex
	groups  map[string][]string // by subject: the ids of its five events
	moves   int
	settled bool // a move was reflected: from then on there is a home
}

const liver = "life" // the user whose memories they are

// Life kills the binary while five events of a subject become one memory and
// corrections replace what they correct, a few times on one directory. Each
// start must find the state before or after, nothing between: the sources of a
// consolidation are hidden only where what was made of them is there, and of
// what a user has one of there is one live value.
func Life(ctx context.Context, cfg Config) (LifeReport, error) {
	rng := rand.New(rand.NewPCG(cfg.Seed, 2))
	rep := LifeReport{Faults: []string{}}
	upstream, stop, err := fakellm.New(fakellm.Config{}).Start("127.0.0.1:0")
	if err != nil {
		return rep, fmt.Errorf("start the scripted model: %w", err)
	}
	defer stop()
	cfg.Env = append(slices.Clone(cfg.Env), "HINDSIGHT_REFLECT_BUDGET_LEAST=100000000", "HINDSIGHT_REFLECT_MODEL="+fakellm.Model)
	all := &lived{groups: map[string][]string{}}
	for round := range cfg.Rounds + 1 {
		child, err := start(ctx, cfg, upstream)
		if err != nil {
			return rep, err
		}
		if err := all.check(ctx, child, &rep); err != nil || round == cfg.Rounds {
			if err == nil {
				err = all.end(ctx, child, &rep)
			}
			child.kill()
			return rep, err
		}
		after := cfg.Least + time.Duration(rng.Int64N(int64(cfg.Most-cfg.Least)))
		fmt.Fprintf(cfg.Log, "life, round %d of %d: kill after %s\n", round+1, cfg.Rounds, after.Round(time.Millisecond))
		if err := all.round(ctx, child, round, after); err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// round lives until the kill.
func (l *lived) round(ctx context.Context, c *child, round int, after time.Duration) error {
	load, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 2)
	go func() { done <- l.gather(load, c, round) }()
	go func() { done <- l.move(load, c, round) }()
	select {
	case <-time.After(after):
	case <-ctx.Done():
	}
	c.kill()
	stop()
	var first error
	for range cap(done) {
		if err := <-done; first == nil {
			first = err
		}
	}
	return first
}

// gather writes five events of a subject and has them consolidated, again and
// again.
func (l *lived) gather(ctx context.Context, c *child, round int) error {
	for n := 0; ctx.Err() == nil; n++ {
		subject := fmt.Sprintf("pump %s", letters(fmt.Sprintf("%d-%d", round, n)))
		var ids []string
		for i := range 5 {
			m, err := l.event(ctx, c, subject, fmt.Sprintf("The %s was oiled on 2026-0%d-11.", subject, i+1))
			if err != nil {
				return dying(ctx, c, err)
			}
			ids = append(ids, m.ID)
		}
		l.mu.Lock()
		l.groups[subject] = ids
		l.mu.Unlock()
		body, _ := json.Marshal(map[string]any{"tenant": "kill", "scope": store.UserScope(liver), "subject": subject})
		if _, err := call(ctx, http.MethodPost, c.admin+"/api/v1/memories/consolidate", body, asJSON); err != nil {
			return dying(ctx, c, err)
		}
	}
	return nil
}

func (l *lived) event(ctx context.Context, c *child, subject, text string) (m store.Memory, err error) {
	body, _ := json.Marshal(map[string]any{
		"tenant": "kill", "scope": store.UserScope(liver), "type": store.EventType, "layer": store.Episodic, "subject": subject, "text": text,
	})
	raw, err := call(ctx, http.MethodPost, c.admin+"/api/v1/memories", body, asJSON)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}

// move lets the user say where they live now, a session each.
func (l *lived) move(ctx context.Context, c *child, round int) error {
	for n := 0; ctx.Err() == nil; n++ {
		town := "Town" + letters(fmt.Sprintf("%d-%d", round, n))
		x, err := say(ctx, c, liver, []map[string]string{{"role": "user", "content": "I live in " + town + "."}}, false)
		if err != nil {
			return dying(ctx, c, err)
		}
		l.mu.Lock()
		l.moves++
		l.mu.Unlock()
		if _, err := call(ctx, http.MethodPost, c.admin+"/api/v1/sessions/"+url.PathEscape(x.session)+"/close?wait=10s", nil, nil); err != nil {
			return dying(ctx, c, err)
		}
		l.mu.Lock()
		l.settled = true
		l.mu.Unlock()
	}
	return nil
}

// dying passes on an error that isn't the kill's.
func dying(ctx context.Context, c *child, err error) error {
	if ctx.Err() != nil || childGone(c) {
		return nil //nolint:nilerr // the kill has come: its error is what was wanted
	}
	return err
}

func asJSON(r *http.Request) func(*http.Response) {
	r.Header.Set("Content-Type", "application/json")
	return func(*http.Response) {}
}

// check holds what a start finds against the law.
func (l *lived) check(ctx context.Context, c *child, rep *LifeReport) error {
	fault := func(format string, args ...any) { rep.Faults = append(rep.Faults, fmt.Sprintf(format, args...)) }
	active, err := memoriesOf(ctx, c, liver)
	if err != nil {
		return err
	}
	homes := 0
	products := map[string]store.Memory{} // by subject
	for _, m := range active {
		if strings.Contains(m.Text, " lives in ") {
			homes++
		}
		if len(m.SourceIDs) > 0 {
			if _, ok := products[m.Subject]; ok {
				fault("%s was consolidated twice", m.Subject)
			}
			products[m.Subject] = m
		}
	}
	if homes > 1 || l.settled && homes == 0 {
		fault("%d homes after %d moves", homes, l.moves)
	}
	rep.Groups, rep.Corrections, rep.Merged = len(l.groups), l.moves, len(products)
	for subject, ids := range l.groups {
		product, made := products[subject]
		for _, id := range ids {
			raw, err := get(ctx, c.admin+"/api/v1/memories/"+path.Clean(id))
			var m store.Memory
			if err == nil {
				err = json.Unmarshal(raw, &m)
			}
			switch {
			case err != nil:
				fault("source %s of %s: %v", id, subject, err)
			case made && (m.State != store.Consolidated || m.SupersededBy != product.ID || !slices.Contains(product.SourceIDs, id)):
				fault("%s is one memory, and its source %s is %s", subject, id, m.State)
			case !made && m.State != store.Active:
				fault("nothing was made of %s, and its source %s is %s", subject, id, m.State)
			}
		}
	}
	return nil
}

// end lets everything be reflected, and looks once more.
func (l *lived) end(ctx context.Context, c *child, rep *LifeReport) error {
	if err := drained(ctx, c); err != nil {
		return err
	}
	if err := l.check(ctx, c, rep); err != nil {
		return err
	}
	if rep.Merged == 0 || rep.Corrections < 2 {
		return fmt.Errorf("%d groups merged, %d corrections: the kills met nothing", rep.Merged, rep.Corrections)
	}
	return nil
}
