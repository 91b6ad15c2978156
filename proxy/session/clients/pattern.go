package clients

import "strings"

const (
	// gap stands for anything in a pattern, gapBytes is how much.
	gap      = "…"
	gapBytes = 120
)

// pattern is a text with gaps.
type pattern []string

func newPattern(s string) pattern { return strings.Split(s, gap) }

// at matches at the beginning of s and returns where the match ends, or -1.
func (p pattern) at(s string) int {
	if !strings.HasPrefix(s, p[0]) {
		return -1
	}
	pos := len(p[0])
	for _, piece := range p[1:] {
		window := s[pos:min(len(s), pos+gapBytes+len(piece))]
		i := strings.Index(window, piece)
		if i < 0 {
			return -1
		}
		pos += i + len(piece)
	}
	return pos
}

// in says whether the pattern stands anywhere in s.
func (p pattern) in(s string) bool {
	for {
		i := strings.Index(s, p[0])
		if i < 0 {
			return false
		}
		if p.at(s[i:]) >= 0 {
			return true
		}
		if i+1 >= len(s) {
			return false
		}
		s = s[i+1:]
	}
}

// head returns the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
