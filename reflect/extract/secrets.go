package extract

import (
	"regexp"
	"slices"
	"strings"
)

// removed stands where a secret stood.
const removed = "[removed]"

var (
	// keyShapes are credentials that can be told by their form where the kept
	// rules want more of it: shorter ones, cut ones, keys without their end.
	keyShapes = regexp.MustCompile(strings.Join([]string{
		`\bsk-[A-Za-z0-9_-]{12,}`,                              // OpenAI, Anthropic and their like
		`\b[spr]k_(?:live|test)_[A-Za-z0-9]{10,}`,              // Stripe
		`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,                        // AWS, documentation keys too
		`\bgh[pousr]_[A-Za-z0-9]{16,}`,                         // GitHub
		`\bglpat-[A-Za-z0-9_-]{16,}`,                           // GitLab
		`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                     // Slack
		`\bAIza[0-9A-Za-z_-]{30,}`,                             // Google
		`\bya29\.[0-9A-Za-z_-]{20,}`,                           //
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
	// idRun is what may be a Chinese citizen's number, labelled a US one.
	idRun   = regexp.MustCompile(`\b[1-9]\d{5}(?:19|20)\d{9}[\dXx]\b`)
	ssn     = regexp.MustCompile(`(?i)(\b(?:ssn|social security(?: (?:number|no\.?))?)\b\D{0,12})(\d{3}[- ]?\d{2}[- ]?\d{4})\b`)
	cardRun = regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`)
)

// states are what a password can be without being told.
var states = strings.Fields(`wrong invalid expired missing correct required incorrect weak strong broken not too the in a an
stored set empty encrypted needed ok okay fine secure safe bad good gone here there optional different same lost old new
unset null none reset changed hashed rotated revoked limited never always still being no only what where how why when
written kept managed on for to at by my your our their long short case-sensitive rejected refused accepted ignored`)

// HoldsSecret says whether a text holds a password, a key, a card number or
// another thing that must not be remembered, or held one until it was recorded.
func HoldsSecret(s string) bool { return strings.Contains(s, removed) || Redact(s) != s }

// Redact takes secrets out of a text: what people call one in English and
// Chinese, what has the form of one, and what the kept rules of gitleaks find.
// It runs before a text is shown to a model and before anything is kept: on every
// text that passes, so an expression is tried only where its words stand.
func Redact(s string) string {
	low := strings.ToLower(s)
	holds := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	if holds(keyMarks) {
		s = keyShapes.ReplaceAllString(s, removed)
	}
	if strings.Contains(s, "://") {
		s = userInfo.ReplaceAllString(s, "$1:"+removed+"@")
	}
	for _, by := range []struct {
		*regexp.Regexp
		words []string
	}{{said, saidMarks}, {saidToken, tokenMarks}, {saidHan, hanMarks}} {
		if !holds(by.words) {
			continue
		}
		s = by.ReplaceAllStringFunc(s, func(hit string) string {
			m := by.FindStringSubmatch(hit)
			value := strings.TrimRight(m[2], ".!?")
			if value == "" || value == removed || by.Regexp == said && slices.Contains(states, strings.ToLower(value)) {
				return hit
			}
			return m[1] + removed + m[2][len(value):]
		})
	}
	if digits(s) >= cardDigits {
		s = cardRun.ReplaceAllStringFunc(s, func(run string) string {
			if luhn(run) {
				return removed
			}
			return run
		})
	}
	if digits(s) >= idDigits {
		s = ssn.ReplaceAllString(s, "${1}"+removed)
		s = idRun.ReplaceAllStringFunc(s, func(run string) string {
			if citizen(run) {
				return removed
			}
			return run
		})
	}
	if !holdsRun(s) {
		return s
	}
	return leakRules().redact(s)
}

// How many digits a card's number, and any person's, has at least.
const (
	cardDigits = 13
	idDigits   = 9
)

// citizen is the check sum of a Chinese citizen's number.
func citizen(s string) bool {
	sum := 0
	for i, weight := range []int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2} {
		sum += int(s[i]-'0') * weight
	}
	return "10X98765432"[sum%11:][:1] == strings.ToUpper(s[17:])
}

func digits(s string) (n int) {
	for i := range len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			n++
		}
	}
	return n
}

// The words of which one stands wherever an expression finds something, in lower
// case.
var (
	keyMarks = []string{
		"sk-", "k_live_", "k_test_", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "xox", "aiza", "ya29.", "eyj", "private key", "bearer",
	}
	saidMarks  = []string{"passw", "passphrase", "passcode", "pwd", "key", "secret", "token", "pin", "cvv", "otp"}
	tokenMarks = []string{"token"}
	hanMarks   = []string{"密", "口令", "钥", "令牌", "验证码", "暗号"}
)

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
	return n >= cardDigits && sum%10 == 0
}
