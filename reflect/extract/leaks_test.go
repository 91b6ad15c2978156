package extract

import (
	"strings"
	"testing"
)

// Keys that only the kept rules know, in the middle of talk in both languages.
// They are made up, of the form that the rules want.
func TestKeptRulesForSecrets(t *testing.T) {
	for text, secret := range map[string]string{
		"the token 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 is of the model hub":              "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",
		"npm_q8Zt3LmV0rXn5KdY7sWb2HcJ4fGa6PeU1iTo was in the log":                          "npm_q8Zt3LmV0rXn5KdY7sWb2HcJ4fGa6PeU1iTo",
		"日志里有 dop_v1_4f9c1e7a2b8d3056c1f4a7e9b2d6308c5f1a4e7b9d2c6083f5a1e4b7d9c2f608，怎么办": "dop_v1_4f9c1e7a2b8d3056c1f4a7e9b2d6308c5f1a4e7b9d2c6083f5a1e4b7d9c2f608",
		"const secret_key = \"Zq83mVx0Rn5KdY7sWb2HcJ4f\"":                                  "Zq83mVx0Rn5KdY7sWb2HcJ4f",
		"看 https://hooks.slack.com/services/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":  "q8Zt3LmV0rXn5KdY7sWb2HcJ",
		"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":            "cJ4fGa6PeU1iTo",
	} {
		if got := Redact(text); strings.Contains(got, secret) || !strings.Contains(got, removed) {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// What talk about keys and code is full of isn't one.
func TestTalkAboutKeysIsNoSecret(t *testing.T) {
	for _, text := range []string{
		"The primary key of orders is order_id, and the foreign key is customer_id.", "Our auth service uses OAuth2 with PKCE.", "I press the key combination Ctrl-Shift-P.",
		"token = os.environ[\"TOKEN\"]", "The access point is called Lumen-5G.", "The commit is 4f9c1e7a2b8d3056c1f4a7e9b2d6308c5f1a4e7b.",
		"digest: sha256:5be1c0ffee", "My badge is A3097 and my desk is 12.", "registry.lotus.cn/team/app:2.19.4", "主键是 order_id，外键是 customer_id。", "我们的登录用 OAuth2，令牌十五分钟过期。",
		"会话 id 是 01J9ZK3T5Q8M", "I use key-based login for all servers.", "The password policy wants 12 characters.", "密码要求至少十二位。",
	} {
		if got := Redact(text); got != text {
			t.Errorf("%s: taken for a secret: %s", text, got)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	for name, line := range map[string]string{
		"prose": "We talked about the access point, the api of the harbour authority and a key for the door. 我们谈了接口和钥匙。",
		"code":  "export ACCESS_API=https://registry.lotus.cn/team/app:2.19.4 # commit 4f9c1e7a2b8d3056c1f4a7e9b2d6308c5f1a4e7b\n",
	} {
		text := strings.Repeat(line, 30)
		Redact(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Redact(text)
			}
		})
	}
}

// A long text is read in pieces; a secret is found wherever they end.
func TestSecretsBetweenPieces(t *testing.T) {
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n", 300) + "-----END PRIVATE KEY-----"
	for _, secret := range []string{"the password is:\n\n   Walnut7Harbor,", "Authorization:\n Basic d2FsbnV0OmhhcmJvcg==", "token =\n8f14e45fceea167a5a36", key} {
		for at := pieceLeast - 2*reach; at < pieceLeast+2*reach; at += 9 {
			text := strings.Repeat("a", at%64) + "\n" + strings.Repeat(strings.Repeat("b", 63)+"\n", at/64) + secret + "\n" + strings.Repeat("quiet words\n", 500)
			if got := Redact(text); !strings.Contains(got, removed) || strings.Contains(got, "Walnut7") || strings.Contains(got, "d2Fsb") || strings.Contains(got, "8f14e") || strings.Contains(got, "MIIE") {
				t.Fatalf("%d bytes before: %.60q is still there", at, secret)
			}
		}
	}
}
