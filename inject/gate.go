package inject

import (
	"math"
	"strings"

	"hindsight/store"
	"hindsight/store/index"
)

// The gate by words; meaning.go says what vectors add. Silence is the default. A
// memory's value is the share of the message's information that it holds (its
// evidence and the turns beside it included) plus what it holds itself in nats over
// nats. The share is that of the whole message or, if greater, of one of its
// sentences. The gate opens when the best of the first ranked reaches gateOpen, and
// those within gateBeside of it pass, above a floor.
//
// The more memories there are, the better the best of them fits by chance, and the
// more of what is worth showing stands behind it. So above gateScope the gate opens
// at gateGrowth more for each e-fold of memories, and from gateSmall on it keeps
// more of the first ranked. The numbers were chosen on foreign questions to 20 to
// 600 turns of conversations (docs/recall.md has the figures) and on this repo's
// own questions in testdata: neither says how the gate does on data that it hasn't
// seen.
const (
	gateOpen     = 0.72
	gateOpenBoth = 0.88 // where vectors count too
	gateSmall    = 100
	gateScope    = 600
	gateGrowth   = 0.08
	// gateBeside is of the best, gateFloor of what opens the gate; both in a small
	// scope, and in one of gateScope.
	gateBeside, gateBesideLarge = 0.5, 0.4
	gateFloor, gateFloorLarge   = 0.68, 0.45
	gateFirst                   = 5 // how many of the first ranked may open the gate
	nats                        = 30.0
	// Who asks about himself is answered from memory more often than not.
	gatePersonal  = 0.62
	personalFloor = 0.45
	// A message of fewer nats asks too little to be answered from memory
	// ("what time is it?"), unless it asks about the person ("where do I work?").
	leastNats     = 6.0
	leastPersonal = 3.0
	// oneSentence is what a sentence counts among several.
	oneSentence = 0.85
)

// judge measures hits against a query. It is made once for a search.
type judge struct {
	q      query
	info   []float64 // by unit, in nats
	total  float64
	clause map[int]float64 // total by clause
	docs   int             // memories that were looked through
	null   against         // of the question's cosines with the background
}

func newJudge(q query, res index.Result, a against) judge {
	j := judge{q: q, docs: res.Docs, null: a, info: make([]float64, len(q.units)), clause: make(map[int]float64)}
	for i, u := range q.units {
		info := j.tells(u, res, viaWord)
		if info < 0 {
			info = j.tells(u, res, viaChar)
		}
		if u.han {
			info /= 2 // two characters make a word
		}
		j.info[i] = max(info, 0)
		j.total += j.info[i]
		j.clause[u.clause] += j.info[i]
	}
	return j
}

// tells is the information of a unit: that of its commonest term of at least
// the given strength, bridges apart; -1 if it has none. The commonest, because
// of two bigrams that share a character the one across a word's end is rare.
func (j judge) tells(u unit, res index.Result, strength float64) float64 {
	least := -1.0
	for _, v := range u.via {
		if v.strength < strength || v.strength == viaConcept {
			continue
		}
		if n := information(j.q.terms[v.term].Text, u.han, res.DF[v.term], res.Docs); least < 0 || n < least {
			least = n
		}
	}
	return least
}

// measure says how much of the message's information a hit holds itself, in
// nats, and which share it holds with its surroundings.
func (j judge) measure(h index.Hit) (own, share float64) {
	if j.total == 0 {
		return 0, 0
	}
	all := 0.0
	clause := make(map[int]float64, len(j.clause))
	for i, u := range j.q.units {
		mine, any := 0.0, 0.0
		for _, v := range u.via {
			if h.Match[v.term] == index.Absent {
				continue
			}
			any = max(any, v.strength)
			if h.Match[v.term] == index.InOwn {
				mine = max(mine, v.strength)
			}
		}
		own += j.info[i] * mine
		all += j.info[i] * any
		clause[u.clause] += j.info[i] * any
	}
	share = all / j.total * j.enough(j.total)
	for c, held := range clause {
		if total := j.clause[c]; total > 0 {
			share = max(share, oneSentence*held/total*j.enough(total))
		}
	}
	return own, share
}

// enough is below 1 for a text that tells too little to be answered.
func (j judge) enough(total float64) float64 {
	if j.q.personal {
		return min(1, total/leastPersonal)
	}
	return min(1, total/leastNats)
}

// opens is the value at which the gate opens, and the floor below which nothing
// passes.
func (j judge) opens() (open, floor float64) {
	if j.q.personal {
		return gatePersonal, personalFloor
	}
	open = gateOpen
	if j.null.deviation > 0 {
		open = gateOpenBoth
	}
	if j.docs > gateScope {
		open += gateGrowth * math.Log(float64(j.docs)/gateScope)
	}
	return open, open * (gateFloor + j.large()*(gateFloorLarge-gateFloor))
}

// beside is what of the best value the others need.
func (j judge) beside() float64 { return gateBeside + j.large()*(gateBesideLarge-gateBeside) }

// large is 0 in a small scope, 1 in a large one, and between them between.
func (j judge) large() float64 {
	return min(1, max(0, math.Log(float64(j.docs)/gateSmall)/math.Log(gateScope/gateSmall)))
}

// personal says whether a message asks about the person who wrote it.
func personal(s string) bool {
	s = " " + strings.ToLower(s) + " "
	// "How do I reverse a string?" asks about strings.
	for _, w := range []string{" how do i ", " how can i ", " how could i ", " how should i ", " how would i ", " can i ", " should i "} {
		s = strings.ReplaceAll(s, w, " ")
	}
	for _, w := range []string{" my ", " mine ", " i ", " our ", " we ", " i've ", " i'm ", " i'd "} {
		if strings.Contains(s, w) {
			return true
		}
	}
	for _, w := range []string{"帮我", "给我", "告诉我", "请我", "跟我", "教我", "让我"} {
		s = strings.ReplaceAll(s, w, "")
	}
	return strings.Contains(s, "我")
}

// dated says whether a memory is of something that happened.
func dated(m *store.Memory) bool { return m.Type == store.EventType || m.Type == store.ErrorLesson }
