package extract

import "strings"

// MayAsk says whether a message can ask to remember or to forget something. It
// is asked of every message that passes, so it looks for pieces of the words
// without which nothing is asked for, in one pass: no more than 2 ns a byte.
func MayAsk(text string) bool {
	if len(text) > 4*longMessage {
		return false
	}
	for i := 0; i < len(text); i++ {
		switch text[i] | 0x20 {
		case 'm': // remember, memory, memorise; keep in mind
			if piece(text[i:], "mem") || piece(text[i:], "mind") {
				return true
			}
		case 'f':
			if piece(text[i:], "forg") {
				return true
			}
		case 'n': // note; what you know about me
			if piece(text[i:], "note") || piece(text[i:], "now about") {
				return true
			}
		case 0xe5 | 0x20, 0xe6 | 0x20, 0xe8 | 0x20:
			for _, word := range [...]string{"记", "記", "忘", "删", "刪", "清除", "抹"} {
				if strings.HasPrefix(text[i:], word) {
					return true
				}
			}
		}
	}
	return false
}

// piece says whether s begins with a word in lower case, whatever its own case.
func piece(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}
