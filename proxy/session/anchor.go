package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

// An anchor is something that only the upstream can have said. Every key is an
// HMAC with tenant and user in it: naming another's id reads nothing.

// known are the newest anchors of one key. complete says that the store was asked.
type known struct {
	anchors  []store.Anchor
	complete bool
}

// mark is one key under which an answer can be found.
type mark struct {
	key   store.Hash
	alone bool // good by itself, if it was seen in one session only
}

func (h *hasher) textMark(words, text store.Hash) mark {
	return mark{key: h.hash("anchor text", raw(words), raw(text))}
}

// idMarks are the keys of a provider's id: together with the words before it,
// and by itself if it has enough random characters.
func (h *hasher) idMarks(id string, words store.Hash) []mark {
	m := []mark{{key: h.hash("anchor id after words", id, raw(words))}}
	if isRandom(id) {
		m = append(m, mark{key: h.hash("anchor id", id), alone: true})
	}
	return m
}

// responseMark is the key of an answer as a whole (previous_response_id).
func (h *hasher) responseMark(id string) mark {
	return mark{key: h.hash("anchor response", id), alone: true}
}

// chain is the key of human words that were said one after the other.
func (h *hasher) chain(words []store.Hash) store.Hash {
	var all strings.Builder
	for _, w := range words {
		all.WriteString(raw(w))
	}
	return h.hash("anchor chain", all.String())
}

// chains are the keys of the words without the last ones, so many at most, all
// words first. One message alone proves nothing and has none.
func (h *hasher) chains(words []store.Hash, most int) (keys []store.Hash) {
	for n := len(words); n >= 2 && len(keys) < most; n-- {
		keys = append(keys, h.chain(words[:n]))
	}
	return keys
}

func (h *hasher) marks(s modelSaid) []mark {
	var out []mark
	if s.text != "" {
		out = append(out, h.textMark(s.words, s.hash))
	}
	for _, id := range s.ids {
		out = append(out, h.idMarks(id, s.words)...)
	}
	return out
}

// answerMarks are the keys of an answer that has just been given.
// said is the hash of its text, if it has one.
func (h *hasher) answerMarks(a dialect.Answer, words, said store.Hash) []mark {
	var out []mark
	if !said.IsZero() {
		out = append(out, h.textMark(words, said))
	}
	for _, part := range a.Texts {
		if text, hash := h.said(part, nil, ""); text != "" {
			out = append(out, h.textMark(words, hash))
		}
	}
	for _, c := range a.Calls {
		if c.ID != "" {
			out = append(out, h.idMarks(c.ID, words)...)
		}
	}
	for _, id := range a.ItemIDs {
		out = append(out, h.idMarks(id, words)...)
	}
	if a.ID != "" {
		out = append(out, h.responseMark(a.ID))
	}
	return out
}

// lookUp returns the anchors of each key, memory and disk together. What
// memory lacks is read in one batch; where the disk is too slow for that, what
// memory knows must do.
func (k *Tracker) lookUp(ctx context.Context, h *hasher, keys []store.Hash) ([][]store.Anchor, error) {
	out := make([][]store.Anchor, len(keys))
	var missing []store.Hash
	var at []int
	k.mu.Lock()
	for i, key := range keys {
		n, ok := k.anchors.get(key)
		if ok {
			out[i] = slices.Clone(n.anchors)
		}
		if !ok || !n.complete {
			missing, at = append(missing, key), append(at, i)
		}
	}
	k.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	found, err := k.st.Anchors(ctx, store.Owner{Tenant: h.tenant, User: h.user}, missing)
	if err != nil {
		if slices.ContainsFunc(out, func(known []store.Anchor) bool { return len(known) > 0 }) {
			return out, nil
		}
		return nil, fmt.Errorf("look up anchors: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for j, i := range at {
		n, ok := k.anchors.get(keys[i])
		if !ok {
			n = &known{}
		}
		if j < len(found) {
			for _, a := range found[j] {
				n.add(a)
			}
		}
		n.complete = true
		if len(n.anchors) > 0 { // a key that nobody knows isn't worth a place
			k.anchors.put(keys[i], n)
		}
		out[i] = slices.Clone(n.anchors)
	}
	return out, nil
}

func (n *known) add(a store.Anchor) {
	oldest := 0
	for i, b := range n.anchors {
		if b.Time.Before(n.anchors[oldest].Time) {
			oldest = i
		}
		if b.Session == a.Session && b.Length == a.Length {
			if a.Time.After(b.Time) {
				n.anchors[i] = a
			}
			return
		}
	}
	if len(n.anchors) < maxKnown {
		n.anchors = append(n.anchors, a)
	} else if a.Time.After(n.anchors[oldest].Time) {
		n.anchors[oldest] = a
	}
}

// register makes anchors known. The caller holds mu.
func (k *Tracker) register(anchors []store.Anchor) {
	for _, a := range anchors {
		n, ok := k.anchors.get(a.Key)
		if !ok {
			n = &known{}
		}
		n.add(a)
		k.anchors.put(a.Key, n)
	}
}

// anchorsOf builds the records of one answer.
func anchorsOf(marks []mark, session string, length int, at time.Time) []store.Anchor {
	var out []store.Anchor
	for _, m := range marks {
		out = append(out, store.Anchor{Key: m.key, Session: session, Length: length, Alone: m.alone, Time: at})
	}
	return out
}
