package lifecycle

import (
	"testing"

	"hindsight/store"
)

// taughtTo is a lesson in a user's scope.
func taughtTo(scope store.Scope, text string) store.Memory {
	return store.Memory{ID: string(scope) + text, Tenant: "acme", Scope: scope, Type: store.Solution, State: store.Active, Text: text,
		Evidence: []store.Evidence{{Session: "s1", Turn: 1, Quote: text}}}
}

func TestWhichLessonsAreTheSame(t *testing.T) {
	t.Parallel()
	const words = "The build works once the gradle cache is cleared with --offline."
	ann := taughtTo("user:ann", words)
	with := func(change func(*store.Memory)) store.Memory {
		m := taughtTo("user:bob", words)
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		other store.Memory
		want  bool
	}{
		"the same words":  {with(func(*store.Memory) {}), true},
		"nearly the same": {with(func(m *store.Memory) { m.Text = "The build works once a gradle cache is cleared with --offline!" }), true},
		"a negation": {with(func(m *store.Memory) {
			m.Text = "The build never works once the gradle cache is cleared with --offline."
		}), false},
		"a number":             {with(func(m *store.Memory) { m.Text = "The build 8 works once the gradle cache is cleared with --offline." }), false},
		"other words":          {with(func(m *store.Memory) { m.Text = "The tests need a running database." }), false},
		"the same user":        {with(func(m *store.Memory) { m.Scope = "user:ann/agent:coder" }), false},
		"another tenant":       {with(func(m *store.Memory) { m.Tenant = "other" }), false},
		"another type":         {with(func(m *store.Memory) { m.Type = store.ErrorLesson }), false},
		"a fact":               {with(func(m *store.Memory) { m.Type = store.UserFact }), false},
		"not live":             {with(func(m *store.Memory) { m.State = store.Superseded }), false},
		"shared already":       {with(func(m *store.Memory) { m.Scope = store.Shared }), false},
		"written by an agent":  {with(func(m *store.Memory) { m.Evidence[0].Session = "" }), false},
		"a user called gradle": {with(func(m *store.Memory) { m.Scope = "user:gradle" }), false},
	} {
		if got := Taught(t.Context(), []store.Memory{ann}, []store.Memory{ann, c.other}); (len(got) == 1) != c.want {
			t.Errorf("%s: %d pairs", name, len(got))
		}
	}
	// Everything against everything names each pair once.
	all := []store.Memory{ann, with(func(*store.Memory) {}), with(func(m *store.Memory) { m.Scope, m.ID = "user:dan", "d" })}
	if got := Taught(t.Context(), all, all); len(got) != 3 {
		t.Errorf("three users: %d pairs", len(got))
	}
}

func TestWhereALessonGoes(t *testing.T) {
	t.Parallel()
	alone := Shared{taughtTo("user:ann", "x"), taughtTo("user:bob", "x")}
	coders := Shared{taughtTo("user:ann/agent:coder", "x"), taughtTo("user:bob/agent:coder", "x")}
	mixed := Shared{taughtTo("user:ann/agent:coder", "x"), taughtTo("user:bob/agent:cook", "x")}
	both := []store.Scope{store.Shared, "agent:coder"}
	for name, c := range map[string]struct {
		p       Shared
		granted []store.Scope
		want    store.Scope // "" for nowhere
	}{
		"without an agent":           {alone, both, store.Shared},
		"of one agent":               {coders, both, "agent:coder"},
		"of one agent, shared alone": {coders, both[:1], store.Shared},
		"of two agents":              {mixed, both, store.Shared},
		"no grant fits":              {alone, both[1:], ""},
		"no grant fits two agents":   {mixed, both[1:], ""},
		"no grant":                   {coders, nil, ""},
	} {
		if to, ok := Target(c.p, c.granted); ok != (c.want != "") || ok && to != c.want {
			t.Errorf("%s: %q, %v", name, to, ok)
		}
	}
}
