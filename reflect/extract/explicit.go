package extract

import (
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"hindsight/reflect/wording"
	"hindsight/store"
)

var (
	// remember is a request at the head of a sentence; what follows it is what
	// is to be remembered. A question isn't one, nor "I remember".
	remember   = regexp.MustCompile(`(?i)^(?:please|pls|can you|could you|i want you to|i need you to|you should|do)?[\s,]*(?:(?:remember|memori[sz]e|keep in mind|bear in mind|make a note|take a note|note down|don'?t forget|never forget|save (?:this|that) to (?:your )?memory|add (?:this|that)? ?to (?:your )?memory|store (?:this|that) in (?:your )?memory)\b(?: (?:this|that|the following|of this|of that))?(?: (?:for (?:later|me|next time|the future)))?\s*[:：,，-]?\s*)(.*)$`)
	rememberZh = regexp.MustCompile(`^(?:请|麻烦|麻烦你|请你|你要|你得|帮我|请帮我|一定要|务必|要)*(?:记住|记一下|记下来|记下|记好|牢记|别忘了|不要忘记|别忘记|记得)(?:这一点|这个|这件事|这些|了|哦|啊|：|:|，|,|\s)*(.*)$`)
	// behind is a request that stands behind what it is about.
	behind = regexp.MustCompile(`(?i)[,;，；]\s*(?:please )?(?:remember (?:this|that|it)|keep (?:this|that|it) in mind|don'?t forget (?:this|that|it)|请?(?:帮我)?(?:记住|记一下|记下来|别忘了))[.!。！]*$`)
	// vague is what names a thing that was said elsewhere in the message.
	vague = regexp.MustCompile(`(?i)^(?:(?:this|that|it|these|those|the (?:above|following)|everything)(?: please)?|(?:my|our) \p{L}+|我的?\p{Han}{2})?[.!。！]*$`)
	past  = regexp.MustCompile(`(?i)^(?:when|how|what|the time|where|why|seeing|reading|if)\b|^to breathe`)

	keepOut = regexp.MustCompile(`(?i)^(?:please |just )*(?:do not|don'?t|never) (?:remember|memori[sz]e|save|store|record|keep|note) (?:this|that|it|any of (?:this|that)|what i|the above)|\boff the record\b|^(?:please )?forget (?:that|about|my|what|it|everything|the|this)\b|^(?:请|你)*(?:不要|别|不用|无需|不必|别去)(?:再)?(?:记住|记录|记下|记得|保存|记|存)|^(?:请|帮我)*(?:忘掉|忘了|忘记)(?:我|这|那|它|刚才|之前)|这(?:个|句|些|件事)?(?:话)?(?:不用|不要|别|就别)记`)
)

// asked returns what a sentence asks to remember, and whether it asks. An
// empty text means what stands before it in the message.
func asked(s string) (text string, ok bool) {
	if strings.ContainsAny(s, "?？") || strings.HasSuffix(strings.TrimRight(s, "。！ "), "吗") {
		return "", false
	}
	for _, re := range []*regexp.Regexp{remember, rememberZh} {
		if m := re.FindStringSubmatch(s); m != nil && !past.MatchString(m[1]) {
			if text = strings.TrimSpace(m[1]); vague.MatchString(text) {
				text = ""
			} else if strings.HasPrefix(text, "to ") {
				text = s // "Remember to …" says it best as a whole
			}
			return text, true
		}
	}
	if at := behind.FindStringIndex(s); at != nil {
		return strings.TrimSpace(s[:at[0]]), true
	}
	return "", false
}

// explicit finds what the user asked to remember, in so many words. It is kept
// whatever the thresholds; secrets and orders to the model are not.
func explicit(m Material) Result {
	var res Result
	for i, e := range m.Events {
		if e.Role != User || e.Untrusted || utf8.RuneCountInString(e.Text) > longMessage {
			continue
		}
		all := sentences(e.Text)
		for j, s := range all {
			text, ok := asked(s)
			if !ok {
				continue
			}
			if text == "" {
				text = strings.Join(all[:j], " ") // "My badge is 4411. Remember that."
			}
			if text == "" && j+1 < len(all) {
				text = strings.Join(all[j+1:], " ") // "Remember this:" and a new line
			}
			if text == "" {
				continue
			}
			c := stated(m, i, text, text)
			c.Explicit, c.Importance, c.Confidence = true, askedImportance, askedConfidence
			res.own(c)
		}
	}
	return res
}

// Asked is what the user asked to remember in these events, in so many words.
func Asked(m Material) Result { return explicit(m) }

// own takes a statement of the user's own, unless it holds a secret; what may be
// an order to the model is held.
func (r *Result) own(c Candidate) {
	reason := refused(c.Quote)
	switch {
	case reason == "" || reason == Instruction && !isOrder(unquoted(c.Quote), store.ByUser):
		r.Candidates = append(r.Candidates, c)
		return
	case reason == Instruction:
		c.Why = reason
		r.Held = append(r.Held, c)
	}
	r.Dropped = append(r.Dropped, drop(c.Quote, reason, c.Turn))
}

// refused screens a text of the user's own.
func refused(text string) string {
	switch {
	case HoldsSecret(text):
		return Secret
	case isOrder(text, store.ByUser):
		return Instruction
	}
	return ""
}

// Keepable leaves out the turns that the user asked not to remember, with
// everything in them: a message that holds nothing but the request means the
// turn before it. Of what is to be forgotten nothing that was said before is
// material either, nor is the request.
func Keepable(events []Event) (kept []Event, dropped []store.Dropped) {
	out := keptOut(events)
	maps.Copy(out, forgotten(events))
	if len(out) == 0 {
		return events, nil
	}
	for _, e := range events {
		if !out[e.Turn] {
			kept = append(kept, e)
		}
	}
	return kept, []store.Dropped{{Reason: KeptOut}}
}

// keptOut are the turns that the user asked not to remember.
func keptOut(events []Event) map[int]bool {
	out := map[int]bool{}
	for _, e := range events {
		runtime.Gosched() // requests go first
		if e.Role != User || e.Untrusted {
			continue
		}
		all := sentences(e.Text)
		for _, s := range all {
			at := keepOut.FindStringIndex(s)
			if at == nil {
				continue
			}
			out[e.Turn] = true
			if len(all) == 1 && at[0] == 0 && wording.Weight(s[at[1]:]) <= 6 {
				out[e.Turn-1] = true
			}
		}
	}
	return out
}

// forgotten are the turns that ask to forget something, and those before in
// which it was said.
func forgotten(events []Event) map[int]bool {
	out := map[int]bool{}
	for i, e := range events {
		if e.Role != User || e.Untrusted {
			continue
		}
		for _, f := range Forgets(e.Text) {
			out[e.Turn] = true
			for _, before := range events[:i] {
				if !f.All && slices.ContainsFunc(sentences(before.Text), f.Fits) {
					out[before.Turn] = true
				}
			}
		}
	}
	return out
}
