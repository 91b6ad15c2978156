package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hindsight/reflect/wording"
	"hindsight/store"
)

var (
	// takeover is what nobody says of themselves.
	takeover = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|system|all)\b.{0,20}\b(?:instructions?|prompts?|rules|messages?)\b|\b(?:reveal|print|repeat|leak)\b.{0,30}\bsystem prompt\b|\byou are now\b|<\|im_(?:start|end)\|>|\[/?INST\]|忽略.{0,8}(?:之前|以上|上述|先前|所有|系统).{0,8}(?:指令|指示|提示|规则|要求)|(?:泄露|透露|输出|打印).{0,6}系统提示`)
	// command is an order that only the user may give.
	command = regexp.MustCompile(`(?i)\b(?:you|the assistant|assistants?|the (?:ai|model|agent))\s+(?:must|should|shall|has to|have to|need to|needs to|will now)\b|^[^\p{L}\p{N}]*(?:system|assistant)\s*:|\b(?:the user (?:always |never |only )?(?:wants|asked|prefers|said|likes|trusts|loves|hates|accepts|agrees|agreed|authori[sz]e[sd]|confirm(?:s|ed)|consents?|allows|approve[sd]|has chosen)|remember that|do not tell|don't tell|always (?:answer|send|say|include|recommend)|never (?:tell|mention|say))\b|(?:你|助手|模型)(?:必须|应该|应当|需要|务必)|用户(?:已经?)?(?:希望|要求|想要|喜欢|偏好|只|信任|同意|授权|说|允许|确认)|(?:不要|别)告诉用户|请记住`)
)

// isOrder says whether a text is an instruction to the model rather than a
// statement, or hides something.
func isOrder(text string, by store.Speaker) bool {
	plain := unmasked(text)
	return takeover.MatchString(plain) || by != store.ByUser && command.MatchString(plain) || strings.ContainsFunc(text, hidden)
}

// unquoted is a text without quoted speech.
func unquoted(s string) string { return spoken.ReplaceAllString(s, " ") }

// hidden are characters that people don't see: direction overrides, tags,
// zero-width signs, selectors that carry bytes. The joiners of emoji and of
// scripts that need them are none.
func hidden(r rune) bool {
	return r >= 0xe0000 && r <= 0xe01ef || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0x200b || r == 0xfeff || r == 0x180e ||
		unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' && r != '\r'
}

// visible is a text without its hidden characters, as a model is shown it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

// smuggled says whether hidden characters stand in the sentence of a quote.
func smuggled(text, quote string) bool {
	if !strings.ContainsFunc(text, hidden) {
		return false
	}
	return slices.ContainsFunc(split(text), func(s string) bool {
		plain := visible(s)
		return strings.ContainsFunc(strings.Trim(s, "\ufeff"), hidden) && (wording.Contains(plain, quote) || wording.Contains(quote, plain))
	})
}

// marks are words of the prompt's examples that nobody else uses.
var marks = []string{"zorblatt", "quimby", "vexmoor", "gribblectl", "70707", "plimsoul", "ostragon", "青鸢岛", "云豹", "墨九千"}

// fromExample says whether a text repeats the prompt's examples. A
// conversation that really holds such a word may speak of it.
func fromExample(text, evidence string) bool {
	return slices.ContainsFunc(marks, func(m string) bool {
		return wording.Contains(text, m) && !wording.Contains(evidence, m)
	})
}
