// Package sse cuts a byte stream into server-sent events. A [Splitter] takes
// the stream in pieces as they come, down to single bytes, and hands out the
// same events whatever the pieces; [Events] is the same over a stream that is
// already whole. The bytes are only read: what a client gets is never made
// from events. Lines end in CR, LF or CRLF; comments, ids and retry times are
// left out, as nothing here needs them.
package sse

import (
	"bytes"
	"iter"
)

// Event is one event with at least one data line.
type Event struct {
	Name []byte // of the event line, nil without one
	Data []byte // the data lines, joined by LF
}

// Splitter finds the events of one stream. The zero Splitter stands at the
// stream's beginning. It keeps the unfinished event alone.
type Splitter struct {
	line []byte // head of a line whose end hasn't come
	data []byte
	name []byte

	hasData bool
	started bool // the first line is over, where a byte order mark may stand
	skipLF  bool // the last piece ended in a CR, which may be half a CRLF
}

// Push takes the next piece and calls yield for each event that it ends. The
// event is only valid inside the call.
func (s *Splitter) Push(piece []byte, yield func(Event)) {
	if s.skipLF && len(piece) > 0 {
		s.skipLF = false
		if piece[0] == '\n' {
			piece = piece[1:]
		}
	}
	lf := -2 // where the next LF stands in piece; -1: nowhere, -2: not looked for
	for len(piece) > 0 {
		if lf == -2 {
			lf = bytes.IndexByte(piece, '\n')
		}
		upTo := piece
		if lf >= 0 {
			upTo = piece[:lf]
		}
		end, next := lf, lf+1
		if cr := bytes.IndexByte(upTo, '\r'); cr >= 0 {
			end, next = cr, cr+1
			if next == len(piece) {
				s.skipLF = true
			} else if next == lf {
				next++
			}
		}
		if end < 0 {
			s.line = append(s.line, piece...)
			return
		}
		s.endLine(piece[:end], yield)
		piece = piece[next:]
		if lf >= 0 {
			if lf -= next; lf < 0 {
				lf = -2
			}
		}
	}
}

// Close says that the stream is over. An event that lacks only its blank line
// is handed out too: a client that reads by line has seen it.
func (s *Splitter) Close(yield func(Event)) {
	if len(s.line) > 0 {
		s.endLine(nil, yield)
	}
	s.dispatch(yield)
}

// endLine takes the end of a line; its head may wait in s.line.
func (s *Splitter) endLine(tail []byte, yield func(Event)) {
	line := tail
	if len(s.line) > 0 {
		s.line = append(s.line, tail...)
		line = s.line
	}
	if !s.started {
		s.started = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if len(line) == 0 {
		s.dispatch(yield)
	} else {
		s.field(line)
	}
	s.line = s.line[:0]
}

func (s *Splitter) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.hasData = true
		s.data = append(s.data, value...)
	case "event":
		s.name = append(s.name[:0], value...)
	}
}

func (s *Splitter) dispatch(yield func(Event)) {
	if s.hasData {
		e := Event{Data: s.data}
		if len(s.name) > 0 {
			e.Name = s.name
		}
		yield(e)
	}
	s.data, s.name, s.hasData = s.data[:0], s.name[:0], false
}

// Events are the events of a whole stream, or of the part of one that has
// come. An event is only valid until the next.
func Events(stream []byte) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var s Splitter
		more := true
		each := func(e Event) { more = more && yield(e) }
		s.Push(stream, each)
		s.Close(each)
	}
}
