package storetest

import (
	"context"
	"fmt"
	"slices"

	"hindsight/store"
	"hindsight/store/index"
)

// Agreement says how far two backends gave the same answers.
type Agreement struct {
	Questions int
	Five      int // questions whose best five are the same memories
	First     int // questions whose best is the same
	Places    int // of the best five of all questions, how many are in both
	Of        int // how many there are
	Differ    []string
}

func (a Agreement) String() string {
	return fmt.Sprintf("%d questions: the same best five %d, the same first %d, of the best five's %d memories %d in both", a.Questions, a.Five, a.First, a.Of, a.Places)
}

// Asked is a question with its vector.
type Asked struct {
	Question
	Vector []float32
}

// Agree asks two backends the same questions; a is the one whose answers are right.
func Agree(ctx context.Context, tenant string, a, b Backend, questions []Asked) (Agreement, error) {
	var out Agreement
	for _, asked := range questions {
		q := Ask(tenant, asked.Text, asked.Scope)
		q.Vector, q.Limit = asked.Vector, 5
		want, err := b5(ctx, a, q)
		if err != nil {
			return out, fmt.Errorf("ask the first: %w", err)
		}
		got, err := b5(ctx, b, q)
		if err != nil {
			return out, fmt.Errorf("ask the second: %w", err)
		}
		out.Questions++
		both := 0
		for _, m := range want {
			if slices.ContainsFunc(got, func(o *store.Memory) bool { return o.ID == m.ID }) {
				both++
			}
		}
		out.Places, out.Of = out.Places+both, out.Of+max(len(want), len(got))
		if len(want) > 0 && len(got) > 0 && want[0].ID == got[0].ID {
			out.First++
		}
		if both == len(want) && both == len(got) {
			out.Five++
		} else {
			out.Differ = append(out.Differ, fmt.Sprintf("%s: %s", asked.Text, texts(want, got)))
		}
	}
	return out, nil
}

func b5(ctx context.Context, b Backend, q index.Query) ([]*store.Memory, error) {
	res, err := b.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []*store.Memory
	for _, h := range res.Hits[:min(5, len(res.Hits))] {
		out = append(out, h.Memory)
	}
	return out, nil
}

func texts(want, got []*store.Memory) (s string) {
	for _, m := range want {
		if !slices.ContainsFunc(got, func(o *store.Memory) bool { return o.ID == m.ID }) {
			s += " -" + m.Text
		}
	}
	for _, m := range got {
		if !slices.ContainsFunc(want, func(o *store.Memory) bool { return o.ID == m.ID }) {
			s += " +" + m.Text
		}
	}
	return s
}
