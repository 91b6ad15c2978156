package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// No key, token, link or word of a conversation gets into the log at any level,
// the metrics, the settings or the answer to whoever guesses, also where the
// upstream refuses and reflection fails.
func TestNoSecretInLogsErrorsOrMetrics(t *testing.T) {
	t.Parallel()
	const upstream, caller, guess, word = "sk-upstream-5f1c77aa", "sk-caller-90bd42e1", "guess-7731fe0c", "xylophone-4411"
	log := &heap{}
	w := newWorld(t, "HINDSIGHT_REFLECT_API_KEY="+upstream, "LLM_API_KEY="+upstream)
	w.adjust = func(cfg *Config) { cfg.Log = LogConfig{Level: slog.LevelDebug, To: log} }
	w.restart()
	refuse := false
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		if !refuse && !strings.Contains(string(body), "hindsight_memories") {
			return false
		}
		http.Error(rw, `{"error":{"message":"bad key","code":"invalid_api_key"}}`, http.StatusUnauthorized)
		return true
	}
	c := w.conversation("Hindsight-User: ann", "Authorization: Bearer "+caller)
	r := c.say("Remember that my locker word is " + word + ".")
	w.flush()
	status, failed := w.tryAdmin(http.MethodPost, "/api/v1/sessions/"+r.session()+"/close?wait=20s", "")
	if status != http.StatusBadGateway {
		t.Errorf("a reflection that the upstream refuses: %d %s", status, failed)
	}
	refuse = true
	if r := w.send(c.add("user", "And "+word+"?").body(), c.headers...); r.status != http.StatusUnauthorized {
		t.Errorf("the upstream refuses: %d", r.status)
	}
	var shown strings.Builder
	for _, path := range []string{"/api/v1/memories", "/mcp", "/metrics", "/console/", "/nothing"} {
		req, err := http.NewRequest(http.MethodGet, w.st.adminURL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+guess)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Write(&shown) // into memory
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s answers %d to a guess", path, resp.StatusCode)
		}
	}
	var link struct{ Path string }
	w.decode(w.admin(http.MethodPost, "/api/v1/console/links", ""), &link)
	newBrowser(w).get(link.Path)
	_, code, _ := strings.Cut(link.Path, "code=")
	outputs := map[string]string{
		"the metrics": string(w.admin(http.MethodGet, "/metrics", "")), "the settings": string(w.admin(http.MethodGet, "/api/v1/settings", "")),
		"the answers to guesses": shown.String(), "a reflection's failure": string(failed),
	}
	w.stop()
	outputs["the log"] = string(log.bytes())
	for name, out := range outputs {
		for _, secret := range []string{upstream, caller, guess, word, worldToken, code} {
			if secret == "" || out == "" || strings.Contains(out, secret) {
				t.Errorf("%s, %d bytes, hold %q", name, len(out), secret)
			}
		}
	}
}
