package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestMCPManyAgentsLeaveWhatOneWould has 32 agents of one person write 2,000
// statements over MCP: what others say too, word for word, and values of their
// own that contradict the ones before. At once or one after another, the same
// must be known at the end, and no call may go wrong.
func TestMCPManyAgentsLeaveWhatOneWould(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 4,000 statements")
	}
	t.Parallel()
	const agents, writes = 32, 2000
	statements := func(agent int) []string {
		rng := rand.New(rand.NewPCG(7, uint64(agent)))
		var out []string
		for n := agent; n < writes; n += agents {
			switch rng.IntN(10) {
			case 0, 1, 2: // somebody else says it too
				out = append(out, fmt.Sprintf("Staging server number %d runs Debian.", rng.IntN(60)))
			case 3: // its own
				out = append(out, fmt.Sprintf("Project %c%d builds with make target t%d.", 'A'+agent%26, agent, n))
			case 4: // said by all, in Chinese
				out = append(out, fmt.Sprintf("第%d号机房的门禁密语是苍鹭。", rng.IntN(20)))
			default: // takes the place of what it said before
				out = append(out, fmt.Sprintf("My favourite number for lane %c%c is %d.", 'A'+agent/26, 'A'+agent%26, rng.IntN(50)))
			}
		}
		return out
	}
	type note struct{ Text, Type, Scope string }
	run := func(together bool) []note {
		w := newWorld(t)
		work := func(n int) {
			a := w.agent(worldToken)
			for _, s := range statements(n) {
				if text, wrong := a.try("memory_write", map[string]any{"content": s}); wrong {
					t.Errorf("agent %d, %q: %s", n, s, text)
				}
			}
		}
		var all sync.WaitGroup
		for n := range agents {
			if together {
				all.Go(func() { work(n) })
			} else {
				work(n)
			}
		}
		all.Wait()
		a := w.agent(worldToken)
		var out []note
		for cursor := ""; ; {
			args := map[string]any{"limit": 100}
			if cursor != "" {
				args["cursor"] = cursor
			}
			var page struct {
				Memories   []note
				NextCursor string `json:"next_cursor"`
			}
			a.call("memory_list", args, &page)
			out = append(out, page.Memories...)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		slices.SortFunc(out, func(a, b note) int { return cmp.Compare(a.Text, b.Text) })
		return out
	}
	first := make(chan []note, 1)
	go func() {
		defer close(first)
		first <- run(false)
	}()
	together, apart := run(true), <-first
	if diff := gocmp.Diff(apart, together); diff != "" {
		t.Errorf("one after another (-), at once (+):\n%s", diff)
	}
	lanes := 0
	for i, n := range apart {
		if i > 0 && n.Text == apart[i-1].Text {
			t.Errorf("%q is known twice", n.Text)
		}
		if strings.Contains(n.Text, "lane") {
			lanes++
		}
	}
	if lanes != agents || len(apart) < 150 {
		t.Errorf("%d memories are left, %d of lanes; of those each agent has one", len(apart), lanes)
	}
}
