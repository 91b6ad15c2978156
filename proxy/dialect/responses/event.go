package responses

import (
	"bytes"
	"strings"

	"hindsight/proxy/dialect/scan"
	"hindsight/proxy/sse"
)

// head returns an event's type, which its data says first of all, and the data
// as far as it is whole JSON; nil for what isn't.
func head(e sse.Event) (typ string, data []byte) {
	data = bytes.TrimSpace(e.Data)
	c := scan.Tolerant(data)
	if c.Peek() != scan.Object {
		return "", nil
	}
	for c.Object(); c.Member(); {
		if string(c.Name()) == "type" && typ == "" {
			typ = c.Text()
		} else {
			c.Skip()
		}
	}
	if c.End() != nil {
		return "", nil
	}
	if typ == "" {
		typ = string(e.Name)
	}
	return typ, data
}

// event takes one event of a stream. What isn't whole JSON leaves no trace.
func (a *answer) event(e sse.Event) {
	typ, data := head(e)
	switch {
	case data == nil:
		return
	case typ == "error":
		a.unfinished = true
		return
	case typ == "response.failed", typ == "response.cancelled":
		a.unfinished = true
	}
	ev := readEvent(data)
	switch {
	case ev.response != nil:
		a.response(scan.Tolerant(ev.response), ev.response)
	case ev.item != nil:
		a.whole(scan.Tolerant(ev.item), ev.item, ev.index)
	default:
		a.piece(typ, ev)
	}
	a.over = a.over || ends(typ)
}

// event is what events have among their members.
type event struct {
	response, item, part    []byte // objects
	id                      string // item_id
	index, content, thought int    // output_index, content_index, summary_index
	delta, text             []byte // literals
}

func readEvent(data []byte) event {
	e := event{index: -1}
	c := scan.Tolerant(data)
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "response":
			e.response = object(c, data)
		case "item":
			e.item = object(c, data)
		case "part":
			e.part = object(c, data)
		case "item_id":
			e.id = c.Text()
		case "output_index":
			if n, ok := c.Int(); ok && n >= 0 {
				e.index = n
			}
		case "content_index":
			e.content, _ = c.Int()
		case "summary_index":
			e.thought, _ = c.Int()
		case "delta":
			e.delta, _ = c.Literal()
		case "text", "refusal", "arguments", "input", "code":
			e.text, _ = c.Literal()
		default:
			c.Skip()
		}
	}
	return e
}

// piece takes an event that brings a piece of a text or of a call, or says
// once more what came in pieces.
func (a *answer) piece(typ string, e event) {
	name, ok := strings.CutPrefix(typ, "response.")
	if !ok {
		return
	}
	name, delta := strings.CutSuffix(name, ".delta")
	if !delta {
		if name, ok = strings.CutSuffix(name, ".done"); !ok {
			return
		}
	}
	var kind itemKind
	list, index := "content", e.content
	switch name {
	case "output_text", "refusal", "content_part":
		kind = message
	case "reasoning_text":
		kind = reasoning
	case "reasoning_summary_text", "reasoning_summary_part", "reasoning_summary":
		kind, list, index = reasoning, "summary", e.thought
	case "function_call_arguments", "custom_tool_call_input", "mcp_call_arguments", "code_interpreter_call_code":
		kind = toolCall
	default:
		return
	}
	it := a.at(e.index, e.id)
	it.become(kind)
	switch {
	case it.kind == toolCall:
		if delta {
			it.args = scan.AppendUnquoted(it.args, e.delta)
		} else if len(it.args) == 0 {
			it.args = scan.AppendUnquoted(it.args, e.text)
		}
	case delta:
		p := it.piece(list, index)
		p.text = scan.AppendUnquoted(p.text, e.delta)
	case e.part != nil:
		it.part(list, index, scan.Tolerant(e.part))
	default:
		it.say(list, index, e.text)
	}
}

// object takes the next value and returns its bytes if it is an object.
func object(c *scan.Cursor, doc []byte) []byte {
	if c.Peek() != scan.Object {
		c.Skip()
		return nil
	}
	start, end := c.Skip()
	return doc[start:end]
}
