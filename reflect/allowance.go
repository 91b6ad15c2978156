package hreflect

import (
	"errors"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// allowance is how many answers of a model one job may have: twice the pieces of
// Config.Tokens that its new tokens fill, all attempts together. The first question
// of each part comes out of it, and what is left is shared by focused retries and by
// the questions about neighbours. A call that nobody answered costs nothing and
// doesn't count.
type allowance struct {
	left  int // beside the first question of each part
	first int // answers to those, in this attempt
	more  int // other answers
}

// allowed is what a job has left for so many new tokens, in pieces of size tokens, of
// which parts are asked about.
func allowed(j store.Job, fresh, size, parts int) *allowance {
	return &allowance{left: 2*max(1, (fresh+size-1)/size) - j.Answered - parts}
}

// noCallLeft is why a job asks nothing more.
const noCallLeft = "the job has made its calls"

// answered notes the answer to a part's first question.
func (a *allowance) answered() { a.first++ }

// take asks for one call more.
func (a *allowance) take() bool {
	if a.left <= 0 {
		return false
	}
	a.left--
	a.more++
	return true
}

// over is the error of an attempt that failed, with the answers that it had. It is
// permanent where too little is left to ask about all parts again.
func (a *allowance) over(err error) error {
	var e *llm.Error
	if errors.As(err, &e) && a.left < a.first {
		err = &llm.Error{Kind: llm.Permanent, Reason: noCallLeft, Err: err}
	}
	return &attempt{err, a.first + a.more}
}

// attempt is a failed attempt that a model had answered so many times.
type attempt struct {
	error
	answers int
}

func (a *attempt) Unwrap() error { return a.error }
