package scan

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Unquote decodes a string literal, quotes included, that a cursor has found
// valid. Without escapes the result is a view of lit, which must not change
// afterwards. A surrogate without its other half becomes U+FFFD.
func Unquote(lit []byte) string {
	b := unquoted(lit)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Plain is [Unquote] of a literal that is known to hold no escapes.
func Plain(lit []byte) string {
	if len(lit) < 2 {
		return ""
	}
	return unsafe.String(&lit[1], len(lit)-2)
}

func unquoted(lit []byte) []byte {
	if len(lit) < 2 {
		return nil
	}
	in := lit[1 : len(lit)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	return AppendUnquoted(make([]byte, 0, len(in)), lit)
}

// AppendUnquoted is [Unquote] onto a buffer.
func AppendUnquoted(dst, lit []byte) []byte {
	if len(lit) < 2 {
		return dst
	}
	in := lit[1 : len(lit)-1]
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(dst, in...)
		}
		dst = append(dst, in[:i]...)
		in = in[i:]
		if in[1] != 'u' {
			dst = append(dst, plain(in[1]))
			in = in[2:]
			continue
		}
		r := hex4(in)
		in = in[6:]
		if utf16.IsSurrogate(r) {
			pair := utf16.DecodeRune(r, hex4(in))
			if pair != utf8.RuneError {
				in = in[6:]
			}
			r = pair
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// plain is what a one-letter escape stands for.
func plain(b byte) byte {
	switch b {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return b
	}
}

// hex4 reads the escape \uXXXX at the head of b; -1 if there is none.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, d := range b[2:6] {
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case d|0x20 >= 'a' && d|0x20 <= 'f':
			d = d | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

const hexDigits = "0123456789abcdef"

// EscapedLen is how many bytes [AppendEscaped] appends for s.
func EscapedLen(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"' || b == '\\' || b == '\n' || b == '\r' || b == '\t':
			n++
		case b < ' ':
			n += 5
		}
	}
	return n
}

// AppendEscaped appends s as the inside of a string literal, without quotes.
// Only what must be escaped is. s must be valid UTF-8, see [Clean].
func AppendEscaped(dst []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, s[done:i]...)
		done = i + 1
		switch b {
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '"', '\\':
			dst = append(dst, '\\', b)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return append(dst, s[done:]...)
}

// AppendQuoted appends s as a string literal.
func AppendQuoted(dst []byte, s string) []byte {
	return append(AppendEscaped(append(dst, '"'), Clean(s)), '"')
}

// Clean replaces invalid UTF-8, which must not get into a JSON text.
func Clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
