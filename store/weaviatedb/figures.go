package weaviatedb

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// What ranking needs of all memories of a scope and changes slowly: how long they
// are in the mean and how many sessions they come from. Weaviate reads every
// memory to tell, so the answer is kept.
const (
	figuresFor  = 10 * time.Minute
	figuresMost = 10000 // scopes; above it all are forgotten
	// sessionsMost is up to how many memories sessions are counted; above it their
	// number is projected from what was found.
	sessionsMost = 20000
)

// lengthProps are the properties with a memory's lengths, by index.Lengths.
var lengthProps = [...]string{"own_terms", "scenario_terms", "evidence_terms"} //nolint:gochecknoglobals // names

// figures are those of one group of scopes.
type figures struct {
	docs       int
	sum, count index.Lengths
	sessions   int // 0: not counted
	at         time.Time
}

func (f *figures) means() *index.Lengths {
	var out index.Lengths
	for i := range out {
		out[i] = f.sum[i] / max(f.count[i], 1)
	}
	return &out
}

// plus adds those of another group.
func (f *figures) plus(o *figures) {
	for i := range f.sum {
		f.sum[i] += o.sum[i]
		f.count[i] += o.count[i]
	}
	f.sessions += o.sessions
}

// figureCache keeps figures, and asks for each once at a time.
type figureCache struct {
	mu    sync.Mutex
	known map[string]*figures
	asked map[string]chan struct{}
	work  sync.WaitGroup
}

func newFigureCache() *figureCache {
	return &figureCache{known: map[string]*figures{}, asked: map[string]chan struct{}{}}
}

// figuresOf returns what is known of the scopes of a question, of which there are
// docs active memories. It waits for what was never asked, for a quarter of the
// time that is left at most; nil: not known yet. What has grown old is asked for
// again behind the question.
func (d *DB) figuresOf(ctx context.Context, of where, docs int) *figures {
	key := of.graph()
	c := d.figures
	c.mu.Lock()
	f := c.known[key]
	fresh := f != nil && time.Since(f.at) < figuresFor && 20*max(docs-f.docs, f.docs-docs) <= f.docs
	wait := c.asked[key]
	if !fresh && wait == nil {
		wait = make(chan struct{})
		c.asked[key] = wait
		// It outlives the question that began it: the next one wants it too.
		inner, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*d.cfg.Timeout)
		c.work.Go(func() {
			defer cancel()
			defer close(wait)
			got, err := d.askFigures(inner, of, docs)
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.asked, key)
			if err == nil {
				if len(c.known) >= figuresMost {
					clear(c.known)
				}
				c.known[key] = got
			}
		})
	}
	c.mu.Unlock()
	if f != nil {
		return f
	}
	left := d.cfg.Timeout
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	timer := time.NewTimer(left / 4)
	defer timer.Stop()
	select {
	case <-wait:
	case <-timer.C:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

func (d *DB) askFigures(ctx context.Context, of where, docs int) (*figures, error) {
	live := of.and(anyOf(propState, []string{string(store.Active)}))
	head := live.collection + "(" + live.graph()
	var q strings.Builder
	q.WriteString("{Aggregate{all:" + head + "){")
	for _, p := range lengthProps {
		q.WriteString(p + "{sum count} ")
	}
	q.WriteString("} ")
	if docs <= sessionsMost {
		fmt.Fprintf(&q, `by:%s,groupBy:["%s"],limit:%d){meta{count}}`, head, propSession, sessionsMost)
	}
	q.WriteString("}}")
	all, err := d.aggregate(ctx, q.String())
	if err != nil {
		return nil, err
	}
	f := &figures{docs: docs, at: time.Now()}
	list, _ := all["all"].([]any)
	if len(list) > 0 {
		group, _ := list[0].(map[string]any)
		for i, p := range lengthProps {
			v, _ := group[p].(map[string]any)
			f.sum[i], _ = v["sum"].(float64)
			f.count[i], _ = v["count"].(float64)
		}
	}
	groups, _ := all["by"].([]any)
	f.sessions = len(groups)
	return f, nil
}
