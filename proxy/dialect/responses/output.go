package responses

import (
	"bytes"
	"slices"
	"strings"

	"hindsight/proxy/dialect/scan"
)

// item is one item of an answer as far as it has come.
type item struct {
	index        int // in the output, -1 where events don't say
	ids          []string
	kind         itemKind
	name, callID string
	args         []byte
	texts        []*piece
}

type itemKind int

const (
	unknown itemKind = iota // its type hasn't come, or means nothing here
	message
	reasoning
	toolCall
)

// piece is one text of an item. A reasoning item has two lists of them, the
// summary and the thoughts, of which the first that says something counts.
type piece struct {
	list  string
	index int
	text  []byte
}

// at finds the item that an event or a place in the output means, or begins
// it. By the standard the index says it; where servers leave that out the id
// does, and where they leave out both it is the last item.
func (a *answer) at(index int, id string) *item {
	for i := len(a.items) - 1; i >= 0; i-- {
		it := a.items[i]
		if index >= 0 && it.index == index || (index < 0 || it.index < 0) && id != "" && slices.Contains(it.ids, id) {
			it.index = max(it.index, index)
			it.called(id)
			return it
		}
	}
	if n := len(a.items); index < 0 && id == "" && n > 0 {
		return a.items[n-1]
	}
	it := &item{index: index}
	it.called(id)
	a.items = append(a.items, it)
	return it
}

// called notes an id of the item. Some gateways give it another one in each
// event: any of them may come back.
func (it *item) called(id string) {
	if id != "" && !slices.Contains(it.ids, id) && len(it.ids) < 8 {
		it.ids = append(it.ids, strings.Clone(id))
	}
}

// piece finds one text of an item, or begins it.
func (it *item) piece(list string, index int) *piece {
	for _, p := range it.texts {
		if p.list == list && p.index == index {
			return p
		}
	}
	p := &piece{list: list, index: index}
	it.texts = append(it.texts, p)
	return p
}

// text is what the item says, its texts one below the other.
func (it *item) text() string {
	list, all := "", ""
	for _, p := range it.texts {
		if list == "" && len(p.text) > 0 {
			list = p.list
		}
		if p.list == list {
			all = join(all, clean(p.text))
		}
	}
	return all
}

// whole takes an item of which everything is known, or its empty beginning.
func (a *answer) whole(c *scan.Cursor, doc []byte, index int) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	var id, typ, name, callID string
	var content, summary []byte
	var call callText
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "id":
			id = c.Text()
		case "type":
			typ = c.Text()
		case "name":
			name = c.Text()
		case "call_id":
			callID = c.Text()
		case "content":
			content = array(c, doc)
		case "summary":
			summary = array(c, doc)
		case "arguments", "input", "action", "operation", "code", "queries":
			call.take(c, doc)
		default:
			c.Skip()
		}
	}
	if c.Err() != nil {
		return
	}
	it := a.at(index, id)
	switch {
	case typ == "message":
		it.become(message)
		it.fill("content", content)
	case typ == "reasoning":
		it.become(reasoning)
		it.fill("summary", summary)
		it.fill("content", content)
	case callName(typ) != "":
		it.become(toolCall)
		if it.name == "" {
			it.name = strings.Clone(nameOf(typ, name))
		}
		if it.callID == "" {
			it.callID = strings.Clone(callID)
		}
		if len(it.args) == 0 {
			it.args = call.appendTo(it.args)
		}
	}
}

// become says what the item is; the first to say it counts.
func (it *item) become(k itemKind) {
	if it.kind == unknown {
		it.kind = k
	}
}

// fill takes the texts of a whole item where none has come in pieces.
func (it *item) fill(list string, parts []byte) {
	if parts == nil {
		return
	}
	c := scan.Tolerant(parts)
	c.Array()
	for i := 0; c.Element(); i++ {
		it.part(list, i, c)
	}
}

// part takes one part of a whole item.
func (it *item) part(list string, index int, c *scan.Cursor) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "text", "refusal":
			lit, _ := c.Literal()
			it.say(list, index, lit)
		default:
			c.Skip()
		}
	}
}

// say takes a text as a whole.
func (it *item) say(list string, index int, lit []byte) {
	if len(lit) <= len(`""`) {
		return
	}
	if p := it.piece(list, index); len(p.text) == 0 {
		p.text = scan.AppendUnquoted(p.text, lit)
	}
}

// array takes the next value and returns its bytes if it is an array.
func array(c *scan.Cursor, doc []byte) []byte {
	if c.Peek() != scan.Array {
		c.Skip()
		return nil
	}
	start, end := c.Skip()
	return doc[start:end]
}

// appendTo appends what a call says: a string decoded, anything else as it
// stands.
func (t callText) appendTo(dst []byte) []byte {
	if bytes.HasPrefix(t, []byte(`"`)) {
		return scan.AppendUnquoted(dst, t)
	}
	return append(dst, t...)
}
