package responses

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// refused takes the next value and says whether it is false.
func (s *scanner) refused() bool {
	start, end := s.Skip()
	return string(s.req.Body[start:end]) == "false"
}

// tools takes the list of tools; an empty one is none.
func (s *scanner) tools() {
	if s.Peek() != scan.Array {
		s.Skip()
		return
	}
	for s.Array(); s.Element(); s.Skip() {
		s.req.HasTools = true
	}
}

// conversation takes the name of a conversation that the provider keeps: a
// string, or an object that holds it.
func (s *scanner) conversation() {
	if s.Peek() != scan.Object {
		s.req.Conversation = s.Text()
		return
	}
	var seen uint64
	s.within("id", func() {
		s.Once(&seen, 0)
		s.req.Conversation = s.Text()
	})
}

// format takes text.format: every type but text binds the answer's form.
func (s *scanner) format() {
	if s.Peek() != scan.Object {
		s.Skip()
		return
	}
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type":
			if t := s.Text(); t != "" && t != "text" {
				s.req.Structured = true
			}
		case "schema":
			s.within("properties", s.properties)
		default:
			s.Skip()
		}
	}
}

// properties keeps the names of a schema's properties.
func (s *scanner) properties() {
	if s.Peek() != scan.Object {
		s.Skip()
		return
	}
	for s.Object(); s.Member(); s.Skip() {
		s.req.SchemaKeys = append(s.req.SchemaKeys, string(s.Name()))
	}
}

// toolChoice takes a word, or an object that names a tool or tools. An object
// forces one, unless its type or mode leaves the model free.
func (s *scanner) toolChoice() {
	if s.Peek() != scan.Object {
		switch s.Text() {
		case "required", "any":
			s.req.Structured = true
		}
		return
	}
	forced := true
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type", "mode":
			switch s.Text() {
			case "auto", "none":
				forced = false
			}
		default:
			s.Skip()
		}
	}
	s.req.Structured = s.req.Structured || forced
}

// within takes a value and calls take for one member of it, where it is an
// object that has it.
func (s *scanner) within(name string, take func()) {
	if s.Peek() != scan.Object {
		s.Skip()
		return
	}
	for s.Object(); s.Member(); {
		if string(s.Name()) == name {
			take()
		} else {
			s.Skip()
		}
	}
}

// texts takes an object and keeps its members that are strings. A name that
// stands twice is a fault: it may say who the user is.
func (s *scanner) texts() map[string]string {
	if s.Peek() != scan.Object {
		s.Skip()
		return nil
	}
	var all map[string]string
	for s.Object(); s.Member(); {
		name := string(s.Name())
		lit, _ := s.Literal()
		if lit == nil {
			continue
		}
		if _, twice := all[name]; twice {
			s.Fail("duplicate key")
		}
		if all == nil {
			all = make(map[string]string)
		}
		all[name] = dialect.Unquote(lit)
	}
	return all
}
