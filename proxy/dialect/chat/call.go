package chat

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// calls takes an assistant message's tool_calls and appends them to all.
func (s *scanner) calls(all []dialect.Call) []dialect.Call {
	if s.Peek() != scan.Array {
		s.Skip()
		return all
	}
	for s.Array(); s.Element(); {
		if d, ok := readCall(s.Cursor, s.req.Body); ok {
			all = append(all, d.call())
		}
	}
	return all
}

// function takes a function_call of the older form, which has no id.
func (s *scanner) function() (dialect.Call, bool) {
	if s.Peek() != scan.Object {
		s.Skip()
		return dialect.Call{}, false
	}
	var d callDelta
	d.readFunction(s.Cursor, s.req.Body)
	return d.call(), true
}

// callDelta is one element of tool_calls: a whole call in a message, a piece
// of one in a stream.
type callDelta struct {
	index    int // -1 where it isn't given
	id, name string
	args     []byte // a string's literal, or another value as it stands
}

// readCall takes one element of tool_calls out of text. Anything but an object
// isn't ok.
func readCall(c *scan.Cursor, text []byte) (callDelta, bool) {
	d := callDelta{index: -1}
	if c.Peek() != scan.Object {
		c.Skip()
		return d, false
	}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "index":
			if n, ok := c.Int(); ok && n >= 0 {
				d.index = n
			}
		case "id":
			d.id = c.Text()
		case "function", "custom":
			if c.Peek() == scan.Object {
				d.readFunction(c, text)
			} else {
				c.Skip()
			}
		default:
			c.Skip()
		}
	}
	return d, true
}

// readFunction takes the object that holds a call's name and arguments.
func (d *callDelta) readFunction(c *scan.Cursor, text []byte) {
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "name":
			d.name = c.Text()
		case "arguments", "input":
			if c.Peek() == scan.Null {
				c.Skip()
				continue
			}
			start, end := c.Skip()
			d.args = text[start:end]
		default:
			c.Skip()
		}
	}
}

// appendArguments appends the arguments: a string decoded, and the JSON itself
// where a server sends the arguments as an object.
func (d callDelta) appendArguments(dst []byte) []byte {
	if len(d.args) > 0 && d.args[0] == '"' {
		return scan.AppendUnquoted(dst, d.args)
	}
	return append(dst, d.args...)
}

func (d callDelta) call() dialect.Call {
	c := dialect.Call{ID: d.id, Name: d.name}
	if len(d.args) > 0 && d.args[0] == '"' {
		c.Arguments = scan.Unquote(d.args)
	} else {
		c.Arguments = string(d.args)
	}
	return c
}
