// Package harm asks a model the same small tasks with and without recalled
// notes in front of them and looks for what the notes spoil: an answer that
// holds text of the block, and JSON that no longer parses. The eighty tasks
// (half of them Chinese: translate, rewrite, extract, classify, JSON, count,
// repeat) are those where a note can only be in the way.
//
// [Run] asks; [Report] is what came of it. The blocks are the product's own,
// made by package inject and put into the request by the chat dialect, at the
// head of the message and at its tail. Nothing of the gate is measured here: a
// block is there whether it fits or not.
package harm

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

//go:embed prompts.jsonl
var prompts []byte

// Prompt is one task. Relevant is a memory that has to do with its text, though
// nothing to do with what is asked.
type Prompt struct {
	ID       string `json:"id"`
	Lang     string `json:"lang"`
	Kind     string `json:"kind"`
	Text     string `json:"prompt"`
	Relevant string `json:"relevant"`
}

// Prompts are the eighty tasks.
func Prompts() []Prompt {
	var out []Prompt
	for dec := json.NewDecoder(bytes.NewReader(prompts)); dec.More(); {
		var p Prompt
		if err := dec.Decode(&p); err != nil {
			panic("prompts.jsonl: " + err.Error()) // it is part of the program; a test reads it
		}
		out = append(out, p)
	}
	return out
}

// Asker is a model.
type Asker interface {
	// Ask sends a body in the form of the chat completions API and returns the
	// answer's text.
	Ask(ctx context.Context, body []byte) (string, error)
}

// Options of a run.
type Options struct {
	Model    string
	Prompts  []Prompt
	Parallel int // prompts at a time; 0 means 1
	// Done is called after each prompt with how many are done; nil: nobody asks.
	Done func(n int)
}

// trial is one way to put notes into a request. The first, without any, is what
// the others are compared with.
type trial struct{ block, position string }

var trials = [...]trial{
	{"none", ""},
	{"relevant", "head"}, {"relevant", "tail"},
	{"irrelevant", "head"}, {"irrelevant", "tail"},
	{"standing", "head"}, {"standing", "tail"},
}

// Run asks every prompt in every way. An error is that of making a request; a
// model that doesn't answer is counted.
func Run(ctx context.Context, a Asker, o Options) (Report, error) {
	var (
		mu     sync.Mutex
		first  error
		done   int
		wg     sync.WaitGroup
		places = make(chan struct{}, max(1, o.Parallel))
		all    = make([][]answer, len(o.Prompts))
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, p := range o.Prompts {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			got, err := ask(ctx, a, o.Model, p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
				cancel()
			}
			all[i] = got
			if done++; o.Done != nil {
				o.Done(done)
			}
		})
	}
	wg.Wait()
	if first != nil {
		return Report{}, first
	}
	return report(o, all), nil
}

// answer is what a model said to one trial of a prompt.
type answer struct {
	block string // as it stood in the request
	text  string
	err   error
}

func ask(ctx context.Context, a Asker, model string, p Prompt) ([]answer, error) {
	out := make([]answer, len(trials))
	for i, t := range trials {
		body, block, err := request(ctx, model, p, t)
		if err != nil {
			return nil, fmt.Errorf("prompt %s with a block that is %s: %w", p.ID, t.block, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p.ID, err)
		}
		out[i].block = block
		out[i].text, out[i].err = a.Ask(ctx, body)
	}
	return out, nil
}
