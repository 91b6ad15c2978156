// Package replay asks again what people have asked, at other settings, and says
// what recall would inject. [Questions] finds what was asked in a recorded
// session, [New] builds an engine over memories that live in this process alone,
// and [Engine.Session] goes through a session as its requests came: blocks of
// earlier turns stand there again and count.
//
// The memories are those of now, but for what couldn't have been told: those that
// were made after the question, and those learned from the session itself. What a
// request said beside its conversation (a demanded format, a system text) isn't
// recorded and plays no part.
package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"hindsight/inject"
	"hindsight/store"
	"hindsight/store/index"
)

// Exchange is what is read of a recorded exchange.
type Exchange struct {
	ID       string
	Turn     int
	Started  time.Time
	Model    string
	Injected []store.Ref
}

// Question is what somebody asked in one exchange.
type Question struct {
	Exchange
	Words  string
	Before []string // words and answers before it, oldest first
	Texts  []string // all that the conversation held, the question included
}

// Session is one recorded conversation.
type Session struct {
	ID        string
	Owner     store.Owner
	Questions []Question
}

// Questions finds what was asked in a session's events. Of words that came in one
// request the last are the question.
func Questions(events []store.Event, exchanges []Exchange) []Question {
	var out []Question
	var before, texts []string
	for i, e := range events {
		for _, text := range []string{e.Text, e.ThirdParty} {
			if text != "" {
				texts = append(texts, text)
			}
		}
		last := !slices.ContainsFunc(events[i+1:], func(o store.Event) bool { return o.Kind == store.UserInput && o.Time.Equal(e.Time) })
		if e.Kind == store.UserInput && last {
			x := slices.IndexFunc(exchanges, func(x Exchange) bool { return x.Started.Equal(e.Time) })
			if x < 0 {
				x = slices.IndexFunc(exchanges, func(x Exchange) bool { return x.Turn == e.Turn })
			}
			if x >= 0 {
				out = append(out, Question{Exchange: exchanges[x], Words: e.Text, Before: slices.Clone(before), Texts: slices.Clone(texts)})
			}
		}
		if e.Kind == store.UserInput || e.Kind == store.FinalOutput {
			before = append(before, e.Text)
		}
	}
	return out
}

// Told is one memory that would be injected.
type Told struct {
	ID    string  `json:"id"`
	Text  string  `json:"text"`
	Score float64 `json:"score"` // 0 for a standing one, which isn't searched for
}

// Answer is what recall would do for a question.
type Answer struct {
	Question
	Status inject.Status
	Reason string
	Now    []Told
	Tokens int // of the new block
}

// Engine recalls from memories in this process.
type Engine struct {
	*inject.Engine
	shelf *shelf
	index *index.Index
}

// New builds an engine over memories. vectors, where the configuration has an
// embedder, are theirs by id.
func New(ctx context.Context, cfg inject.Config, memories []store.Memory, vectors map[string][]float32) (*Engine, error) {
	s := newShelf(memories, vectors)
	ic := index.Config{Budget: 1 << 30}
	if cfg.Embedder != nil {
		ic.Vectors = s
	}
	e := &Engine{shelf: s, index: index.New(ic, s)}
	s.Searcher = e.index
	var err error
	if e.Engine, err = inject.New(cfg, s, s, s, nil, nil); err == nil {
		err = e.Warm(ctx)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close ends the engine.
func (e *Engine) Close() { e.index.Close() }

// Session asks a session's questions in their order. The error is ctx's.
func (e *Engine) Session(ctx context.Context, s Session, zone *time.Location) ([]Answer, error) {
	var out []Answer
	var places []inject.Place
	for i, q := range s.Questions {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("ask again: %w", err)
		}
		places = append(places, inject.Place{Key: store.IdentityKey{}.Hash("replay", s.ID, strconv.Itoa(i)), Message: i})
		e.shelf.asked(s.ID, q.Started)
		p := e.Plan(ctx, inject.Conversation{
			Owner: s.Owner, Session: s.ID, Exchange: q.ID, Places: places, Fresh: i,
			Words: q.Words, Context: q.Before, Texts: q.Texts, Model: q.Model, Recall: true, Now: q.Started, Zone: zone,
		})
		e.Commit(p)
		a := Answer{Question: q, Status: p.Status, Reason: p.Reason}
		for _, b := range p.Blocks {
			if b.Fresh {
				a.Tokens = store.Tokens(b.Text)
			}
		}
		for _, ref := range p.New {
			a.Now = append(a.Now, e.shelf.told(ref.ID))
		}
		out = append(out, a)
	}
	return out, nil
}
