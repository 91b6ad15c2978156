package messages

import (
	"bytes"
	"iter"

	"hindsight/proxy/dialect/scan"
	"hindsight/proxy/sse"
)

// messageStop is the event that ends a stream.
const messageStop = "message_stop"

// event is one event of a stream, its members as they stand in the data.
type event struct {
	kind                         string
	index                        int // of the content block, -1 where it isn't given
	message, block, delta, usage []byte
}

// eventsIn are the events in an event's data. That is one, unless a server
// leaves out the blank lines between them: then each line is one. What isn't
// whole JSON is none.
func eventsIn(data []byte) iter.Seq[event] {
	return func(yield func(event) bool) {
		if ev, ok := readEvent(data); ok {
			yield(ev)
			return
		}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if ev, ok := readEvent(line); ok && !yield(ev) {
				return
			}
		}
	}
}

// readEvent takes an event's data apart. Anything but a whole object isn't ok.
func readEvent(data []byte) (event, bool) {
	data = bytes.TrimSpace(data)
	c := scan.Tolerant(data)
	if c.Peek() != scan.Object {
		return event{}, false
	}
	ev := event{index: -1}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			ev.kind = c.Text()
		case "index":
			if n, ok := c.Int(); ok && n >= 0 {
				ev.index = n
			}
		case "message":
			ev.message = value(c, data)
		case "content_block":
			ev.block = value(c, data)
		case "delta":
			ev.delta = value(c, data)
		case "usage":
			ev.usage = value(c, data)
		default:
			c.Skip()
		}
	}
	return ev, c.End() == nil
}

// value takes the next value and returns its bytes.
func value(c *scan.Cursor, data []byte) []byte {
	start, end := c.Skip()
	return data[start:end]
}

// event takes one event of a stream, by what its data says.
func (a *answer) event(e sse.Event) {
	for ev := range eventsIn(e.Data) {
		a.take(ev)
	}
}

// take ignores pings and the kinds of event to come.
func (a *answer) take(ev event) {
	switch ev.kind {
	case "message_start":
		a.document(scan.Tolerant(ev.message), ev.message)
	case "content_block_start":
		a.block(scan.Tolerant(ev.block), ev.block, ev.index)
	case "content_block_delta":
		a.blockDelta(scan.Tolerant(ev.delta), ev.index)
	case "message_delta":
		a.messageDelta(scan.Tolerant(ev.delta))
		a.count(scan.Tolerant(ev.usage))
	case messageStop:
		a.over = true
	case "error":
		a.failed = true
	}
}

// blockDelta takes a piece of the content block at index. Each kind of piece
// has a name of its own, so its type needn't be asked; signatures and
// citations are nothing that is said.
func (a *answer) blockDelta(c *scan.Cursor, index int) {
	if c.Peek() != scan.Object {
		return
	}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "text":
			lit, _ := c.Literal()
			a.text = scan.AppendUnquoted(a.text, lit)
		case "thinking":
			lit, _ := c.Literal()
			a.reasoning = scan.AppendUnquoted(a.reasoning, lit)
		case "partial_json":
			lit, _ := c.Literal()
			if k := a.callAt(index); k != nil {
				k.args = scan.AppendUnquoted(k.args, lit)
			}
		default:
			c.Skip()
		}
	}
}

// callAt is the call whose content block has the index; where a server leaves
// it out, the last one.
func (a *answer) callAt(index int) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if k := &a.calls[i]; k.index == index || index < 0 {
			return k
		}
	}
	return nil
}

func (a *answer) messageDelta(c *scan.Cursor) {
	if c.Peek() != scan.Object {
		return
	}
	for c.Object(); c.Member(); {
		if string(c.Name()) == "stop_reason" {
			a.stopped(c)
		} else {
			c.Skip()
		}
	}
}
