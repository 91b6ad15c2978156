package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"

	"hindsight/reflect/extract"
)

// leaked is a made-up secret in the text around it.
type leaked struct{ kind, text, secret string }

// likeRule makes a text that an expression matches.
func likeRule(r *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	times := func(least, most int) {
		if most < 0 || most > least+4 {
			most = least + 4
		}
		for range least + r.IntN(most-least+1) {
			likeRule(r, re.Sub[0], b)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		var fit []rune
		for _, set := range []string{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", " =:'\"-_.+/;"} {
			for _, c := range set {
				for i := 0; i < len(re.Rune); i += 2 {
					if re.Rune[i] <= c && c <= re.Rune[i+1] {
						fit = append(fit, c)
					}
				}
			}
			if len(fit) > 0 {
				break
			}
		}
		if len(fit) > 0 {
			b.WriteRune(fit[r.IntN(len(fit))])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcdefghijkmnpqrstuvwxyz23456789"[r.IntN(32)])
	case syntax.OpCapture:
		likeRule(r, re.Sub[0], b)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			likeRule(r, sub, b)
		}
	case syntax.OpAlternate:
		likeRule(r, re.Sub[r.IntN(len(re.Sub))], b)
	case syntax.OpStar:
		times(0, 1)
	case syntax.OpPlus:
		times(1, 3)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
}

// leaksOf makes a secret for each of the kept rules, and says for which it can't:
// one whose text the rules themselves don't find when it is made of their expression.
func leaksOf(t *testing.T, r *rand.Rand) (out []leaked, without []string) {
	t.Helper()
	v := viper.New()
	v.SetConfigType("toml")
	var raw config.ViperConfig
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		t.Fatal(err)
	}
	if err := v.Unmarshal(&raw); err != nil {
		t.Fatal(err)
	}
	c, err := raw.Translate()
	if err != nil {
		t.Fatal(err)
	}
	for id, rule := range c.Rules {
		if rule.Regex == nil || rule.Path != nil {
			continue // about files
		}
		re, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for range 60 {
			var b strings.Builder
			likeRule(r, re, &b)
			text := "so " + strings.TrimSpace(b.String()) + " it is"
			if secret := longestRemoved(text); len(secret) >= 12 {
				out = append(out, leaked{id, text, secret})
				found = true
				break
			}
		}
		if !found {
			without = append(without, id)
		}
	}
	for kind, of := range map[string]string{
		"setting": "MYSQL_ROOT_PASSWORD=%s", "field": "db_password: %s", "colon": "Password is: %s", "of something": "the password for the wifi is %s", "without a verb": "password %s",
		"quoted": `{\"password\": \"%s\"}`, "behind": "%s is my password", "basic": "Authorization: Basic %s", "phrase": "my passphrase is correct horse battery %s",
		"password": "my password is %s!", "Chinese": "密码是%s。", "address": "postgres://app:%s@db.intern/app", "bearer": "Authorization: Bearer %s", "sk": "export OPENAI_API_KEY=sk-%s"} {
		secret := fmt.Sprintf("Zq%016xKw", r.Uint64())
		out = append(out, leaked{kind, fmt.Sprintf(of, secret), secret})
	}
	return out, without
}

// longestRemoved is the longest piece between blanks and quotes that redacting
// takes out of a text.
func longestRemoved(text string) string {
	kept, longest := extract.Redact(text), ""
	for _, piece := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \"'`=:;,\n", c) }) {
		if !strings.Contains(kept, piece) && len(piece) > len(longest) {
			longest = piece
		}
	}
	return longest
}

// heardBy is a server that keeps the bodies of what it is sent.
type heardBy struct {
	heap
	next http.Handler
}

func (h *heardBy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = h.Write(body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.next.ServeHTTP(w, r)
}

// Secrets of every kind that the kept rules know, said by the user, a tool, the
// system and the model: none of their bytes is on the disk, in what reflection and
// an embedding endpoint are sent, in exports, answers of the management API, metrics
// or logs at their loudest.
func TestSecretsOfConversationsGoNowhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two hundred kinds of secrets")
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), 7))
	all, without := leaksOf(t, r)
	if len(without)*10 > len(all) {
		t.Fatalf("no secret could be made for %d rules: %v", len(without), without)
	}
	logs := &heap{}
	reflection := &heardBy{}
	embedding := &heardBy{next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		data := make([]map[string]any, len(in.Input))
		for i := range data {
			data[i] = map[string]any{"index": i, "embedding": []float32{1, 0, 0, float32(i)}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	})}
	w := newWorldOf(t, func(w *world) {
		reflection.next = w.model
		embedder, reflector := httptest.NewServer(embedding), httptest.NewServer(reflection)
		t.Cleanup(embedder.Close)
		t.Cleanup(reflector.Close)
		w.env["HINDSIGHT_EMBEDDER"], w.env["HINDSIGHT_EMBEDDING_API_BASE"] = "embed", embedder.URL
		w.env["HINDSIGHT_REFLECT_API_BASE"], w.env["HINDSIGHT_REFLECT_API_KEY"] = reflector.URL, "sk-other"
		w.env["HINDSIGHT_LOG_LEVEL"], w.env["HINDSIGHT_TENANT"] = "debug", "acme"
		w.adjust = func(c *Config) { c.Log.To = logs }
	})
	var sessions []string
	for i, part := range slices.Collect(slices.Chunk(all, 10)) {
		text := func(role string) string {
			var b strings.Builder
			for _, l := range part {
				fmt.Fprintf(&b, "%s\n", l.text)
			}
			return b.String() + "Part " + fmt.Sprint(i) + " of the " + role + "."
		}
		c := w.conversation("Hindsight-User: ann").add("system", text("system"))
		w.answers(func([]byte) string { return text("answer") })
		c.say("My cat is called Mitzi. " + text("user"))
		last := c.add("tool", text("tool")).say("Remember that my desk is number " + fmt.Sprint(i) + ". " + text("user again"))
		sessions = append(sessions, last.session())
		for _, l := range part { // the request itself isn't touched
			if !bytes.Contains(w.last().body, []byte(mustJSON(l.secret))) {
				t.Fatalf("the upstream didn't get the secret of %s", l.kind)
			}
		}
	}
	places := map[string][]byte{}
	for _, id := range sessions {
		w.close(id)
		places["session "+id] = w.admin(http.MethodGet, "/api/v1/sessions/"+id, "")
		for _, x := range w.session(id).Exchanges {
			places["why "+x.ID] = w.admin(http.MethodGet, "/api/v1/exchanges/"+x.ID+"/why", "")
		}
	}
	if n := len(w.memories("ann")); n == 0 {
		t.Error("nothing was learned: reflection proves nothing")
	}
	places["export"] = w.admin(http.MethodGet, "/api/v1/export?tenant=acme&scope=user:ann", "")
	places["metrics"] = w.admin(http.MethodGet, "/metrics", "")
	places["memories"] = w.admin(http.MethodGet, "/api/v1/memories?limit=1000", "")
	places["reflections"] = w.admin(http.MethodGet, "/api/v1/reflections?state=done", "")
	w.stop()
	places["logs"], places["reflection's prompts"], places["the embedding endpoint"] = logs.bytes(), reflection.bytes(), embedding.bytes()
	for _, name := range []string{"reflection's prompts", "the embedding endpoint", "logs", "export"} {
		if len(places[name]) == 0 {
			t.Errorf("%s: nothing was looked at", name)
		}
	}
	err := filepath.WalkDir(w.env["HINDSIGHT_DATA_DIR"], func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			places["file "+filepath.Base(path)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, b := range places {
		for _, l := range all {
			if bytes.Contains(b, []byte(l.secret)) {
				at := bytes.Index(b, []byte(l.secret))
				t.Errorf("%s: the secret %q of %q in %q", where, l.secret, l.kind, b[max(0, at-120):min(len(b), at+120)])
			}
		}
	}
	t.Logf("%d secrets; none could be made for %v", len(all), without)
}

func mustJSON(s string) string {
	b, _ := json.Marshal(s)
	return strings.Trim(string(b), `"`)
}
