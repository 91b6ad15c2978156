package inject

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"hindsight/store"
)

// TestGateGolden asks this repo's own questions, half of them answered by one
// of the memories, half by none. The gate and the bridges were tuned on them: the test guards against
// changes, it proves nothing.
func TestGateGolden(t *testing.T) {
	golden(t, func(d *disk) *Engine { return d.engine(t, Config{}) })
}

func golden(t *testing.T, engine func(*disk) *Engine) {
	raw, err := os.ReadFile("testdata/gate.json")
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Memories []struct {
			ID, Text string
			Type     store.Type
		}
		Questions []struct {
			Ask  string
			Want []string // any of them; none: silence
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	d := &disk{}
	for _, m := range set.Memories {
		d.put(store.Memory{ID: m.ID, Tenant: "t", Text: m.Text, Type: m.Type})
	}
	e := engine(d)
	answerable, right, first, noise, silent, quiet := 0, 0, 0, 0, 0, 0
	for _, q := range set.Questions {
		p := e.Plan(t.Context(), talk("s", q.Ask))
		got := newIDs(p)
		wanted := func(id string) bool { return slices.Contains(q.Want, id) }
		if len(q.Want) == 0 {
			silent++
			if len(got) == 0 {
				quiet++
			} else {
				t.Logf("not silent: %q gets %v", q.Ask, got)
			}
			continue
		}
		answerable++
		if slices.ContainsFunc(got, wanted) {
			right++
		} else {
			t.Logf("missed: %q wants one of %v, gets %v", q.Ask, q.Want, got)
		}
		if len(got) > 0 && wanted(got[0]) {
			first++
		}
		for _, id := range got {
			if !wanted(id) {
				noise++
				t.Logf("beside: %q gets %s too", q.Ask, id)
			}
		}
		if strings.HasPrefix(q.Ask, "上次那个接口") && slices.Contains(got, "docs_zh") {
			t.Errorf("the place of the documents is injected for %q", q.Ask)
		}
	}
	t.Logf("answered %d of %d (%d as the first), %d memories beside; silent on %d of %d", right, answerable, first, noise, quiet, silent)
	if answerable < 30 || silent < 30 {
		t.Fatalf("the set has %d and %d questions, want 30 of each", answerable, silent)
	}
	if right < answerable-1 || quiet < silent-1 || noise > answerable/3 {
		t.Errorf("answered %d of %d with %d memories beside, silent on %d of %d: worse than when it was set", right, answerable, noise, quiet, silent)
	}
}
