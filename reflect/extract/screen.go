package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// removed stands where a secret stood.
const removed = "[removed]"

var (
	// keyShapes are credentials that can be told by their form.
	keyShapes = regexp.MustCompile(strings.Join([]string{
		`\bsk-[A-Za-z0-9_-]{12,}`,                              // OpenAI, Anthropic and their like
		`\b[spr]k_(?:live|test)_[A-Za-z0-9]{10,}`,              // Stripe
		`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,                        // AWS
		`\bgh[pousr]_[A-Za-z0-9]{16,}`,                         // GitHub
		`\bgithub_pat_[A-Za-z0-9_]{20,}`,                       //
		`\bglpat-[A-Za-z0-9_-]{16,}`,                           // GitLab
		`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                     // Slack
		`\bAIza[0-9A-Za-z_-]{30,}`,                             // Google
		`\bya29\.[0-9A-Za-z_-]{20,}`,                           //
		`\bhf_[A-Za-z0-9]{20,}`,                                // Hugging Face
		`\bnpm_[A-Za-z0-9]{20,}`,                               // npm
		`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,         // SendGrid
		`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[\w-]*`, // JWT
		`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
		`(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{16,}`,
	}, "|"))
	// userInfo is a password inside an address.
	userInfo = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s:/@]+):([^\s/@]+)@`)
	// said is a secret that is called one. Its last group is the value.
	said = regexp.MustCompile(`(?i)(\b(?:pass(?:word|wd|phrase|code)|pwd|api[ _-]?key|(?:client[ _-]?secret|secret[ _-]?key)|(?:access|auth|bearer|refresh|api)[ _-]?token|private[ _-]?key|pin(?:[ _-]?code)?|cvv|otp)["']?\s*(?:is now|is|was|are|=|:)\s*["'` + "`" + `]?)([^\s"'` + "`" + `,;，。；]+)`)
	// saidToken is the same for a word that has other meanings: its value must look random.
	saidToken = regexp.MustCompile(`(?i)(\btoken["']?\s*(?:is|=|:)\s*["'` + "`" + `]?)([A-Za-z0-9._-]*\d[A-Za-z0-9._-]{7,})`)
	saidHan   = regexp.MustCompile(`((?:密码|口令|密钥|秘钥|令牌|验证码|暗号|私钥)(?:现在|改成了|改成|改为)?\s*(?:是|为|：|:|=)?\s*[「“"']?)([A-Za-z0-9!@#$%^&*._+=/-]{3,})`)
	cardRun   = regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`)
)

// states are what a password can be without being told.
var states = strings.Fields(`wrong invalid expired missing correct required incorrect weak strong broken not too the in a an
stored set empty encrypted needed ok okay fine secure safe bad good gone here there optional different same lost old new
unset null none reset changed hashed rotated revoked limited never always still being no only what where how why when
written kept managed on for to at by my your our their long short case-sensitive rejected refused accepted ignored`)

// HoldsSecret says whether a text holds a password, a key, a card number or
// another thing that must not be remembered.
func HoldsSecret(s string) bool { return Redact(s) != s }

// Redact takes secrets out of a text. It runs before a text is shown to a
// model and before anything is kept.
func Redact(s string) string {
	s = keyShapes.ReplaceAllString(s, removed)
	s = userInfo.ReplaceAllString(s, "$1:"+removed+"@")
	for _, re := range []*regexp.Regexp{said, saidToken, saidHan} {
		s = re.ReplaceAllStringFunc(s, func(hit string) string {
			m := re.FindStringSubmatch(hit)
			value := strings.TrimRight(m[2], ".!?")
			if value == "" || value == removed || re == said && slices.Contains(states, strings.ToLower(value)) {
				return hit
			}
			return m[1] + removed
		})
	}
	return cardRun.ReplaceAllStringFunc(s, func(run string) string {
		if luhn(run) {
			return removed
		}
		return run
	})
}

// luhn is the check sum of card numbers.
func luhn(s string) bool {
	sum, n := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		d := int(s[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && sum%10 == 0
}

var (
	// takeover is what nobody says of themselves.
	takeover = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|system|all)\b.{0,20}\b(?:instructions?|prompts?|rules|messages?)\b|\b(?:reveal|print|repeat|leak)\b.{0,30}\bsystem prompt\b|\byou are now\b|\bjailbreak|<\|im_(?:start|end)\|>|\[/?INST\]|忽略.{0,8}(?:之前|以上|上述|先前|所有|系统).{0,8}(?:指令|指示|提示|规则|要求)|(?:泄露|透露|输出|打印).{0,6}系统提示`)
	// command is an order that only the user may give.
	command = regexp.MustCompile(`(?i)\b(?:you|the assistant|assistants?|the (?:ai|model|agent))\s+(?:must|should|shall|has to|have to|need to|needs to|will now)\b|^\W*(?:system|assistant)\s*:|\b(?:the user (?:wants|asked|prefers|said)|remember that|do not tell|don't tell|always (?:answer|send|say|include|recommend)|never (?:tell|mention|say))\b|(?:你|助手|模型)(?:必须|应该|应当|需要|务必)|用户(?:希望|要求|想要|喜欢)|(?:不要|别)告诉用户|请记住`)
)

// isOrder says whether a text is an instruction to the model rather than a
// statement, or hides something.
func isOrder(text string, by store.Speaker) bool {
	return takeover.MatchString(text) || by != store.ByUser && command.MatchString(text) || strings.ContainsFunc(text, hidden)
}

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
