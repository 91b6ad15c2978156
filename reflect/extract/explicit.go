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
	remember = regexp.MustCompile(`(?i)^(?:(?:please|pls|kindly|also|just|can you|could you|would you|will you|i want you to|i need you to|i'd like you to|i would like you to|you (?:should|must|need to)|make sure (?:to|you)|be sure to|do)[\s,]+)*` +
		`(?:remember|memori[sz]e|(?:keep|bear) (?:this |that |it |these )?in mind|make a (?:mental )?note|take (?:a )?note|note down|don'?t forget|never forget|(?:save|add|store|put|commit) (?:this |that |it )?(?:in|to|into) (?:your )?memory)\b(?: (?:this|that|the following|of this|of that))?(?: (?:for (?:later|me|next time|the future)))?\s*[:：,，-]?\s*(.*)$`)
	politely   = `(?:请|麻烦|你|帮我|帮忙|给我|替我|以后|今后|顺便|千万|一定|务必|要|得|再)*`
	rememberZh = regexp.MustCompile(`^(?:我跟你说[，,])?` + politely + `(?:记住|记一下|记一个|记一条|记个|记下来|记下|记好|记着|牢记|别忘了|不要忘记|别忘记|记得|(?:把这(?:个|些|件事))?(?:记下来|存(?:到|进)(?:你的)?记忆(?:里|中)?))(?:这一点|这个|这件事|这些|了|哦|啊|：|:|，|,|\s)*(.*)$`)
	// enclosed names what is to be remembered inside the request.
	enclosed = regexp.MustCompile(`^` + politely + `把([^这那它，。]\S{2,}?)(?:这(?:件事|一点|个))?(?:给我|都)?(?:记住|记下来|记一下|存(?:到|进)(?:你的)?记忆(?:里|中)?)[。！!]*$`)
	// kindly is a request in the form of a question.
	kindly = regexp.MustCompile(`(?i)^(?:can|could|would|will) you (?:please )?(?:remember|keep in mind|memori[sz]e) that (?:i|my|our|we|i'm|i've)\b[^?]*\?$`)
	// behind is a request that stands behind what it is about.
	behind = regexp.MustCompile(`(?i)(?:[,;，；]|\s[-–—]+)\s*(?:please )?(?:remember (?:this|that|it)|keep (?:this|that|it) in mind|don'?t forget (?:this|that|it)|` + politely + `(?:记住|记一下|记下来|记下|记着|记好|别忘了)[哈哦啊吧呀了]*)[.!。！]*$`)
	// vague is what names a thing that was said elsewhere in the message.
	vague = regexp.MustCompile(`(?i)^(?:(?:this|that|it|these|those|the (?:above|following)|everything)(?: please)?|(?:my|our) \p{L}+|我的\p{Han}{2}|我(?:名字|生日|地址|电话|工号|邮箱|爱好|习惯|偏好|情况|要求))?[.!。！]*$`)
	past  = regexp.MustCompile(`(?i)^(?:when|how|what|the time|where|why|who|seeing|reading|if|back|(?:night|day|time|one|movie|show|song|guy|girl|summer|year|trip|story)\b)\b|^to breathe|^(?:吗|那|去年|前年|以前|当时|小时候|上次|有一?次|曾|好像|密码|账号|登录|我选项|单词)`)

	keepOut = regexp.MustCompile(`(?i)(?:^|[,;] ?)(?:please |pls |just |you |there's |i'd (?:rather|prefer) (?:it if )?you )*(?:do not|didn't|don'?t|never|no need to|(?:don'?t|do not) (?:need|have) to) (?:(?:remember|memori[sz]e) (?:this|that|it|any of (?:this|that)|what i|the above)|(?:save|store|record|keep|note|log|commit)(?: (?:a )?(?:record|track|note) of)? (?:this|that|it|any of (?:this|that)|what i (?:said|say|told)|the above)(?: (?:conversation|chat|part|bit|message|information|either|please|(?:in|to) (?:your )?memory))*\s*(?:[.,;:!]|$))` +
		`|\boff the record\b|^(?:please |pls )?(?:leave|keep) (?:this|that|it) out of (?:your )?memory\b|^(?:please |pls |just )*(?:do not|don'?t|never) write (?:this|that|it) down\b|^(?:please )?forget (?:that|about|my|what|it|everything|the|this)\b` +
		`|(?:^|[，,])(?:请|你|千万|麻烦)*(?:不要|别|不许|不准|不用|无需|不必|不需要|没必要|别去)(?:帮我|给我|再|把[^，。]{1,6})*(?:(?:记住|记录|记下来|记下|记得|记)(?:[这那它我了。！：:，,!]|刚才|以上|下来|$)|(?:保存|存)(?:这(?:段|些|次)?(?:对话|聊天|话|信息)|对话|聊天|(?:到|进)(?:你的)?记忆|下来))` +
		`|^(?:请|帮我)*(?:忘掉|忘了|忘记)(?:我|这|那|它|刚才|之前)|(?:这|那|刚才|以上|上面)[^，。]{0,8}(?:不用|不要|别|甭|无需)(?:再)?(?:记(?:录|住|下来|下|了|$|[。！，,])|保存$)|这(?:个|句|些|件事)?(?:话)?(?:不用|不要|别|就别)记`)
)

// asked returns what a sentence asks to remember, and whether it asks. An
// empty text means what stands before it in the message.
func asked(s string) (text string, ok bool) {
	p := plain(s) // as long as s
	if kindly.MatchString(p) {
		p = strings.TrimRight(p, "? ")
	}
	if strings.ContainsAny(p, "?？") || strings.HasSuffix(strings.TrimRight(p, "。！ "), "吗") {
		return "", false
	}
	if m := enclosed.FindStringSubmatchIndex(p); m != nil {
		return s[m[2]:m[3]], true
	}
	for _, re := range []*regexp.Regexp{remember, rememberZh} {
		if m := re.FindStringSubmatchIndex(p); m != nil && !past.MatchString(p[m[2]:m[3]]) {
			if text = strings.TrimSpace(s[m[2]:m[3]]); vague.MatchString(text) {
				text = ""
			} else if strings.HasPrefix(text, "to ") {
				text = s // "Remember to …" says it best as a whole
			}
			return text, true
		}
	}
	if at := behind.FindStringIndex(p); at != nil {
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
			at := keepOut.FindStringIndex(plain(s))
			if at == nil || strings.ContainsAny(s, "?？") {
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
