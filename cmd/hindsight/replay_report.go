package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/mattn/go-runewidth"

	"hindsight/inject"
	"hindsight/internal/eval/replay"
)

// replayReport is what a replay prints.
type replayReport struct {
	Questions []replayed    `json:"questions"`
	Summary   replaySummary `json:"summary"`
}

// replayed is one question.
type replayed struct {
	Exchange string        `json:"exchange"`
	Session  string        `json:"session"`
	Turn     int           `json:"turn"`
	Time     time.Time     `json:"time"`
	Model    string        `json:"model,omitempty"`
	Question string        `json:"question"`
	Status   inject.Status `json:"status"` // now
	Reason   string        `json:"reason,omitempty"`
	Then     []replay.Told `json:"then"`
	Now      []replay.Told `json:"now"`
	Tokens   int           `json:"tokens"` // of the block now
}

type replaySummary struct {
	Questions    int `json:"questions"`
	InjectedThen int `json:"injected_then"` // questions that got something
	InjectedNow  int `json:"injected_now"`
	MemoriesThen int `json:"memories_then"`
	MemoriesNow  int `json:"memories_now"`
	Kept         int `json:"kept"` // memories that were told and would be told again
	Differ       int `json:"differ"`
	TokensNow    int `json:"tokens_now"`
}

func (r *replayReport) add(s replay.Session, a replay.Answer, text func(id string) string) {
	q := replayed{
		Exchange: a.ID, Session: s.ID, Turn: a.Turn, Time: a.Started, Model: a.Model, Question: a.Words,
		Status: a.Status, Reason: a.Reason, Then: []replay.Told{}, Now: append([]replay.Told{}, a.Now...), Tokens: a.Tokens,
	}
	for _, ref := range a.Injected {
		q.Then = append(q.Then, replay.Told{ID: ref.ID, Text: text(ref.ID)})
	}
	r.Questions = append(r.Questions, q)
}

// keep keeps the last n questions and sums them up.
func (r *replayReport) keep(n int) {
	r.Questions = append([]replayed{}, r.Questions[max(0, len(r.Questions)-n):]...)
	for _, q := range r.Questions {
		kept := 0
		for _, t := range q.Then {
			if tells(q.Now, t.ID) {
				kept++
			}
		}
		m := &r.Summary
		m.Questions++
		m.MemoriesThen += len(q.Then)
		m.MemoriesNow += len(q.Now)
		m.Kept += kept
		m.TokensNow += q.Tokens
		if len(q.Then) > 0 {
			m.InjectedThen++
		}
		if len(q.Now) > 0 {
			m.InjectedNow++
		}
		if kept != len(q.Then) || kept != len(q.Now) {
			m.Differ++
		}
	}
}

func tells(told []replay.Told, id string) bool {
	return slices.ContainsFunc(told, func(t replay.Told) bool { return t.ID == id })
}

// print shows each question with what was told (-), would be told (+), or both (=).
func (r *replayReport) print(a *app) error {
	if len(r.Questions) == 0 {
		return a.say("Nothing was asked. Questions are kept until a week after their reflection.")
	}
	width := 100
	if a.width > 0 {
		width = a.width
	}
	row := func(sign, color string, t replay.Told) error {
		score := "    "
		if t.Score > 0 {
			score = fmt.Sprintf("%.2f", t.Score)
		}
		text := oneLine(t.Text)
		if text == "" {
			text = "(erased)"
		}
		line := runewidth.Truncate(fmt.Sprintf("  %s %s %s  %s", sign, score, t.ID, text), width, "…")
		return a.say("%s", a.paint(color, line))
	}
	for _, q := range r.Questions {
		head := runewidth.Truncate(fmt.Sprintf("%s  %s %d  %s", when(q.Time), q.Session, q.Turn, oneLine(q.Question)), width, "…")
		if err := a.say("%s", a.paint("1", head)); err != nil {
			return err
		}
		for _, t := range q.Then {
			if !tells(q.Now, t.ID) {
				if err := row("-", "31", t); err != nil {
					return err
				}
			}
		}
		for _, t := range q.Now {
			sign, color := "+", "32"
			if tells(q.Then, t.ID) {
				sign, color = "=", "0"
			}
			if err := row(sign, color, t); err != nil {
				return err
			}
		}
	}
	m := r.Summary
	return a.say("\n%d questions. Then %d got %d memories; now %d would get %d (%d tokens), %d of them the same. %d questions differ.\n"+
		"Memories are as they stand now, without those made after a question or learned from its session.",
		m.Questions, m.InjectedThen, m.MemoriesThen, m.InjectedNow, m.MemoriesNow, m.TokensNow, m.Kept, m.Differ)
}
