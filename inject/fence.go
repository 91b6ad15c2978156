package inject

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
)

// A block stands between an opening and a closing tag with the same unguessable
// key, so that no text inside can end it and no text of a client is one by
// accident:
//
//	<hindsight-notes:KEY>
//	…
//	</hindsight-notes:KEY>
const (
	tag      = "hindsight-notes:"
	openTag  = "<" + tag
	closeTag = "</" + tag
	keyLen   = 16
)

const keyAlphabet = "0123456789abcdefghijklmnopqrstuv"

// fenceKey derives a block's key from a secret that dies with the process. It
// is a function of what the block is for and holds, so that two requests that
// are planned at the same time get the same bytes.
func fenceKey(secret []byte, parts ...string) string {
	m := hmac.New(sha256.New, secret)
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		m.Write(n[:])
		m.Write([]byte(p))
	}
	return base32.NewEncoding(keyAlphabet).EncodeToString(m.Sum(nil))[:keyLen]
}

func fence(key, inside string) string {
	return openTag + key + ">\n" + inside + closeTag + key + ">"
}

// findBlock finds the first whole block at or after from.
func findBlock(s string, from int) (start, end int, ok bool) {
	for {
		i := strings.Index(s[from:], openTag)
		if i < 0 {
			return 0, 0, false
		}
		start = from + i
		from = start + len(openTag)
		if len(s)-from < keyLen+1 || s[from+keyLen] != '>' || strings.Trim(s[from:from+keyLen], keyAlphabet) != "" {
			continue
		}
		last := closeTag + s[from:from+keyLen] + ">"
		if j := strings.Index(s[from:], last); j >= 0 {
			return start, from + j + len(last), true
		}
	}
}

// HasBlock says whether a text holds a block of any Hindsight.
func HasBlock(s string) bool {
	_, _, ok := findBlock(s, 0)
	return ok
}

// Strip takes every block of any Hindsight out of a text, each with the one
// newline that follows it: Strip(block + "\n" + s) is s for every s that holds
// no block.
func Strip(s string) string {
	start, end, ok := findBlock(s, 0)
	if !ok {
		return s
	}
	var b strings.Builder
	at := 0
	for ok {
		b.WriteString(s[at:start])
		at = end
		if at < len(s) && s[at] == '\n' {
			at++
		}
		start, end, ok = findBlock(s, at)
	}
	b.WriteString(s[at:])
	return b.String()
}
