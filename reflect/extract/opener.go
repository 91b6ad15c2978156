package extract

import (
	"regexp"
	"strings"
)

var (
	// greeting stands at the head of a sentence and says nothing in it.
	greeting = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|thanks|thank you|ok|okay|well|so|and|also|btw|by the way|oh|yes|sure|great|please note|fyi|just so you know|for context|actually|right|(?:one more|another|one last) thing|as (?:you know|i (?:said|told you|mentioned)(?: before| earlier)?))\b[\s,.!:;-]*)+|^(?:(?:你好|您好|嗨|谢谢|好的|对了|顺便说一下|另外|还有|其实|如你所知|前面说过|之前说过|嗯|哦|那么|麻烦)[\s，,。！：:；]*)+`)
	// correction opens a sentence that puts something right. Most of these words
	// mean something else where no pause follows ("no meat", 不是我), so that one
	// has to follow, or the speaker's own "my" or "I".
	correction = regexp.MustCompile(`(?i)^(?:` + correctionEn + `)(?:\s*(?:[,.!:;…]|\s[-–—]|[-–—]\s)[\s,.!:;…–—-]*|\s+((?:my|our|i|we|i'm|i've)\b))` +
		`|^(?:` + correctionZh + `)(?:[\s，,。.！!：:；;、…]+|(我))`)
	// before finds such an opener at the end of what stands before a quote.
	before = regexp.MustCompile(`(?i)(?:^|[.!?。！？\n]\s*|\b(?:well|oh|hi|hey|ok|okay),?\s+)(?:` + correctionEn + `|actually)[\s,.!:;…–—-]*$|(?:^|[.!?。！？，\n]\s*)(?:` + correctionZh + `|其实)[\s，,。.！!：:；;、…]*$`)
)

const (
	correctionEn = `sorry|so sorry|apologies|my (?:bad|mistake|apologies)|oops|whoops|wait|hold on|hang on|no|nope|no wait|not quite|correction|(?:a )?(?:small |quick )?correction|scratch that|strike that|let me correct (?:that|myself)|to correct (?:that|myself)|i (?:misspoke|mistyped|was wrong|made a (?:mistake|typo)|meant(?: to say)?|mean|got (?:that|it) wrong)|that(?:'s| was| is) (?:wrong|not right|a typo|a mistake|incorrect)|wrong|typo|edit|update|i take that back`
	correctionZh = `(?:非常|实在)?抱歉|对不起|不好意思|不对|不是|不不+|错了|(?:我)?(?:刚才|刚刚|之前|上次)?(?:说|打|写|记|搞|弄|讲)错了|(?:我)?(?:要)?(?:更正|纠正|订正|修正)(?:一下)?|等等|等一下|等下|应该说|哎呀?|口误|笔误`
)

// headless takes greetings and openers off the head of a sentence.
func headless(s string) string {
	for {
		s = strings.TrimSpace(s)
		p := plain(s)
		if at := greeting.FindStringIndex(p); at != nil && at[1] > 0 {
			s = s[at[1]:]
			continue
		}
		at := correction.FindStringSubmatchIndex(p)
		if at == nil {
			return s
		}
		end := at[1]
		for _, g := range [][2]int{{at[2], at[3]}, {at[4], at[5]}} {
			if g[0] >= 0 { // the speaker's own words begin here
				end = g[0]
			}
		}
		s = s[end:]
	}
}

// PutsRight says whether a message begins by putting right what was said before.
func PutsRight(message string) bool {
	return correction.MatchString(plain(strings.TrimSpace(message)))
}

// corrects says whether a message puts right with these words what was said
// before: an opener stands before them, or at their head.
func corrects(text, quote string) bool {
	if correction.MatchString(plain(strings.TrimSpace(quote))) {
		return true
	}
	at := strings.Index(text, strings.TrimSpace(quote))
	return at > 0 && before.MatchString(plain(text[:at]))
}
