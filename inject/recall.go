package inject

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// chosen is the verdict of a memory that is shown; the other verdicts say why
// one isn't: gate, budget, duplicate, evidence_present, already_said,
// subject_merged, top_k.
const chosen = "chosen"

// considered is how many candidates the record keeps.
const considered = 20

// recall searches for the fresh message and adds the block that comes of it.
func (e *Engine) recall(ctx context.Context, p *Plan, c Conversation, led *sessionLedger) {
	start := time.Now()
	defer func() { e.metrics.seconds.Observe(time.Since(start).Seconds()) }()
	q := e.query(c.Words, c.Context, c.Now, c.Zone)
	vector := e.vector(ctx, q, time.Duration(vectorShare*float64(e.cfg.Deadline)))
	always, err := e.always(ctx, c, p.told(), led)
	var cands []candidate
	if err == nil {
		v, late := vector()
		if late {
			p.Degraded = degradedWords
			e.metrics.degraded.Inc()
		}
		var lacks string
		cands, lacks, err = e.candidates(ctx, c, q, v)
		p.Degraded = worse(p.Degraded, lacks)
	}
	if err != nil {
		e.log.Debug("recall ended early", "err", err)
		p.result = reasonOf(err)
		p.finish(Skipped, p.result)
		e.record(p, c, q, nil, nil)
		return
	}
	lines := e.choose(p, c, cands, always)
	p.spare(cands)
	p.finish(None, "")
	p.result = string(p.Status)
	if p.Status == Replayed {
		p.result = string(None)
	}
	e.record(p, c, q, cands, lines)
}

// candidates are the ranked memories with their gate values; their verdict is
// `gate` where they don't pass. lacks is a word for what the search lacked.
func (e *Engine) candidates(ctx context.Context, c Conversation, q query, v []float32) (cands []candidate, lacks string, err error) {
	if q.idle || len(q.terms) == 0 && len(v) == 0 {
		return nil, "", ctx.Err()
	}
	scopes, _ := e.scopes(c.Owner)
	return e.ranked(ctx, index.Query{Tenant: c.Owner.Tenant, Scopes: scopes, Terms: q.terms, Vector: v, Share: q.share(), Now: c.Now, Keep: keep(c)}, q, e.models.bounds(e.cfg, c.Model).Gate)
}

// keep is what a conversation may be shown at all: a sub-agent gets skills, a
// structured answer no preferences.
func keep(c Conversation) func(*store.Memory) bool {
	switch {
	case c.Child:
		return func(m *store.Memory) bool { return m.Type == store.Solution || m.Type == store.ErrorLesson }
	case c.Structured:
		return func(m *store.Memory) bool { return m.Type != store.Preference }
	}
	return nil
}

// gate measures ranked candidates and gives those that don't pass their verdict.
// strict is a factor of what is built in.
func gate(j judge, cands []candidate, strict float64) {
	best := 0.0
	for i := range cands {
		c := &cands[i]
		c.own, c.share = j.measure(c.hit)
		if c.own > 0 { // what stands beside the words asked for isn't an answer
			c.value = c.share + c.own/nats
		}
		if c.hit.Embedded && j.null.deviation > 0 {
			c.above = j.above(c.hit)
			c.value = j.meant(c.value, c.above)
		}
		if i < gateFirst {
			best = max(best, c.value)
		}
	}
	open, floor := j.opens()
	open, floor = strict*open, strict*floor
	for i := range cands {
		if c := &cands[i]; best < open || c.value < max(floor, j.beside()*best) {
			c.verdict = "gate"
		}
	}
}

// always are the standing memories for the first block of a conversation, and
// later those whose text changed since they were said, or whose block isn't in
// the request any more: what the model doesn't see, it hasn't been told.
func (e *Engine) always(ctx context.Context, c Conversation, replayed []Block, led *sessionLedger) ([]*store.Memory, error) {
	if c.Child || c.Structured {
		return nil, nil
	}
	here, once := said(replayed), led.said()
	_, own := e.scopes(c.Owner)
	all, err := e.src.List(ctx, index.Query{Tenant: c.Owner.Tenant, Scopes: own, Now: c.Now, Standing: true, Keep: func(m *store.Memory) bool {
		if m.Type != store.Preference && m.Type != store.UserFact {
			return false
		}
		if revision, is := here[m.ID]; is {
			return m.Revision > revision
		}
		_, was := once[m.ID]
		return was || len(here) == 0
	}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *store.Memory) int {
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// choose turns standing memories and candidates into the plan's new block and
// returns its lines.
func (e *Engine) choose(p *Plan, c Conversation, cands []candidate, always []*store.Memory) []line {
	known := newKnown(c, p.told())
	b := newBudget(e.models.bounds(e.cfg, c.Model), c, p.told())
	for _, m := range always {
		if !e.ledger.store.Gone(m.ID) && known.verdict(m) == "" {
			b.standing(line{memory: m, instead: known.instead(m), check: e.unconfirmed(m, c.Now)})
		}
	}
	var pass []*candidate
	for i := range cands {
		cand := &cands[i]
		if cand.verdict != "" {
			continue
		}
		m := cand.hit.Memory
		switch {
		case e.ledger.store.Gone(m.ID):
			cand.verdict = "gate" // forgotten between the search and now
		case b.holds(m.ID):
			cand.verdict = chosen
		default:
			cand.verdict = known.verdict(m)
		}
		if cand.verdict == "" {
			cand.verdict = chosen
			pass = append(pass, cand)
		}
	}
	for _, l := range e.merge(pass) {
		l.instead, l.check = known.instead(l.memory), e.unconfirmed(l.memory, c.Now)
		if verdict := b.add(l); verdict != "" {
			for _, cand := range pass {
				if cand.hit.Memory == l.memory {
					cand.verdict = verdict
				}
			}
		}
	}
	if len(b.lines) == 0 {
		return nil
	}
	inside := b.inside()
	key := fenceKey(e.secret, c.Owner.Tenant, c.Owner.User, c.Owner.Agent, string(c.BodyHash[:]), inside)
	refs := make([]store.Ref, len(b.lines))
	var checks []string
	for i, l := range b.lines {
		refs[i] = store.Ref{ID: l.memory.ID, Revision: l.memory.Revision}
		if l.check {
			checks = append(checks, l.memory.ID)
		}
	}
	p.insert(c, c.Places[c.Fresh], fence(key, inside), refs, checks)
	return b.lines
}

// record writes down what was considered.
func (e *Engine) record(p *Plan, c Conversation, q query, cands []candidate, lines []line) {
	if c.Exchange == "" {
		return
	}
	w := &store.Why{
		Exchange: c.Exchange, Session: c.Session, Owner: c.Owner, Time: c.Now, Status: string(p.Status), Reason: p.Reason,
		Degraded: p.Degraded, Query: q.text, Gate: gateOpen,
	}
	for i := range cands {
		if cand := &cands[i]; i < considered || cand.verdict == chosen {
			w.Considered = append(w.Considered, store.Candidate{
				ID: cand.hit.Memory.ID, Text: cand.hit.Memory.Text, Parts: cand.parts(), Verdict: cand.verdict,
			})
		}
	}
	for _, l := range lines {
		if m := l.memory; !slices.ContainsFunc(w.Considered, func(c store.Candidate) bool { return c.ID == m.ID }) {
			w.Considered = append(w.Considered, store.Candidate{ID: m.ID, Text: m.Text, Parts: map[string]float64{"standing": 1}, Verdict: chosen})
		}
	}
	p.why = w
}

// known is what a request says already.
type known struct {
	session string
	texts   []string // of the request, folded
	blocks  []Block
	said    map[string]int // ids in the request's blocks and their revisions
}

func newKnown(c Conversation, blocks []Block) *known {
	return &known{session: c.Session, texts: c.Texts, blocks: blocks, said: said(blocks)}
}

// verdict says why a memory need not be said, or "".
func (k *known) verdict(m *store.Memory) string {
	if revision, ok := k.said[m.ID]; ok && revision >= m.Revision {
		return "already_said"
	}
	text := clean(m.Text)
	for _, b := range k.blocks {
		if states(b.Text, text) {
			return "already_said"
		}
	}
	for i := range m.Evidence {
		ev := &m.Evidence[i]
		// A quote of a word or two stands in many texts by accident; from
		// this very session it is the same words.
		if (store.Tokens(ev.Quote) > 3 || ev.Session == k.session) && k.stands(ev.Quote) {
			return "evidence_present"
		}
	}
	if k.stands(m.Text) {
		return "evidence_present"
	}
	return ""
}

// stands says whether a text stands in the request.
func (k *known) stands(quote string) bool {
	quote = strings.TrimSpace(quote)
	if quote == "" {
		return false
	}
	if slices.ContainsFunc(k.texts, func(t string) bool { return strings.Contains(t, quote) }) {
		return true
	}
	if len(k.texts) > 0 && strings.ContainsAny(quote, "\r\n\t") {
		flat := strings.Join(strings.Fields(quote), " ")
		return slices.ContainsFunc(k.texts, func(t string) bool { return strings.Contains(strings.Join(strings.Fields(t), " "), flat) })
	}
	return false
}

// instead is the short id of what a block of the request said and this memory
// replaces, or "".
func (k *known) instead(m *store.Memory) string {
	if revision, ok := k.said[m.ID]; ok && revision < m.Revision {
		return shortID(m.ID, store.ShortID)
	}
	for _, id := range m.SourceIDs {
		if _, ok := k.said[id]; ok {
			return shortID(id, store.ShortID)
		}
	}
	return ""
}
