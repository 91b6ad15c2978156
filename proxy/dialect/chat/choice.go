package chat

import (
	"strings"

	"hindsight/proxy/dialect/scan"
)

// choicesOf takes the choices of a document. doc is what c walks over.
func (a *answer) choicesOf(c *scan.Cursor, doc []byte) {
	if c.Peek() != scan.Array {
		c.Skip()
		return
	}
	c.Array()
	for i := 0; c.Element(); i++ {
		a.choice(c, doc, i)
	}
}

// choice takes one choice. Its words are read when its index is known, which
// may stand behind them.
func (a *answer) choice(c *scan.Cursor, doc []byte, index int) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	var piece, message []byte
	var finish string
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "index":
			if n, ok := c.Int(); ok && n >= 0 {
				index = n
			}
		case "delta":
			piece = object(c, doc)
		case "message":
			message = object(c, doc)
		case "finish_reason":
			finish = c.Text()
		case "usage": // Moonshot has it here
			a.readUsage(c)
		default:
			c.Skip()
		}
	}
	if c.Err() != nil {
		return
	}
	a.choices = max(a.choices, index+1)
	if index != 0 {
		return
	}
	if finish != "" {
		a.finish = strings.Clone(finish)
	}
	if message != nil {
		a.words(message, true)
	}
	if piece != nil {
		a.words(piece, false)
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

// words takes a message, complete, or a piece of one.
func (a *answer) words(text []byte, complete bool) {
	c := scan.Tolerant(text)
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "content":
			a.content(c)
		case "refusal":
			lit, _ := c.Literal()
			a.text = scan.AppendUnquoted(a.text, lit)
		case "reasoning_content":
			a.think("reasoning_content", c)
		case "reasoning":
			a.think("reasoning", c)
		case "tool_calls":
			if c.Peek() != scan.Array {
				c.Skip()
				continue
			}
			for c.Array(); c.Element(); {
				if d, ok := readCall(c, text); ok {
					a.pieces = append(a.pieces, callPiece{d, complete})
				}
			}
		case "function_call": // before tool_calls: one call, without index and id
			if c.Peek() != scan.Object {
				c.Skip()
				continue
			}
			d := callDelta{}
			d.readFunction(c, text)
			a.pieces = append(a.pieces, callPiece{d, complete})
		default:
			c.Skip()
		}
	}
}

// content takes a string, or the array of parts in which some servers answer.
func (a *answer) content(c *scan.Cursor) {
	switch c.Peek() {
	case scan.String:
		lit, _ := c.Literal()
		a.text = scan.AppendUnquoted(a.text, lit)
	case scan.Array:
		for c.Array(); c.Element(); {
			a.contentPart(c)
		}
	default:
		c.Skip()
	}
}

func (a *answer) contentPart(c *scan.Cursor) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "text", "refusal":
			lit, _ := c.Literal()
			a.text = scan.AppendUnquoted(a.text, lit)
		case "thinking": // Mistral's, text parts again
			if c.Peek() != scan.Array {
				a.think("thinking", c)
				continue
			}
			for c.Array(); c.Element(); {
				a.thought(c)
			}
		default:
			c.Skip()
		}
	}
}

func (a *answer) thought(c *scan.Cursor) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	for c.Object(); c.Member(); {
		if string(c.Name()) == "text" {
			a.think("thinking", c)
		} else {
			c.Skip()
		}
	}
}

// think takes the reasoning that stands under a key. An empty one doesn't
// decide which key counts.
func (a *answer) think(name string, c *scan.Cursor) {
	lit, _ := c.Literal()
	if len(lit) <= len(`""`) {
		return
	}
	if a.reasoningName == "" {
		a.reasoningName = name
	}
	if a.reasoningName == name {
		a.reasoning = scan.AppendUnquoted(a.reasoning, lit)
	}
}
