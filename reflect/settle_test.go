package hreflect_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	hreflect "hindsight/reflect"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// edited is a store in which a person edits a memory just after it was read to be
// compared with.
type edited struct {
	applied
	edit func()
}

func (e edited) ScopeMemories(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error) {
	ms, version, err := e.Store.ScopeMemories(ctx, tenant, sc)
	e.edit()
	return ms, version, err
}

func (e edited) ScopeChanges(tenant string, sc store.Scope, since uint64) ([]store.Memory, uint64, bool) {
	ms, version, ok := e.Store.ScopeChanges(tenant, sc, since)
	e.edit()
	return ms, version, ok
}

// Whoever compares and writes looks again where a memory that it replaces was
// edited in between.
func TestComparedAgainAfterAnEdit(t *testing.T) {
	for name, say := range map[string]func(*house){
		"written":   func(h *house) { h.write(store.UserFact, "I live in Paris.") },
		"reflected": func(h *house) { h.talk("s1", 1, "I live in Paris.", "Nice!"); h.close("s1") },
		"asked for": func(h *house) {
			at := h.clock.now()
			h.Heard(&store.Exchange{Session: "s1", Owner: ann, Zone: "UTC", Events: []store.Event{
				{Kind: store.UserInput, Time: at, Turn: 1, Text: "Please remember that I live in Paris."},
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, silent)
			h.cfg.ModelName = hreflect.RulesModel
			stop := h.run()
			rome := h.write(store.UserFact, "I live in Rome.").Memory
			stop()
			var edits atomic.Int32
			edit := func() {
				n := edits.Add(1)
				if n > 2 { // a reflection reads once before it compares
					return
				}
				_, err := h.EditMemory(t.Context(), rome.ID, func(m *store.Memory) error { m.Scenario = fmt.Sprint("edit ", n); return nil })
				if err != nil {
					t.Error(err)
				}
			}
			r, err := hreflect.New(h.cfg, edited{applied{h.Store, h}, edit}, h.keys, llm.New(llm.Config{Silence: 200 * time.Millisecond}))
			if err != nil {
				t.Fatal(err)
			}
			h.Runner = r
			background(t, r.Run)
			say(h)
			h.until("Paris alone holds", func() bool {
				got := h.texts()
				return len(got) == 1 && strings.Contains(got[0], "I live in Paris")
			})
			if m, err := h.Memory(t.Context(), rome.ID); err != nil || m.State != store.Superseded || m.Scenario != "edit 2" {
				t.Errorf("Rome: %v %+v", err, m)
			}
		})
	}
}
