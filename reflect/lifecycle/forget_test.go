package lifecycle

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestSweepByAge(t *testing.T) {
	now := monday
	old := now.Add(-90 * day)
	event := store.Memory{ID: "m", State: store.Active, Layer: store.Episodic, Type: store.EventType, Importance: 0.49, CreatedAt: old}
	with := func(change func(*store.Memory)) store.Memory { m := event; change(&m); return m }
	for name, c := range map[string]struct {
		m      store.Memory
		gentle bool
		want   string
	}{
		"old and of little importance":    {event, false, "archive old"},
		"gently":                          {event, true, "lower old"},
		"gently, once":                    {with(func(m *store.Memory) { m.Importance = Lowered }), true, ""},
		"a day too young":                 {with(func(m *store.Memory) { m.CreatedAt = old.Add(time.Second) }), false, ""},
		"important enough":                {with(func(m *store.Memory) { m.Importance = 0.5 }), false, ""},
		"not episodic":                    {with(func(m *store.Memory) { m.Layer = store.Semantic }), false, ""},
		"confirmed since":                 {with(func(m *store.Memory) { m.LastVerified = now.Add(-time.Hour) }), false, ""},
		"used since":                      {with(func(m *store.Memory) { m.LastUsed = now.Add(-time.Hour) }), false, ""},
		"superseded":                      {with(func(m *store.Memory) { m.State = store.Superseded }), false, ""},
		"a source":                        {with(func(m *store.Memory) { m.State = store.Consolidated }), false, ""},
		"archived for a year":             {with(func(m *store.Memory) { m.State, m.ArchivedAt = store.Archived, now.Add(-365*day) }), false, "delete archived"},
		"archived for a year, gently too": {with(func(m *store.Memory) { m.State, m.ArchivedAt = store.Archived, now.Add(-365*day) }), true, "delete archived"},
		"archived for a day less":         {with(func(m *store.Memory) { m.State, m.ArchivedAt = store.Archived, now.Add(-364*day) }), false, ""},
	} {
		f := DefaultForgetting()
		f.Gentle = c.gentle
		got := ""
		for _, x := range Sweep([]store.Memory{c.m}, f, now) {
			got = string(x.Fate.Do) + " " + x.Reason
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Above the bound the lowest tenth of that type goes, and only of that type.
func TestSweepByNumber(t *testing.T) {
	f := DefaultForgetting()
	f.Most = 20
	var all []store.Memory
	for i := range 21 {
		all = append(all, store.Memory{
			ID: fmt.Sprintf("f%02d", i), State: store.Active, Layer: store.Semantic, Type: store.UserFact,
			Importance: 0.5 + 0.01*float64(i), CreatedAt: monday, Standing: i == 1,
		})
	}
	all[0].Uses = 3 // of little importance, but used
	for i := range 20 {
		all = append(all, store.Memory{ID: fmt.Sprintf("p%02d", i), State: store.Active, Layer: store.Semantic, Type: store.Preference, CreatedAt: monday})
	}
	var got []string
	for _, x := range Sweep(all, f, monday) {
		got = append(got, x.Memory.ID+" "+x.Reason)
	}
	if d := cmp.Diff([]string{"f02 too_many", "f03 too_many", "f04 too_many"}, got); d != "" {
		t.Error(d)
	}
	f.Most = 0
	if n := len(Sweep(all, f, monday)); n != 0 {
		t.Errorf("without a bound %d go", n)
	}
}
