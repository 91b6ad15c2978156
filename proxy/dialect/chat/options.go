package chat

import "hindsight/proxy/dialect/scan"

// tools takes the list of tools or functions; an empty one is none.
func (s *scanner) tools() {
	if s.Peek() != scan.Array {
		s.Skip()
		return
	}
	for s.Array(); s.Element(); s.Skip() {
		s.req.HasTools = true
	}
}

// maxTokens takes a limit of the answer's length. Zero and below mean none to
// the servers that take them at all.
func (s *scanner) maxTokens() {
	n, ok := s.Int()
	if !ok || n <= 0 {
		return
	}
	if s.req.MaxTokens == 0 || n < s.req.MaxTokens {
		s.req.MaxTokens = n
	}
}

// demand takes an option that binds the answer's form wherever it says
// anything.
func (s *scanner) demand() {
	if k := s.Peek(); k != scan.Null && k != scan.None {
		s.req.Structured = true
	}
	s.Skip()
}

// responseFormat takes response_format: every type but text binds the form.
func (s *scanner) responseFormat() {
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
		case "json_schema":
			s.within("schema", s.schema)
		case "schema": // llama.cpp has it here
			s.schema()
		default:
			s.Skip()
		}
	}
}

// schema takes a JSON schema and keeps the names of its properties.
func (s *scanner) schema() {
	s.within("properties", func() {
		if s.Peek() != scan.Object {
			s.Skip()
			return
		}
		for s.Object(); s.Member(); s.Skip() {
			s.req.SchemaKeys = append(s.req.SchemaKeys, string(s.Name()))
		}
	})
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

// toolChoice takes tool_choice or the older function_call: a word, or an
// object that names a tool.
func (s *scanner) toolChoice() {
	if s.Peek() != scan.Object {
		switch s.Text() {
		case "required", "any":
			s.req.Structured = true
		}
		return
	}
	// An object names one tool, unless its type or mode leaves the model free.
	forced := true
	free := func() {
		switch s.Text() {
		case "auto", "none":
			forced = false
		}
	}
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type", "mode":
			free()
		case "allowed_tools":
			s.within("mode", free)
		default:
			s.Skip()
		}
	}
	s.req.Structured = s.req.Structured || forced
}
