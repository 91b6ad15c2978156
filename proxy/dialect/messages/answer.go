package messages

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
	"hindsight/proxy/sse"
)

// answer gathers what an upstream says, from one message or from the events of
// a stream.
type answer struct {
	id, model, stop string
	// text holds the text blocks, joined by newlines: as the message's text
	// will read when the client sends it back.
	text, reasoning []byte
	calls           []call
	began           bool // a message was seen
	over            bool // message_stop or a whole document was seen
	failed          bool // the upstream said that it failed
	usage           usage
}

// call is a tool call that is being put together.
type call struct {
	index    int // of its content block, -1 where it isn't given
	id, name string
	input    []byte // of the block itself
	args     []byte // what the deltas brought
}

// usage is what Anthropic counts. input leaves out what the cache had, and
// what was written to it.
type usage struct{ input, output, read, written int }

// ReadAnswer reads an answer, see [dialect.Dialect]. Usage.Input is all that
// the model was given: the tokens read from the cache and those written to it
// are in it, which Anthropic counts apart. Where the bytes are plainly of the
// other form than stream says, they have the last word.
func (Dialect) ReadAnswer(raw []byte, stream bool) dialect.Answer {
	var a answer
	if isStream(raw, stream) {
		for e := range sse.Events(raw) {
			a.event(e)
		}
	} else {
		c := scan.Tolerant(raw)
		a.document(c, raw)
		a.over = c.End() == nil
	}
	return a.result()
}

func isStream(raw []byte, stream bool) bool {
	head := bytes.TrimLeft(raw, " \r\n\t")
	if stream {
		return !bytes.HasPrefix(head, []byte("{"))
	}
	for _, field := range []string{"data:", "event:", ":"} {
		if bytes.HasPrefix(head, []byte(field)) {
			return true
		}
	}
	return false
}

// document takes a message, whole or as message_start brings it.
func (a *answer) document(c *scan.Cursor, doc []byte) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "id":
			a.began = true
			keep(&a.id, c)
		case "model":
			keep(&a.model, c)
		case "content":
			a.began = true
			a.content(c, doc)
		case "stop_reason":
			a.stopped(c)
		case "usage":
			a.count(c)
		case "type":
			a.failed = c.Text() == "error" || a.failed
		case "error":
			a.failed = c.Peek() == scan.Object || a.failed
			c.Skip()
		default:
			c.Skip()
		}
	}
}

// keep takes a text that counts where it is said first. The copy lets go of
// the document.
func keep(to *string, c *scan.Cursor) {
	if *to == "" {
		*to = strings.Clone(c.Text())
	} else {
		c.Skip()
	}
}

func (a *answer) stopped(c *scan.Cursor) {
	if reason := c.Text(); reason != "" {
		a.stop = strings.Clone(reason)
	}
}

// content takes a message's blocks. Some gateways answer with a string.
func (a *answer) content(c *scan.Cursor, doc []byte) {
	switch c.Peek() {
	case scan.String:
		lit, _ := c.Literal()
		a.beginText(lit)
	case scan.Array:
		i := 0
		for c.Array(); c.Element(); i++ {
			a.block(c, doc, i)
		}
	default:
		c.Skip()
	}
}

// block takes one content block, or the beginning of one.
func (a *answer) block(c *scan.Cursor, doc []byte, index int) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	var typ string
	var text, thinking []byte
	k := call{index: index}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			typ = c.Text()
		case "text":
			text, _ = c.Literal()
		case "thinking":
			thinking, _ = c.Literal()
		case "id":
			k.id = c.Text()
		case "name":
			k.name = c.Text()
		case "input":
			start, end := c.Skip()
			k.input = doc[start:end]
		default:
			c.Skip()
		}
	}
	if c.Err() != nil {
		return
	}
	switch {
	case typ == "text":
		a.beginText(text)
	case typ == "thinking":
		a.reasoning = scan.AppendUnquoted(a.reasoning, thinking)
	case calling(typ):
		k.id, k.name, k.input = strings.Clone(k.id), strings.Clone(k.name), bytes.Clone(k.input)
		a.calls = append(a.calls, k)
	}
}

// beginText begins a text block on a line of its own, see
// [dialect.Message.Text].
func (a *answer) beginText(lit []byte) {
	if len(a.text) > 0 {
		a.text = append(a.text, '\n')
	}
	a.text = scan.AppendUnquoted(a.text, lit)
}

// count takes a count of tokens. A stream counts at its beginning and again at
// its end, where most of it may be left out or be zero.
func (a *answer) count(c *scan.Cursor) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	for c.Object(); c.Member(); {
		var to *int
		switch string(c.Name()) {
		case "input_tokens":
			to = &a.usage.input
		case "output_tokens":
			to = &a.usage.output
		case "cache_read_input_tokens":
			to = &a.usage.read
		case "cache_creation_input_tokens":
			to = &a.usage.written
		default:
			c.Skip()
			continue
		}
		if n, ok := c.Int(); ok && n > 0 {
			*to = n
		}
	}
}

// result is the answer so far. Of a character that was cut, nothing is left;
// other bytes that aren't UTF-8 are replaced.
func (a *answer) result() dialect.Answer {
	out := dialect.Answer{
		ID:        a.id,
		Model:     a.model,
		Text:      whole(a.text),
		Reasoning: whole(a.reasoning),
		Finish:    a.stop,
		Usage:     dialect.Usage{Input: a.usage.input + a.usage.read + a.usage.written, Output: a.usage.output, Cached: a.usage.read},
		Whole:     (a.over || a.stop != "") && !a.failed,
	}
	if a.began {
		out.Choices = 1
	}
	for _, k := range a.calls {
		args := k.args
		if len(args) == 0 { // not streamed, or a call without arguments
			args = k.input
		}
		out.Calls = append(out.Calls, dialect.Call{ID: k.id, Name: k.name, Arguments: whole(args)})
	}
	return out
}

func whole(b []byte) string {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				b = b[:len(b)-n]
			}
			break
		}
	}
	return scan.Clean(string(b))
}
