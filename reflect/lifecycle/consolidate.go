package lifecycle

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hindsight/reflect/extract"
	"hindsight/reflect/llm"
	"hindsight/reflect/wording"
	"hindsight/store"
)

// Enough is how many episodic memories of one subject are consolidated by
// themselves; a person may ask from two on.
const Enough = 5

// Bounds of one consolidation, which is one transaction: its memories, and their
// size in bytes. The rest is for the next.
const (
	maxSources     = 20
	maxSourceBytes = 200 << 10
)

// maxConsolidated is the longest text of a consolidated memory in characters.
const maxConsolidated = 1500

// Group is the episodic memories of one subject in one scope, oldest first.
type Group struct {
	Tenant  string
	Scope   store.Scope
	Subject string
	Sources []store.Memory
}

// Session is the last session that taught one of them, empty if none did.
func (g Group) Session() string {
	id, at := "", time.Time{}
	for _, m := range g.Sources {
		for _, e := range m.Evidence {
			if e.Session != "" && !e.Time.Before(at) {
				id, at = e.Session, e.Time
			}
		}
	}
	return id
}

// Groups lists the subjects of which at least so many episodic memories of one
// scope are active. A memory that came back from a consolidation that was undone
// isn't taken again by itself: with undone it is. What holds a secret never is.
func Groups(all []store.Memory, least int, undone bool) []Group {
	type key struct {
		scope   store.Scope
		subject string
	}
	back := map[string]bool{}
	for _, m := range all {
		if m.State == store.Archived && !undone {
			for _, id := range m.SourceIDs {
				back[id] = true
			}
		}
	}
	by := map[key]*Group{}
	var order []key
	for _, m := range all {
		k := key{m.Scope, store.Fold(m.Subject)}
		if m.State != store.Active || m.Layer != store.Episodic || k.subject == "" || back[m.ID] || extract.HoldsSecret(m.Text) {
			continue
		}
		if by[k] == nil {
			by[k] = &Group{Tenant: m.Tenant, Scope: m.Scope, Subject: m.Subject}
			order = append(order, k)
		}
		by[k].Sources = append(by[k].Sources, m)
	}
	var out []Group
	for _, k := range order {
		g := by[k]
		if len(g.Sources) < max(2, least) {
			continue
		}
		slices.SortFunc(g.Sources, func(a, b store.Memory) int {
			at, turn := a.Stated()
			t, n := b.Stated()
			return cmp.Or(at.Compare(t), cmp.Compare(turn, n), cmp.Compare(a.ID, b.ID))
		})
		g.Sources = fitting(g.Sources)
		if len(g.Sources) < 2 {
			continue
		}
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Subject, b.Subject))
	})
	return out
}

// fitting is as many memories from the first on as one consolidation may take.
func fitting(ms []store.Memory) []store.Memory {
	size := 0
	for i, m := range ms[:min(maxSources, len(ms))] {
		size += len(m.Text) + len(m.Scenario)
		for _, e := range m.Evidence {
			size += len(e.Quote) + len(e.Context)
		}
		if size > maxSourceBytes {
			return ms[:i]
		}
	}
	return ms[:min(maxSources, len(ms))]
}

//go:embed consolidate.txt
var consolidateSystem string

// ConsolidationSchema is the JSON Schema of the answer, named
// ConsolidationName.
//
//go:embed consolidate.json
var ConsolidationSchema json.RawMessage

// ConsolidationName is the schema's name in a request.
const ConsolidationName = "hindsight_consolidation"

// ConsolidationPrompt is the question about a group: the fixed part, and the
// sources as one JSON object a line, which no text can leave.
func ConsolidationPrompt(g Group) (fixed, data string) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteString("<notes>\n")
	for i, m := range g.Sources {
		_ = enc.Encode(struct {
			N    int    `json:"n"`
			Text string `json:"text"`
		}{i + 1, m.Text}) // a number and a string only
	}
	b.WriteString("</notes>\n")
	return consolidateSystem, b.String()
}

// Consolidated reads a model's answer about a group and makes the memory that
// takes the place of its sources. The error says what is wrong with the answer;
// then nothing of it counts.
func Consolidated(g Group, answer string, now time.Time) (store.Memory, error) {
	list, _, err := llm.List(answer, "memories")
	if err != nil {
		return store.Memory{}, err
	}
	if len(list) != 1 {
		return store.Memory{}, fmt.Errorf("%d memories, want one", len(list))
	}
	var a struct {
		Text     *string `json:"text"`
		Scenario string  `json:"scenario"`
	}
	if err := json.Unmarshal(list[0], &a); err != nil || a.Text == nil {
		return store.Memory{}, errors.New("no text, or one of another type")
	}
	text := strings.TrimSpace(*a.Text)
	if err := faithful(text, g.Sources); err != nil {
		return store.Memory{}, err
	}
	return product(g, text, a.Scenario, now), nil
}

// faithful says what a text lost of its sources or added to them. What it
// reports names no words: it goes into the log.
func faithful(text string, sources []store.Memory) error {
	var all []string
	denied := false
	for _, m := range sources {
		all = append(all, m.Text)
		denied = denied || wording.Negated(m.Text)
	}
	joined := strings.Join(all, "\n")
	switch n := len([]rune(text)); {
	case store.Fold(text) == "":
		return errors.New("an empty text")
	case n > maxConsolidated:
		return fmt.Errorf("a text of %d characters, want at most %d", n, maxConsolidated)
	case wording.Han(text) != wording.Han(joined):
		return errors.New("a text in another language than its sources")
	case len(wording.MissingNumbers(text, joined)) > 0:
		return errors.New("a number that no source has")
	case len(wording.MissingNames(text, joined)) > 0:
		return errors.New("a name that no source has")
	case wording.Negated(text) != denied:
		return errors.New("a negation was lost or added")
	case wording.Shared(text, joined) < 0.5:
		return errors.New("a text in other words than its sources")
	case extract.HoldsSecret(text):
		return errors.New("a secret")
	}
	for i, s := range all {
		switch {
		case len(wording.MissingNumbers(s, text)) > 0:
			return fmt.Errorf("a number or date of source %d was lost", i+1)
		case len(wording.MissingNames(s, text)) > 0:
			return fmt.Errorf("a name of source %d was lost", i+1)
		}
	}
	return nil
}

// product is the memory in which the sources go on. Trust and confidence are
// those of the least of them; the evidence is joined, the newest of each first.
func product(g Group, text, scenario string, now time.Time) store.Memory {
	last := g.Sources[len(g.Sources)-1]
	m := store.Memory{
		Tenant: g.Tenant, Scope: g.Scope, Layer: store.Semantic, Type: last.Type, Text: text, Subject: g.Subject,
		Scenario: scenario, Confidence: 1, State: store.Active, AttributedTo: store.ByUser,
		Evidence: joined(g.Sources), ValidFrom: g.Sources[0].ValidFrom, CreatedAt: now, UpdatedAt: now,
	}
	var origin strings.Builder
	for _, s := range g.Sources {
		m.SourceIDs = append(m.SourceIDs, s.ID)
		fmt.Fprintf(&origin, "%s %d\n", s.ID, s.Revision)
		m.Importance, m.Confidence = max(m.Importance, s.Importance), min(m.Confidence, s.Confidence)
		m.Standing = m.Standing || s.Standing
		m.AttributedTo = lessTrusted(m.AttributedTo, s.AttributedTo)
		m.LastVerified, m.LastUsed = later(m.LastVerified, s.LastVerified), later(m.LastUsed, s.LastUsed)
		m.Uses += s.Uses
		if m.Scenario == "" {
			m.Scenario = s.Scenario
		}
	}
	m.ID = store.MemoryID(m.Tenant, m.Scope, "consolidation\n"+origin.String(), 0, 0, m.Subject, store.Fold(text))
	return m
}

func lessTrusted(a, b store.Speaker) store.Speaker {
	order := []store.Speaker{store.ByUser, store.ByAssistant, store.ByTool}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// joined takes turns among the sources, so that each is represented before one
// is a second time.
func joined(sources []store.Memory) []store.Evidence {
	var out []store.Evidence
	for n, some := 0, true; some && len(out) < maxEvidence; n++ {
		some = false
		for _, m := range sources {
			if n >= len(m.Evidence) || len(out) == maxEvidence {
				continue
			}
			some = true
			e := m.Evidence[len(m.Evidence)-1-n]
			if !slices.ContainsFunc(out, func(o store.Evidence) bool {
				return o.Session == e.Session && o.Turn == e.Turn && o.Quote == e.Quote
			}) {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b store.Evidence) int { return a.Time.Compare(b.Time) })
	return out
}
