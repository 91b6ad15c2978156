package messages

import "hindsight/proxy/dialect/scan"

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

// maxTokens takes the limit of the answer's length, 0 for none that counts.
func (s *scanner) maxTokens() int {
	n, ok := s.Int()
	if !ok {
		return 0
	}
	return max(n, 0)
}

// toolChoice takes tool_choice: of its types any and tool force a call.
func (s *scanner) toolChoice() {
	s.within("type", func() {
		switch s.Text() {
		case "any", "tool":
			s.req.Structured = true
		}
	})
}

// format takes the form that an answer must have. The names of its schema's
// properties are kept.
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

func (s *scanner) properties() {
	if s.Peek() != scan.Object {
		s.Skip()
		return
	}
	for s.Object(); s.Member(); s.Skip() {
		s.req.SchemaKeys = append(s.req.SchemaKeys, string(s.Name()))
	}
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
