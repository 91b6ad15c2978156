package session

import (
	"context"
	"slices"

	"hindsight/store"
)

// Look-ups go back over the answers of a history in three steps, newest first. The
// newest answer nearly always decides by itself: it was given in one session. The
// few before it tell those apart that have it too, and the third step is for
// histories whose last answers never passed through us.
const (
	firstStep  = 1
	secondStep = 8
	thirdStep  = 40
)

// byAnchor finds the session in which the history was said, "" if none.
func (k *Tracker) byAnchor(ctx context.Context, h *hasher, r *reading) (string, error) {
	answers := slices.Clone(r.models[max(0, len(r.models)-thirdStep):])
	slices.Reverse(answers)
	var fits [][]store.Anchor
	for _, upTo := range []int{firstStep, secondStep, thirdStep} {
		var keys []store.Hash
		var of [][]mark
		for _, s := range answers[len(fits):min(upTo, len(answers))] {
			marks := h.marks(s)
			of = append(of, marks)
			for _, m := range marks {
				keys = append(keys, m.key)
			}
		}
		if len(keys) == 0 { // calls without ids leave no mark
			continue
		}
		found, err := k.lookUp(ctx, h, keys)
		if err != nil {
			return "", err
		}
		for _, marks := range of {
			fits = append(fits, fitting(marks, found[:len(marks)]))
			found = found[len(marks):]
		}
		s, only := choose(fits, answers)
		if only || s != "" && upTo >= secondStep {
			return s, nil
		}
	}
	s, _ := choose(fits, answers)
	return s, nil
}

// fitting joins the anchors of one answer's keys. A key that is to be good
// alone counts for nothing once two sessions have it.
func fitting(marks []mark, found [][]store.Anchor) []store.Anchor {
	var out []store.Anchor
	for i, m := range marks {
		if m.alone && len(sessionsOf(found[i])) > 1 {
			continue
		}
		out = append(out, found[i]...)
	}
	return out
}

// choose picks a session, given the anchors that fit each answer, the last
// answer first. The last answer that is known decides; where it is known from
// several sessions, those that know the answers before it, too; of these the
// newest whose history was exactly this long, else the newest. only says that the
// last answer that is known is known from one session.
func choose(fits [][]store.Anchor, answers []modelSaid) (session string, only bool) {
	for i, fit := range fits {
		if len(fit) == 0 {
			continue
		}
		can := sessionsOf(fit)
		if len(can) == 1 {
			return fit[0].Session, true
		}
		for _, older := range fits[i+1:] {
			both := map[string]bool{}
			for s := range sessionsOf(older) {
				if can[s] {
					both[s] = true
				}
			}
			if len(both) > 0 {
				can = both
			}
		}
		var best, exact store.Anchor
		for _, a := range fit {
			if !can[a.Session] {
				continue
			}
			if best.Session == "" || a.Time.After(best.Time) {
				best = a
			}
			if a.Length == answers[i].length && (exact.Session == "" || a.Time.After(exact.Time)) {
				exact = a
			}
		}
		if exact.Session != "" {
			return exact.Session, false
		}
		return best.Session, false
	}
	return "", false
}

func sessionsOf(anchors []store.Anchor) map[string]bool {
	out := map[string]bool{}
	for _, a := range anchors {
		out[a.Session] = true
	}
	return out
}

// byResponse finds the session of a previous_response_id.
func (k *Tracker) byResponse(ctx context.Context, h *hasher, id string) (string, error) {
	found, err := k.lookUp(ctx, h, []store.Hash{h.responseMark(id).key})
	if err != nil {
		return "", err
	}
	return newest(found[0]), nil
}

// byChain finds the session whose human words these continue, and how many of
// them it knows: for a history from which compaction took every answer. session is the only one that counts, any where
// it is empty.
func (k *Tracker) byChain(ctx context.Context, h *hasher, r *reading, session string) (id string, said int, err error) {
	keys := h.chains(r.humans, 32)
	if len(keys) == 0 {
		return "", 0, nil
	}
	found, err := k.lookUp(ctx, h, keys)
	if err != nil {
		return "", 0, err
	}
	for i, anchors := range found {
		if session != "" {
			anchors = slices.DeleteFunc(anchors, func(a store.Anchor) bool { return a.Session != session })
		}
		if s := newest(anchors); s != "" {
			return s, len(r.humans) - i, nil
		}
	}
	return "", 0, nil
}

func newest(anchors []store.Anchor) string {
	var best store.Anchor
	for _, a := range anchors {
		if best.Session == "" || a.Time.After(best.Time) {
			best = a
		}
	}
	return best.Session
}
