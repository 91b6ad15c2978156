package llm

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// ErrNoJSON says that an answer holds no JSON object or array that the caller
// can use.
var ErrNoJSON = errors.New("no JSON of the wanted shape in the answer")

var thought = regexp.MustCompile(`(?s)^\s*<think(?:ing)?>.*?</think(?:ing)?>`)

// List finds the list of items that an answer holds and returns each item's
// JSON by itself, so that one bad item costs only itself. The list is the
// value of the member named items of an object, or a bare array of objects.
// Around it there may be prose, a code fence or a model's thoughts; trailing
// commas are forgiven, and of a list whose end is missing the whole items
// count. whole is the object that the list stood in, nil for a bare array or
// a cut one. An empty list is an answer, no list is [ErrNoJSON].
func List(answer, items string) (list []json.RawMessage, whole map[string]json.RawMessage, err error) {
	text := thought.ReplaceAllString(answer, "")
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			end, closed := value(text, at)
			if closed {
				var o map[string]json.RawMessage
				if json.Unmarshal(mend(text[at:end]), &o) == nil && o[items] != nil {
					if json.Unmarshal(o[items], &list) == nil {
						return list, o, nil
					}
				}
			}
			if name := strings.Index(text[at:end], `"`+items+`"`); name >= 0 {
				if open := strings.IndexByte(text[at+name:end], '['); open >= 0 {
					return elements(text[at+name+open:]), nil, nil
				}
			}
			if closed {
				at = end - 1 // an object of another kind: nothing inside it is the list
			}
		case '[':
			end, _ := value(text, at)
			if in := strings.TrimSpace(text[at+1 : end]); strings.HasPrefix(in, "{") || in == "]" {
				return elements(text[at:]), nil, nil
			}
		}
	}
	return nil, nil, ErrNoJSON
}

// elements cuts the objects out of an array, up to its end or as far as it
// goes. What isn't JSON stays in as a string, so that the caller can name it.
func elements(array string) []json.RawMessage {
	list := []json.RawMessage{}
	for at := 1; at < len(array); at++ {
		switch array[at] {
		case ']':
			return list
		case '{':
			end, closed := value(array, at)
			if !closed {
				return list
			}
			raw := mend(array[at:end])
			if !json.Valid(raw) {
				raw, _ = json.Marshal(array[at:end]) // a string always marshals
			}
			list = append(list, raw)
			at = end - 1
		}
	}
	return list
}

// value finds the end of the object or array that begins at at, strings
// skipped. closed is false if the text ends before it does.
func value(s string, at int) (end int, closed bool) {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(s), false
}

// mend drops commas before a closing bracket, outside strings.
func mend(s string) []byte {
	out := make([]byte, 0, len(s))
	in := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case in && c == '\\' && i+1 < len(s):
			out = append(out, c, s[i+1])
			i++
			continue
		case c == '"':
			in = !in
		case !in && c == ',':
			if rest := strings.TrimLeft(s[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}
