package clients

import "strings"

// longBody is the length in bytes from which the body of an unknown element at
// the head of a text is a client's paste, not a person's sentence.
const longBody = 400

// tag is one opening or closing tag in a text.
type tag struct {
	name       string
	start, end int
	closing    bool
}

// tagName returns the length of the element name at the beginning of s.
func tagName(s string) int {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return i
		}
	}
	return len(s)
}

// readTag reads the tag at s[at], which is a '<'. Attributes may hold anything
// but angle brackets; a self-closed tag is none.
func readTag(s string, at int) (tag, bool) {
	t := tag{start: at}
	pos := at + 1
	if pos < len(s) && s[pos] == '/' {
		t.closing = true
		pos++
	}
	n := tagName(s[pos:])
	if n == 0 {
		return t, false
	}
	t.name = s[pos : pos+n]
	pos += n
	if pos < len(s) && s[pos] != '>' && s[pos] != ' ' && s[pos] != '\n' && s[pos] != '\t' {
		return t, false
	}
	i := strings.IndexAny(s[pos:min(len(s), pos+512)], "<>")
	if i < 0 || s[pos+i] == '<' || i > 0 && s[pos+i-1] == '/' {
		return t, false
	}
	t.end = pos + i + 1
	return t, true
}

// pair is a known element with both its tags.
type pair struct {
	element
	open, close tag
}

// waiting are the opening tags of one name that have no end yet, as indexes of
// pairs. Each is pushed and taken once, whatever a text is made of.
type waiting struct{ lines, inner []int }

// take returns the opening tag that a closing one belongs to: the nearest that
// begins a line, else the nearest. Clients begin a line with theirs, while
// people, and decoration itself, name a tag in the middle of a sentence.
func (w *waiting) take() int {
	if n := len(w.lines); n > 0 {
		i := w.lines[n-1]
		w.lines = w.lines[:n-1]
		for n := len(w.inner); n > 0 && w.inner[n-1] > i; n-- {
			w.inner = w.inner[:n-1]
		}
		return i
	}
	if n := len(w.inner); n > 0 {
		i := w.inner[n-1]
		w.inner = w.inner[:n-1]
		return i
	}
	return -1
}

// pairs finds the known elements of a text, in the order of their opening
// tags, in one pass.
func (r *Rules) pairs(s, app string) []pair {
	var found []pair
	open := map[string]*waiting{}
	for pos := 0; ; {
		i := strings.IndexByte(s[pos:], '<')
		if i < 0 {
			break
		}
		pos += i
		t, ok := readTag(s, pos)
		if !ok {
			pos++
			continue
		}
		pos = t.end
		w := open[t.name]
		if t.closing {
			if w != nil {
				if i := w.take(); i >= 0 {
					found[i].close = t
				}
			}
			continue
		}
		el, ok := r.elements.find(t.name, app)
		if !ok || el.do == Keep {
			continue
		}
		if w == nil {
			w = &waiting{}
			open[t.name] = w
		}
		if beginsLine(s, t.start) {
			w.lines = append(w.lines, len(found))
		} else {
			w.inner = append(w.inner, len(found))
		}
		found = append(found, pair{element: el, open: t})
	}
	whole := found[:0]
	for _, p := range found {
		if p.close.end > 0 && (!p.block || standsAlone(s, p)) {
			whole = append(whole, p)
		}
	}
	return whole
}

// beginsLine says whether only white space or another element stands in front
// of at on its line.
func beginsLine(s string, at int) bool {
	before := strings.TrimRight(s[:at], " \t")
	return before == "" || before[len(before)-1] == '\n' || before[len(before)-1] == '>'
}

// standsAlone says whether an element begins and ends on a line's edge.
func standsAlone(s string, p pair) bool {
	after := strings.TrimLeft(s[p.close.end:], " \t\r")
	return beginsLine(s, p.open.start) && (after == "" || after[0] == '\n' || after[0] == '<')
}
