package embedding

import (
	"container/list"
	"sync"
)

// keptQuestions is how many questions' vectors are remembered: a retry, a fan-out
// and a person's second look ask the same again.
const keptQuestions = 256

// keptTexts is the same of texts to be found: until they are written.
const keptTexts = 64

// questions remembers the vectors of the last ones.
type questions struct {
	mu     sync.Mutex
	most   int
	at     map[string]*list.Element
	recent *list.List // of question, the last asked in front
}

type question struct {
	text string
	v    []float32
}

func newQuestions(most int) *questions {
	return &questions{most: most, at: map[string]*list.Element{}, recent: list.New()}
}

func (q *questions) get(text string) ([]float32, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.at[text]
	if e == nil {
		return nil, false
	}
	q.recent.MoveToFront(e)
	return e.Value.(question).v, true
}

func (q *questions) put(text string, v []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.at[text] != nil {
		return
	}
	q.at[text] = q.recent.PushFront(question{text, v})
	if q.recent.Len() > q.most {
		last := q.recent.Back()
		delete(q.at, last.Value.(question).text)
		q.recent.Remove(last)
	}
}
