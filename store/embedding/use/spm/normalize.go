package spm

import (
	"bytes"
	"unicode/utf8"
)

// space stands for a space inside pieces (U+2581).
const space = "\u2581"

// Normalize appends the normal form of text, which must be valid UTF-8, to dst.
// The form of a text with nothing but white space is empty.
func (m *Model) Normalize(dst, text []byte) []byte {
	for len(text) > 0 {
		p, n := m.prefix(text)
		if string(p) != " " {
			break
		}
		text = text[n:]
	}
	if len(text) == 0 {
		return dst
	}
	start := len(dst)
	dst = append(dst, space...)
	afterSpace := true
	for len(text) > 0 {
		p, n := m.prefix(text)
		text = text[n:]
		if afterSpace {
			p = bytes.TrimLeft(p, " ")
		}
		if len(p) == 0 {
			continue
		}
		for _, c := range p {
			if c == ' ' {
				dst = append(dst, space...)
			} else {
				dst = append(dst, c)
			}
		}
		afterSpace = p[len(p)-1] == ' '
	}
	for len(dst) > start && bytes.HasSuffix(dst[start:], []byte(space)) {
		dst = dst[:len(dst)-len(space)]
	}
	return dst
}

// A unit of the double array has a label in its low byte (and bit 31 clear, if
// it is no leaf), in bit 8 whether a leaf hangs on it, and above that the offset
// to its children, in steps of 256 if bit 9 is set.
const (
	labelMask = 0x800000FF
	leafBit   = 0x100
	valueMask = 0x7FFFFFFF
)

func childrenOf(unit uint32) uint32 { return (unit >> 10) << ((unit & 0x200) >> 6) }

// prefix returns what the longest beginning of text that the map knows becomes,
// and that beginning's length; without one, the first character as it is. text
// is valid UTF-8 and not empty.
func (m *Model) prefix(text []byte) ([]byte, int) {
	units := uint32(len(m.Units) / 4)
	at := childrenOf(number(m.Units, 0))
	best, value := 0, uint32(0)
	for i := 0; i < len(text); i++ {
		at ^= uint32(text[i])
		if at >= units {
			break
		}
		unit := number(m.Units, int(at))
		if unit&labelMask != uint32(text[i]) {
			break
		}
		at ^= childrenOf(unit)
		if at >= units {
			break
		}
		if unit&leafBit != 0 {
			best, value = i+1, number(m.Units, int(at))&valueMask
		}
	}
	if best > 0 && int(value) < len(m.Texts) {
		to := m.Texts[value:]
		if end := bytes.IndexByte(to, 0); end >= 0 {
			return to[:end:end], best
		}
	}
	_, n := utf8.DecodeRune(text)
	return text[:n:n], n
}
