package main

import (
	"context"

	"hindsight/proxy/admin"
	"hindsight/reflect/extract"
	"hindsight/store"
)

// managed is the store as the management API has it. What a person writes there
// is accounted for as what reflection learns is: of two memories that give the
// value of one thing, the later holds. And what users ask for in a conversation
// that is reported is heard as in one that passed the proxy. A reflection that a
// person puts back into the queue needn't wait for the next tick.
type managed struct {
	counted
	heard func(*store.Exchange)
	wake  func()
}

var _ admin.Store = managed{}

// Finish never blocks.
func (m managed) Finish(x *store.Exchange) {
	m.heard(x) // before: what is recorded belongs to the recorder
	m.counted.Finish(x)
}

// PutMemory implements admin.Memories.
func (m managed) PutMemory(ctx context.Context, w store.Memory) (kept store.Memory, created bool, err error) {
	w.About = aboutOf(&w)
	return m.counted.PutMemory(ctx, w)
}

// EditMemory implements admin.Memories.
func (m managed) EditMemory(ctx context.Context, id string, edit func(*store.Memory) error) (store.Memory, error) {
	return m.counted.EditMemory(ctx, id, func(w *store.Memory) error {
		was, typ := w.Text, w.Type
		err := edit(w)
		if w.Text != was || w.Type != typ {
			w.About = aboutOf(w)
		}
		return err
	})
}

// Requeue implements admin.Queue.
func (m managed) Requeue(ctx context.Context, id string) (store.Job, error) {
	j, err := m.counted.Requeue(ctx, id)
	if err == nil {
		m.wake()
	}
	return j, err
}

// aboutOf names what a user's statement gives the value of.
func aboutOf(m *store.Memory) string {
	if m.AttributedTo != store.ByUser || m.Type == store.EventType {
		return ""
	}
	return extract.Thing(m.Text)
}

// ImportMemories implements admin.Importer.
func (m managed) ImportMemories(ctx context.Context, ms []store.Memory) ([]store.Imported, error) {
	for i := range ms {
		if ms[i].State == "" || ms[i].State == store.Active {
			ms[i].About = aboutOf(&ms[i])
		}
	}
	return m.counted.ImportMemories(ctx, ms)
}
