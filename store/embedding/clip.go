package embedding

import "unicode/utf8"

// clip keeps the first head and the last tail bytes of a longer text, cut at
// characters, as two words.
func clip(text string, head, tail int) string {
	if len(text) <= head+tail {
		return text
	}
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	if tail == 0 {
		return text[:head]
	}
	from := len(text) - tail
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[:head] + " " + text[from:]
}
