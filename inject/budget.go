package inject

import (
	"strings"
	"time"

	"hindsight/store"
)

// The always-set's own bounds.
const (
	standingMemories = 5
	standingTokens   = 200
)

// budget fills one block, line by line, and keeps it within its bounds. Every
// line is counted as it will stand there, with label and fence.
type budget struct {
	topK, room int // memories by recall, tokens of the whole block
	zone       *time.Location
	label      string
	lines      []line
	always     int // how many of lines stand by the always-set
}

func newBudget(cfg Config, c Conversation, replayed []Block) *budget {
	carried := 0
	for _, b := range replayed {
		carried += store.Tokens(b.Text)
	}
	return &budget{
		topK: cfg.TopK, room: min(cfg.Tokens, cfg.Carried-carried), zone: c.Zone,
		label: labelFor(c.Words, cfg.Cite && !c.Structured), // an id behind a JSON object would spoil it
	}
}

// standing adds a line of the always-set if there is room.
func (b *budget) standing(l line) {
	if b.always == standingMemories {
		return
	}
	lines := append(b.lines[:len(b.lines):len(b.lines)], l)
	own := 0
	for _, l := range lines {
		own += store.Tokens(renderLine(l, shortID(l.memory.ID, store.ShortID), b.zone))
	}
	if own > standingTokens || b.tokens(lines) > b.room {
		return
	}
	b.lines = lines
	b.always++
}

// add adds a recalled line, or says why not.
func (b *budget) add(l line) string {
	if len(b.lines)-b.always >= b.topK {
		return "top_k"
	}
	lines := append(b.lines[:len(b.lines):len(b.lines)], l)
	if b.tokens(lines) > b.room {
		return "budget"
	}
	b.lines = lines
	return ""
}

func (b *budget) holds(id string) bool {
	for _, l := range b.lines {
		if l.memory.ID == id {
			return true
		}
	}
	return false
}

// inside is the block's content: label and lines.
func (b *budget) inside() string { return b.render(b.lines) }

func (b *budget) render(lines []line) string {
	var s strings.Builder
	s.WriteString(b.label)
	for i, short := range shortIDs(lines) {
		s.WriteString(renderLine(lines[i], short, b.zone))
	}
	return s.String()
}

// tokens is the length of the block that the lines would make.
func (b *budget) tokens(lines []line) int {
	return store.Tokens(fence(strings.Repeat("0", keyLen), b.render(lines)))
}
