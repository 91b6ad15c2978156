package chat

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
	"hindsight/proxy/sse"
)

// answer gathers what an upstream says, from one document or from many chunks
// of the same shape.
type answer struct {
	id, model, finish string
	text, reasoning   []byte
	// reasoningName is the key that the reasoning came under first. Servers in
	// between two habits send the same words under both.
	reasoningName string
	calls         calls
	pieces        []callPiece // of the document that is being read
	choices       int
	usage         dialect.Usage
	over          bool // the end mark or a whole document was seen
	failed        bool // the upstream said that it failed
}

// ReadAnswer reads an answer, see [dialect.Dialect]. Where the bytes are
// plainly of the other form than stream says, they have the last word: some
// servers answer a streaming request with a document, or stream under a wrong
// content type.
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
		a.settle()
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

// event takes one event of a stream: a chunk, or, from a server that leaves out
// the blank lines in between, a chunk a line. What isn't whole JSON is passed
// over.
func (a *answer) event(e sse.Event) {
	if string(e.Name) == "error" {
		a.failed = true
	}
	if a.chunk(e.Data) || bytes.IndexByte(e.Data, '\n') < 0 {
		return
	}
	for line := range bytes.SplitSeq(e.Data, []byte("\n")) {
		a.chunk(line)
	}
}

// chunk takes one chunk or the end mark; false says that it is neither.
func (a *answer) chunk(data []byte) bool {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		a.over = true
		return true
	}
	before := *a
	c := scan.Tolerant(data)
	a.document(c, data)
	if c.End() != nil {
		*a = before // texts have only grown behind what it knows of
		return false
	}
	a.settle()
	return true
}

// callPiece is a piece of a call, complete or not.
type callPiece struct {
	callDelta
	complete bool
}

// settle adds a document's pieces of calls to the others.
func (a *answer) settle() {
	for _, p := range a.pieces {
		a.calls.add(p.callDelta, p.complete)
	}
	a.pieces = a.pieces[:0]
}

// document takes a chat.completion or a chat.completion.chunk.
func (a *answer) document(c *scan.Cursor, doc []byte) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "id":
			keep(&a.id, c)
		case "model":
			keep(&a.model, c)
		case "choices":
			a.choicesOf(c, doc)
		case "usage":
			a.readUsage(c)
		case "error":
			if k := c.Peek(); k != scan.Null && k != scan.None {
				a.failed = true
			}
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

// readUsage takes a count of tokens. Servers that count as they go send many;
// the last one stands.
func (a *answer) readUsage(c *scan.Cursor) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	var u dialect.Usage
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "prompt_tokens":
			u.Input, _ = c.Int()
		case "completion_tokens":
			u.Output, _ = c.Int()
		case "prompt_tokens_details":
			if c.Peek() != scan.Object {
				c.Skip()
				continue
			}
			for c.Object(); c.Member(); {
				if string(c.Name()) == "cached_tokens" {
					readCached(&u, c)
				} else {
					c.Skip()
				}
			}
		case "prompt_cache_hit_tokens", "cached_tokens": // DeepSeek's, Moonshot's
			readCached(&u, c)
		default:
			c.Skip()
		}
	}
	if u != (dialect.Usage{}) {
		a.usage = u
	}
}

func readCached(u *dialect.Usage, c *scan.Cursor) {
	n, _ := c.Int()
	u.Cached = max(u.Cached, n)
}

// result is the answer so far. Of a character that was cut, nothing is left;
// other bytes that aren't UTF-8 are replaced.
func (a *answer) result() dialect.Answer {
	return dialect.Answer{
		ID:        a.id,
		Model:     a.model,
		Text:      whole(a.text),
		Reasoning: whole(a.reasoning),
		Calls:     a.calls.result(),
		Finish:    a.finish,
		Choices:   a.choices,
		Usage:     a.usage,
		Whole:     (a.over || a.finish != "") && !a.failed,
	}
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
