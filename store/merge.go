package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Life is what a memory carries so that forms of it from several sidecars can be
// merged. It holds no words.
type Life struct {
	// At is when the memory's state was last changed, and later than the change
	// before it whatever the clocks say. A change that leaves the state alone leaves
	// it alone, so that a confirmation here doesn't undo a supersession there.
	At time.Time `json:"at,omitzero"`
	// Lost are hashes of evidence and sources that were erased: no older form
	// brings them back.
	Lost []string `json:"lost,omitempty"`
}

// Follows makes m the next form of old: its revision, and the clock of its state,
// which moves where m stands otherwise in its life than old did.
func (m *Memory) Follows(old *Memory, now time.Time) {
	m.Revision = old.Revision + 1
	m.Life.At = old.Life.At
	m.Life.Lost = union(old.Life.Lost, m.Life.Lost)
	if m.State != old.State || m.SupersededBy != old.SupersededBy || !m.ValidTo.Equal(old.ValidTo) || !m.ArchivedAt.Equal(old.ArchivedAt) {
		m.Life.At = now
		if next := old.Life.At.Add(time.Millisecond); next.After(now) {
			m.Life.At = next
		}
	}
}

// Loses notes evidence and sources that m has no more and that must not come
// back: those of old.
func (m *Memory) Loses(old *Memory) {
	left := map[string]bool{}
	for i := range m.Evidence {
		left[m.Evidence[i].hash()] = true
	}
	for _, id := range m.SourceIDs {
		left[sourceHash(id)] = true
	}
	var lost []string
	for i := range old.Evidence {
		if h := old.Evidence[i].hash(); !left[h] {
			lost = append(lost, h)
		}
	}
	for _, id := range old.SourceIDs {
		if h := sourceHash(id); !left[h] {
			lost = append(lost, h)
		}
	}
	m.Life.Lost = union(old.Life.Lost, lost)
}

// Merged is what two forms of one memory make together. It is commutative,
// associative and idempotent, so that whoever merges all forms, in whichever
// order and however often, has the same memory:
//
//   - what it says is that of the higher Revision, then of the later UpdatedAt;
//   - where it stands in its life is that of the later [Life], so that an older
//     form never brings back what was superseded or forgotten;
//   - evidence and sources are joined, without those that either has lost, and of
//     more than 40 quotes the newest stay; of one quote with two contexts the
//     shorter one holds, because a context is only ever cut out;
//   - counters and the times of use are the greater ones, the time of creation
//     is the earlier one.
//
// Equal ones are decided by a hash. Whether a memory was erased isn't in it: who
// knows of the erasure must not merge what came before it.
func Merged(a, b Memory) Memory {
	m, o := a, b
	if compareWords(&a, &b) < 0 {
		m, o = b, a
	}
	if compareLives(&a, &b) < 0 {
		m.takeLife(&b)
	} else {
		m.takeLife(&a)
	}
	m.Life.Lost = union(a.Life.Lost, b.Life.Lost)
	lost := map[string]bool{}
	for _, h := range m.Life.Lost {
		lost[h] = true
	}
	m.Evidence = joinEvidence(m.Evidence, o.Evidence, lost)
	m.SourceIDs = joinSources(m.SourceIDs, o.SourceIDs, lost)
	m.Uses, m.Ignored, m.Contradicted = max(a.Uses, b.Uses), max(a.Ignored, b.Ignored), max(a.Contradicted, b.Contradicted)
	m.LastUsed, m.LastVerified = later(a.LastUsed, b.LastUsed), later(a.LastVerified, b.LastVerified)
	if m.CreatedAt.IsZero() || !o.CreatedAt.IsZero() && o.CreatedAt.Before(m.CreatedAt) {
		m.CreatedAt = o.CreatedAt
	}
	return m
}

// maxMerged bounds the evidence of a merged memory: twice what one sidecar
// gathers. Without a bound each confirmation beyond that would stay for good.
const maxMerged = 40

func (m *Memory) takeLife(of *Memory) {
	m.State, m.SupersededBy, m.ValidTo, m.ArchivedAt = of.State, of.SupersededBy, of.ValidTo, of.ArchivedAt
	m.Life = of.Life
}

// compareWords orders two forms by which of them says the latest.
func compareWords(a, b *Memory) int {
	if c := cmp.Or(cmp.Compare(a.Revision, b.Revision), a.UpdatedAt.Compare(b.UpdatedAt)); c != 0 {
		return c
	}
	return bytes.Compare(a.wordsHash(), b.wordsHash())
}

// wordsHash is of all that Merged takes from one form as a whole.
func (m *Memory) wordsHash() []byte {
	w := *m
	w.takeLife(&Memory{})
	w.Evidence, w.SourceIDs = nil, nil
	w.Uses, w.Ignored, w.Contradicted = 0, 0, 0
	w.LastUsed, w.LastVerified, w.CreatedAt = time.Time{}, time.Time{}, time.Time{}
	return w.sum()
}

// compareLives orders two forms by where they stand in their life. At one clock
// the one that isn't active is the later.
func compareLives(a, b *Memory) int {
	if c := cmp.Or(
		a.Life.At.Compare(b.Life.At),
		cmp.Compare(age(a.State), age(b.State)), cmp.Compare(a.SupersededBy, b.SupersededBy),
	); c != 0 {
		return c
	}
	return cmp.Or(a.ArchivedAt.Compare(b.ArchivedAt), a.ValidTo.Compare(b.ValidTo))
}

func age(s State) int {
	return slices.Index([]State{Active, Superseded, Consolidated, Archived, Quarantined}, s)
}

// Digest is a hash of all that a memory is, but for its tenant, the same for
// whoever computes it: times count to the millisecond and in UTC, evidence and
// sources in one order.
func (m *Memory) Digest() string {
	d := *m
	d.Tenant = ""
	for _, t := range d.times() {
		*t = t.UTC().Truncate(time.Millisecond)
	}
	d.Evidence = slices.Clone(d.Evidence)
	for i := range d.Evidence {
		d.Evidence[i].Time = d.Evidence[i].Time.UTC().Truncate(time.Millisecond)
	}
	slices.SortFunc(d.Evidence, compareEvidence)
	d.SourceIDs, d.Life.Lost = slices.Sorted(slices.Values(d.SourceIDs)), union(d.Life.Lost, nil)
	return hex.EncodeToString(d.sum()[:12])
}

// times are all of a memory's own.
func (m *Memory) times() []*time.Time {
	return []*time.Time{&m.ValidFrom, &m.ValidTo, &m.CreatedAt, &m.UpdatedAt, &m.LastVerified, &m.LastUsed, &m.ArchivedAt, &m.Life.At}
}

// sum hashes a memory as JSON; no list and no map is as good as an empty one.
func (m *Memory) sum() []byte {
	d := *m
	for _, t := range d.times() {
		*t = t.UTC().Round(0)
	}
	if len(d.Evidence) == 0 {
		d.Evidence = nil
	}
	if len(d.SourceIDs) == 0 {
		d.SourceIDs = nil
	}
	if len(d.Metadata) == 0 {
		d.Metadata = nil
	}
	b, err := json.Marshal(d)
	if err != nil { // a number that JSON hasn't: the same everywhere, too
		b = strconv.AppendQuote(nil, err.Error())
	}
	h := sha256.Sum256(b)
	return h[:]
}

// hash names a piece of evidence without its words.
func (e *Evidence) hash() string {
	return lostHash("quote", e.Session, strconv.Itoa(e.Turn), strconv.FormatInt(e.Time.UnixMilli(), 10), e.Quote)
}

func sourceHash(id string) string { return lostHash("source", id) }

func lostHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + " " + p))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}

func compareEvidence(a, b Evidence) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Quote, b.Quote))
}

// joinEvidence keeps the order of have where more adds nothing, else the one in
// which things were said.
func joinEvidence(have, more []Evidence, lost map[string]bool) []Evidence {
	out := []Evidence{}
	at := map[string]int{}
	added := false
	for n, list := range [][]Evidence{have, more} {
		for _, e := range list {
			h := e.hash()
			if lost[h] {
				continue
			}
			i, ok := at[h]
			if !ok {
				at[h] = len(out)
				out = append(out, e)
				added = added || n == 1
				continue
			}
			if was := out[i].Context; cmp.Or(cmp.Compare(len(e.Context), len(was)), cmp.Compare(e.Context, was)) < 0 {
				out[i].Context = e.Context
			}
		}
	}
	if added || len(out) > maxMerged {
		slices.SortFunc(out, compareEvidence)
	}
	return out[max(0, len(out)-maxMerged):]
}

func joinSources(have, more []string, lost map[string]bool) []string {
	out := []string{}
	added := false
	for n, list := range [][]string{have, more} {
		for _, id := range list {
			if !lost[sourceHash(id)] && !slices.Contains(out, id) {
				out = append(out, id)
				added = added || n == 1
			}
		}
	}
	if added {
		slices.Sort(out)
	}
	return out
}

// union sorts; nil where there is nothing.
func union(a, b []string) []string {
	all := map[string]bool{}
	for _, list := range [][]string{a, b} {
		for _, s := range list {
			all[s] = true
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
