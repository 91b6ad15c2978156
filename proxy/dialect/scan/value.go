package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// Skip takes the next value, whatever it is, and returns where it stood.
func (c *Cursor) Skip() (start, end int) {
	kind := c.Peek()
	start = c.pos
	switch kind {
	case Object:
		for c.Object(); c.Member(); {
			c.Skip()
		}
	case Array:
		for c.Array(); c.Element(); {
			c.Skip()
		}
	case String:
		c.str()
	case Number:
		c.number()
	case Bool:
		if c.data[c.pos] == 't' {
			c.word("true")
		} else {
			c.word("false")
		}
	case Null:
		c.word("null")
	default:
		c.Fail("value expected")
	}
	if c.fault != "" {
		return 0, 0
	}
	return start, c.pos
}

// Literal takes the next value. It returns a string's literal, quotes
// included, with its offset, and nil for any other value.
func (c *Cursor) Literal() (lit []byte, start int) {
	if c.Peek() != String {
		c.Skip()
		return nil, 0
	}
	start = c.pos
	return c.str(), start
}

// Text takes the next value: a string decoded, anything else as "".
func (c *Cursor) Text() string {
	lit, _ := c.Literal()
	return Unquote(lit)
}

// True takes the next value and says whether it is true.
func (c *Cursor) True() bool {
	start, end := c.Skip()
	return string(c.data[start:end]) == "true"
}

// Int takes the next value: a whole number that fits, however it is written;
// anything else is not ok.
func (c *Cursor) Int() (n int, ok bool) {
	if c.Peek() != Number {
		c.Skip()
		return 0, false
	}
	start, end := c.Skip()
	s := unsafe.String(unsafe.SliceData(c.data[start:end]), end-start)
	if n, err := strconv.Atoi(s); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

func (c *Cursor) word(w string) {
	if !bytes.HasPrefix(c.data[c.pos:], []byte(w)) {
		c.Fail("value expected")
		return
	}
	c.pos += len(w)
}

// str takes a string and returns its literal. The cursor stands at the quote.
func (c *Cursor) str() []byte {
	data, start := c.data, c.pos
	i := start + 1
	var high uint64 // collects the bytes, to see whether all were ASCII
	for {
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i:])
			if m := special(w); m != 0 {
				n := bits.TrailingZeros64(m) >> 3
				high |= w & (1<<(8*n) - 1)
				i += n
				break
			}
			high |= w
			i += 8
		}
		for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' {
			high |= uint64(data[i])
			i++
		}
		switch {
		case i >= len(data):
			c.pos = len(data)
			c.Fail("string ends early")
			return nil
		case data[i] == '"':
			c.pos = i + 1
			lit := data[start:c.pos]
			if high&lanes(0x80) != 0 && !c.tolerant && !utf8.Valid(lit) {
				c.Fail("invalid UTF-8")
				return nil
			}
			return lit
		case data[i] == '\\':
			n := escape(data[i:])
			if n == 0 {
				c.pos = i
				c.Fail("invalid escape")
				return nil
			}
			i += n
		default:
			c.pos = i
			c.Fail("control character in a string")
			return nil
		}
	}
}

// lanes repeats a byte eight times.
func lanes(b byte) uint64 { return uint64(b) * 0x0101010101010101 }

// special marks the first of eight bytes that is a quote, a backslash or a
// control character, by the top bit of its lane. Lanes above it may be marked
// wrongly, because the subtractions borrow.
func special(w uint64) uint64 {
	below := w - lanes(' ')
	quote, slash := (w^lanes('"'))-lanes(1), (w^lanes('\\'))-lanes(1)
	return (below | quote | slash) &^ w & lanes(0x80)
}

// escape is the length of the escape sequence at the head of b, 0 if it isn't
// one.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// number takes a number. The cursor stands at its first byte.
func (c *Cursor) number() {
	if c.data[c.pos] == '-' {
		c.pos++
	}
	if c.pos < len(c.data) && c.data[c.pos] == '0' {
		c.pos++
	} else {
		c.digits()
	}
	if c.pos < len(c.data) && c.data[c.pos] == '.' {
		c.pos++
		c.digits()
	}
	if c.pos < len(c.data) && c.data[c.pos]|0x20 == 'e' {
		c.pos++
		if c.pos < len(c.data) && (c.data[c.pos] == '+' || c.data[c.pos] == '-') {
			c.pos++
		}
		c.digits()
	}
}

func (c *Cursor) digits() {
	start := c.pos
	for c.pos < len(c.data) && c.data[c.pos] >= '0' && c.data[c.pos] <= '9' {
		c.pos++
	}
	if c.pos == start {
		c.Fail("digit expected")
	}
}
