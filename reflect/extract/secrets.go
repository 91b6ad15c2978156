package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
		`(?s)-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`,
		`(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{16,}`,
		`(?i)\bauthorization["']?\s*[:=]\s*["']?basic\s+[A-Za-z0-9+/]{6,}={0,2}`,
	}, "|"))
	// userInfo is a password inside an address.
	userInfo = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s:/@]+):([^\s/@]+)@`)
	// called are secrets that people and settings call one, DB_PASSWORD and dbPassword
	// too. The last group of each is the value.
	called = []calling{
		{regexp.MustCompile(`(?i)(?:` + secretNames + `)(?:\\*["'])?(?: (?:for|of|to)(?: [\w-]+){1,3})?\s*(?:(?:is now|is|was|are)\s*[:=]?|=|:)\s*(?:\\*["'` + "`" + `])?([^\s"'` + "`" + `,;，。；]+)`), []cues{saidCues}, given},
		// Words that have other meanings, or no verb: the value must look random.
		{regexp.MustCompile(`(?i)\btoken["']?\s*(?:is|=|:)\s*["'` + "`" + `]?([A-Za-z0-9._-]*\d[A-Za-z0-9._-]{7,})`), []cues{tokenCues}, whole},
		{regexp.MustCompile(`(?i)(?:\b|_)(?:pass(?:word|wd|phrase|code)|pwd)(?:['’]s)?(?:\s*[:=]\s*|\s+)["'` + "`" + `]?([^\s"'` + "`" + `,;，。；]{6,})`), []cues{passCues}, mixed},
		{regexp.MustCompile(`(?i)(?:\bpw|(?:user|login|account|mail)[^\n]{0,60}\bpass)\s*[:=]\s*["'` + "`" + `]?([^\s"'` + "`" + `,;，。；]{6,})`), []cues{shortCues}, mixed},
		{regexp.MustCompile(`(?i)([^\s"'` + "`" + `,;，。；]{4,})["'` + "`" + `]? is (?:my|our|the) (?:[\w-]+ )?(?:pass(?:word|phrase|code)|pin)\b`), []cues{mineCues, pinCues}, mixed},
		{regexp.MustCompile(`(?i)(?:\bpassphrase|\b(?:seed|recovery|backup|mnemonic|secret) (?:phrase|words)|\bmnemonic|助记词)\s*(?:is now|is|was|are|=|:|：|是|为)?\s*["'“「]?((?:[a-z0-9]+[ -]){2,}[a-z0-9]+)`), []cues{phraseCues}, inWords},
		{regexp.MustCompile(`(?:密码|口令|密钥|秘钥|令牌|验证码|暗号|私钥)(?:现在|改成了|改成|改为)?\s*(?:是|为|：|:|=)?\s*[「“"']?([A-Za-z0-9!@#$%^&*._+=/-]{3,})`), []cues{hanCues}, whole},
		{regexp.MustCompile(`(?:密码|口令|暗号)\s*[：:=]\s*[「“"']?([^\s，。；、「」“”"']{3,})`), []cues{hanCues}, withDigit},
	}
	// idRun is what may be a Chinese citizen's number, labelled a US one.
	idRun   = regexp.MustCompile(`\b[1-9]\d{5}(?:19|20)\d{9}[\dXx]\b`)
	ssn     = regexp.MustCompile(`(?i)(\b(?:ssn|social security(?: (?:number|no\.?))?)\b\D{0,12})(\d{3}[- ]?\d{2}[- ]?\d{4})\b`)
	cardRun = regexp.MustCompile(`\b\d(?:[ .\x{a0}\x{2009}\x{202f}-]?\d){12,18}\b`)
)

// secretNames are the names of secrets, as a word, a setting or a field.
const secretNames = `(?:\b|_)(?:pass(?:word|wd|phrase|code)|pwd|api[ _-]?key|client[ _-]?secret|secret[ _-]?(?:access[ _-]?)?key|account[ _-]?key|(?:access|auth|bearer|refresh|api)[ _-]?token|private[ _-]?key)` +
	`|\b(?:pin(?:[ _-]?code)?|cvv|otp)|(?-i:\b[a-z]+(?:[A-Z][a-z]+)*(?:Password|Passphrase|ApiKey|SecretKey))`

// calling is one way of saying a secret: an expression, the sets of cues of each of
// which one must stand there, and how much of the value that it finds is one, 0 for
// nothing.
type calling struct {
	*regexp.Regexp
	needs []cues
	much  func(value string) int
}

func whole(value string) int { return len(strings.TrimRight(value, ".!?\\")) }

// given is the value that somebody says of a secret, if it says what it is and not how.
func given(value string) int {
	n := whole(value)
	if slices.Contains(states, strings.ToLower(value[:n])) {
		return 0
	}
	return n
}

// mixed is a value of letters and digits that is the name of nothing.
func mixed(value string) int {
	n := whole(value)
	if value = value[:n]; digits(value) == 0 || !strings.ContainsFunc(value, unicode.IsLetter) || algorithms.MatchString(value) {
		return 0
	}
	return n
}

var algorithms = regexp.MustCompile(`(?i)^\(?(?:sha-?\d|pbkdf2|argon2|md5|base64|oauth|utf-?\d|pkcs|aes|v?\d+[.)]|\w+\()`)

func withDigit(value string) int {
	if digits(value) == 0 {
		return 0
	}
	return len(value)
}

// inWords is a secret of three words or more, up to one that goes on with the
// sentence.
func inWords(value string) int {
	n, end, at := 0, 0, 0
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '-' }) {
		at += strings.Index(value[at:], word)
		if low := strings.ToLower(word); n > 0 && (slices.Contains(states, low) || slices.Contains(joins, low)) {
			break
		}
		at += len(word)
		n, end = n+1, at
	}
	if n < 3 {
		return 0
	}
	return end
}

// joins are words by which a sentence goes on.
var joins = strings.Fields("and but or so i we you it that this which who with from is was are were has have had should must can will if as")

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
	s = inPieces(s, said)
	if n := digitRun(s); n >= cardDigits {
		s = cardRun.ReplaceAllStringFunc(s, func(run string) string {
			if luhn(run) {
				return removed
			}
			return run
		})
		if n >= idDigits {
			s = idRun.ReplaceAllStringFunc(s, func(run string) string {
				if citizen(run) {
					return removed
				}
				return run
			})
		}
	}
	if !holdsRun(s) {
		return s
	}
	return leakRules().redact(s)
}

// said takes out what is called a secret, and what begins as one.
func said(s string) string {
	found := secretCues.in(s)
	if found.meets(keyCues) {
		s = keyShapes.ReplaceAllString(s, removed)
	}
	if strings.Contains(s, "://") {
		s = userInfo.ReplaceAllString(s, "$1:"+removed+"@")
	}
	for _, by := range called {
		if !found.meetsAll(by.needs) {
			continue
		}
		s = by.ReplaceAllStringFunc(s, func(hit string) string {
			at := by.FindStringSubmatchIndex(hit)
			if at == nil {
				return hit // it was one by what stands around it
			}
			value := hit[at[2]:at[3]]
			n := by.much(value)
			if n == 0 || strings.HasPrefix(value, removed) {
				return hit
			}
			return hit[:at[2]] + removed + value[n:] + hit[at[3]:]
		})
	}
	if found.meets(ssnCues) {
		s = ssn.ReplaceAllString(s, "${1}"+removed)
	}
	return s
}

// Long texts are read in pieces of so many bytes at least, each by the expressions
// whose cues it has. None reaches further than that behind its cue and over the end of
// a line; a private key may.
const pieceLeast, reach = 2 << 10, 256

// inPieces does something to the pieces of a text, which end with a line.
func inPieces(s string, do func(string) string) string {
	if len(s) <= 2*pieceLeast {
		return do(s)
	}
	var b strings.Builder
	for s != "" {
		n := cut(s)
		b.WriteString(do(s[:n]))
		s = s[n:]
	}
	return b.String()
}

func cut(s string) int {
	n := pieceLeast
	for len(s) > 2*pieceLeast {
		line := strings.IndexByte(s[n:], '\n')
		if line < 0 {
			break
		}
		n += line + 1
		if secretCues.in(s[n-reach:n]) != (cues{}) {
			continue
		}
		if strings.Contains(s[:n], "PRIVATE KEY") {
			break
		}
		return n
	}
	return len(s)
}

// digitRun is the most digits between which nothing stands but what may stand between
// those of a card's number, or a little more.
func digitRun(s string) (most int) {
	n, last := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			n, last = n+1, i
			most = max(most, n)
		case c >= utf8.RuneSelf && i-last <= 3, (c == ' ' || c == '.' || c == '-') && i-last == 1:
		default:
			n = 0
		}
	}
	return most
}

// How many digits a card's number and a citizen's have at least.
const (
	cardDigits = 13
	idDigits   = 17
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

var (
	secretCues finder

	keyCues = secretCues.knows(
		`\bsk-`, "k_live_", "k_test_", `\bakia`, `\basia`, `\bghp_`, `\bgho_`, `\bghu_`, `\bghs_`, `\bghr_`, `\bglpat-`, `\bxox`, `\baiza`, `\bya29.`, `\beyj`,
		"private key", `\bbearer\W`, `\bauthorization\W`)
	ssnCues  = secretCues.knows(`\bssn\W`, `\bsocial security\W`)
	saidCues = secretCues.knows(slices.Concat(passNames, []string{`\bpin\W`, `\bpincode`, `\bpin_`, `\bpinis`, `\bpinwas`, `\bpinare`, `\bcvv`, `\botp`},
		spelled("api secret private account", "key", "", " ", "_", "-"),
		spelled("client", "secret", "", " ", "_", "-"), spelled("secret", "access", "", " ", "_", "-"),
		spelled("access auth bearer refresh api", "token", "", " ", "_", "-"))...)
	tokenCues  = secretCues.knows(`\btoken\W`, `\btokenis`)
	passCues   = secretCues.knows(passNames...)
	shortCues  = secretCues.knows(`\bpass\W`, `\bpw\W`)
	mineCues   = secretCues.knows(`\bis my `, `\bis our `, `\bis the `)
	pinCues    = secretCues.knows(append([]string{`\bpin\W`}, passNames...)...)
	phraseCues = secretCues.knows(append(spelled("seed recovery backup mnemonic secret", "phrase words", " "), "passphrase", "mnemonic", "助记词")...)
	hanCues    = secretCues.knows("密码", "口令", "密钥", "秘钥", "令牌", "验证码", "暗号", "私钥")

	passNames = []string{"passw", "passphrase", "passcode", "pwd"}
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
