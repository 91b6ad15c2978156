package inject

import (
	"slices"

	"hindsight/store"
)

// sparing are the verdicts of memories that would have been said, had they not
// been said already.
func sparing() []string {
	return []string{"duplicate", "subject_merged", "already_said", "evidence_present"}
}

// spared is one memory that need not be said, and what that saves.
type spared struct {
	reason string
	tokens int
}

// spare notes what choosing left out because it is said already.
func (p *Plan) spare(cands []candidate) {
	for i := range cands {
		if c := &cands[i]; slices.Contains(sparing(), c.verdict) {
			p.spared = append(p.spared, spared{c.verdict, store.Tokens(c.hit.Memory.Text)})
		}
	}
}

// The words for what became of a request's earlier blocks.
const (
	prefixKept    = "kept"
	prefixChanged = "changed"
)

// follow notes whether an earlier block stands where it stood. One that doesn't
// (its memory was forgotten, it is too old) costs the provider's cache.
func (p *Plan) follow(stands bool) {
	switch {
	case !stands:
		p.prefix = prefixChanged
	case p.prefix == "":
		p.prefix = prefixKept
	}
}

// count counts what a committed plan did.
func (m *metrics) count(p *Plan) {
	if p.result != "" {
		m.recalls.WithLabelValues(p.result).Inc()
	}
	if p.prefix != "" {
		m.prefix.WithLabelValues(p.prefix).Inc()
	}
	for _, s := range p.spared {
		m.spared.WithLabelValues(s.reason).Inc()
		m.saved.Add(float64(s.tokens))
	}
}
