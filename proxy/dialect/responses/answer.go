package responses

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
	"hindsight/proxy/sse"
)

// answer gathers what an upstream says, from one document or from many events.
// What comes in pieces counts as it came; a whole text that is said behind its
// pieces fills in only what no piece has brought.
type answer struct {
	id, model, finish string
	items             []*item
	usage             dialect.Usage
	over              bool // the last event or a whole document was seen
	unfinished        bool // the response goes on without us, or it failed
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
		a.response(c, raw)
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

// response takes a response object, which may still be on its way. doc is what
// c walks over.
func (a *answer) response(c *scan.Cursor, doc []byte) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	status, reason := "", ""
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "id":
			keep(&a.id, c)
		case "model":
			keep(&a.model, c)
		case "status":
			status = c.Text()
		case "incomplete_details":
			reason = member(c, "reason")
		case "error":
			if k := c.Peek(); k != scan.Null && k != scan.None {
				a.unfinished = true
			}
			c.Skip()
		case "output":
			a.output(c, doc)
		case "usage":
			a.readUsage(c)
		default:
			c.Skip()
		}
	}
	if c.Err() != nil {
		return
	}
	switch status {
	case "in_progress", "queued":
	case "":
	default:
		a.finish = strings.Clone(status)
		if reason != "" {
			a.finish = strings.Clone(reason)
		}
	}
	a.unfinished = a.unfinished || status == "failed" || status == "cancelled"
}

// output takes a response's items.
func (a *answer) output(c *scan.Cursor, doc []byte) {
	if c.Peek() != scan.Array {
		c.Skip()
		return
	}
	c.Array()
	for i := 0; c.Element(); i++ {
		a.whole(c, doc, i)
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

// member takes a value and returns one text of it, "" where it has none.
func member(c *scan.Cursor, name string) (text string) {
	if c.Peek() != scan.Object {
		c.Skip()
		return ""
	}
	for c.Object(); c.Member(); {
		if string(c.Name()) == name {
			text = c.Text()
		} else {
			c.Skip()
		}
	}
	return text
}

// readUsage takes a count of tokens; the last one stands.
func (a *answer) readUsage(c *scan.Cursor) {
	if c.Peek() != scan.Object {
		c.Skip()
		return
	}
	var u dialect.Usage
	for c.Object(); c.Member(); {
		switch string(c.Name()) {
		case "input_tokens":
			u.Input, _ = c.Int()
		case "output_tokens":
			u.Output, _ = c.Int()
		case "input_tokens_details":
			if c.Peek() != scan.Object {
				c.Skip()
				continue
			}
			for c.Object(); c.Member(); {
				if string(c.Name()) == "cached_tokens" {
					u.Cached, _ = c.Int()
				} else {
					c.Skip()
				}
			}
		default:
			c.Skip()
		}
	}
	if u != (dialect.Usage{}) {
		a.usage = u
	}
}

// result is the answer so far. Of a character that was cut, nothing is left;
// other bytes that aren't UTF-8 are replaced.
func (a *answer) result() dialect.Answer {
	out := dialect.Answer{
		ID: a.id, Model: a.model, Finish: a.finish, Usage: a.usage,
		Whole: a.over && !a.unfinished && (a.finish != "" || len(a.items) > 0),
	}
	var texts []string
	for _, it := range a.items {
		out.ItemIDs = append(out.ItemIDs, it.ids...)
		switch {
		case it.kind == reasoning:
			out.Reasoning = join(out.Reasoning, it.text())
		case it.kind == toolCall:
			out.Calls = append(out.Calls, dialect.Call{ID: it.callID, Name: it.name, Arguments: clean(it.args)})
		default:
			if text := it.text(); text != "" {
				texts = append(texts, text)
			}
		}
	}
	out.Text = strings.Join(texts, "\n")
	if len(texts) > 1 {
		out.Texts = texts
	}
	if len(a.items) > 0 {
		out.Choices = 1
	}
	return out
}

// join puts two texts one below the other.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func clean(b []byte) string {
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
