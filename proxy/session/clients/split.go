package clients

import "strings"

// split takes the known elements out of a text: what remains are the words,
// what outside knowledge they held is third. Where an element alone holds the
// words, everything outside it is the client's.
func (r *Rules) split(s, app string) (words string, third []string) {
	if strings.IndexByte(s, '<') < 0 {
		return s, nil
	}
	found := r.pairs(s, app)
	var inside, outside strings.Builder
	pos := 0
	for _, p := range found {
		if !p.only || p.open.start < pos {
			continue
		}
		outside.WriteString(s[pos:p.open.start])
		w, t := r.takeOut(s[p.open.end:p.close.start], app)
		inside.WriteString(strings.TrimSpace(w))
		inside.WriteByte('\n')
		third = append(third, t...)
		pos = p.close.end
	}
	if pos == 0 {
		return takeOut(s, found)
	}
	outside.WriteString(s[pos:])
	rest, t := r.takeOut(outside.String(), app)
	return inside.String(), append(append(third, t...), rest)
}

func (r *Rules) takeOut(s, app string) (string, []string) { return takeOut(s, r.pairs(s, app)) }

// takeOut copies a text without its elements, those to unwrap without their
// tags. An element inside one that is gone is gone with it.
func takeOut(s string, found []pair) (rest string, third []string) {
	if len(found) == 0 {
		return s, nil
	}
	var b strings.Builder
	pos := 0
	var ends []tag // closing tags of the elements that are being unwrapped
	copyTo := func(at int) {
		for len(ends) > 0 && ends[len(ends)-1].start < at {
			e := ends[len(ends)-1]
			ends = ends[:len(ends)-1]
			if e.start >= pos {
				b.WriteString(s[pos:e.start])
				pos = e.end
			}
		}
		if at > pos {
			b.WriteString(s[pos:at])
		}
	}
	for _, p := range found {
		if p.open.start < pos {
			continue
		}
		copyTo(p.open.start)
		pos = p.close.end
		switch p.do {
		case Unwrap:
			pos = p.open.end
			ends = append(ends, p.close)
		case ThirdParty:
			third = append(third, s[p.open.end:p.close.start])
		}
	}
	copyTo(len(s))
	return b.String(), third
}

// cutHead removes an element from the very beginning of a text: a known one
// that isn't the person's, or an unknown one with a long body, which is what
// the next client will put there. Then it is at most that element's text that
// counts as outside knowledge.
func (r *Rules) cutHead(s, app string) (rest, third string, ok bool) {
	if s == "" || s[0] != '<' {
		return s, "", false
	}
	open, ok := readTag(s, 0)
	if !ok || open.closing {
		return s, "", false
	}
	el, known := r.elements.find(open.name, app)
	end, ok := closing(s, open, known)
	if !ok {
		return s, "", false
	}
	body := s[open.end:end.start]
	switch {
	case !known && len(body) <= longBody, known && (el.do == Keep || el.do == Unwrap),
		el.block && !standsAlone(s, pair{open: open, close: end}):
		return s, "", false
	case !known || el.do == ThirdParty:
		third = body
	}
	return s[end.end:], third, true
}

// closing finds the closing tag of open, elements of the same name inside it
// counted; where the tag is a known one, only those that begin a line.
func closing(s string, open tag, known bool) (tag, bool) {
	depth := 1
	for pos := open.end; ; {
		i := strings.IndexByte(s[pos:], '<')
		if i < 0 {
			return tag{}, false
		}
		pos += i
		t, ok := readTag(s, pos)
		switch {
		case !ok:
			pos++
			continue
		case t.name == open.name && t.closing:
			depth--
		case t.name == open.name && (!known || beginsLine(s, pos)):
			depth++
		}
		if depth == 0 {
			return t, true
		}
		pos = t.end
	}
}
