package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// diagnose runs doctor and returns its checks by name.
func diagnose(t testing.TB, s *shell, want int, args ...string) map[string]check {
	t.Helper()
	code, out, errs := s.run(append([]string{"doctor", "--json"}, args...)...)
	if code != want {
		t.Errorf("exit code %d, want %d: %s%s", code, want, out, errs)
	}
	var all struct {
		OK     bool
		Checks []check
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if all.OK != (want == 0) {
		t.Errorf("ok is %v with exit code %d", all.OK, code)
	}
	by := map[string]check{}
	for _, c := range all.Checks {
		by[c.Name] = c
		if c.Result != checkOK && c.Next == "" {
			t.Errorf("%s: %s, but not what to do", c.Name, c.Found)
		}
	}
	return by
}

func TestDoctor(t *testing.T) {
	var path, auth string
	status := http.StatusOK
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, auth = r.URL.Path, r.Header.Get("Authorization")
		w.WriteHeader(status)
	}))
	defer up.Close()
	s := newShell(t)
	if err := os.Chmod(s.dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env["LLM_API_BASE"] = up.URL + "/proxy/v1/"
	s.env["HINDSIGHT_LISTEN"] = "127.0.0.1:1"
	got := diagnose(t, s, 0)
	if path != "/proxy/v1/models" || auth != "" {
		t.Errorf("the upstream was asked for %s with %q", path, auth)
	}
	for name, want := range map[string]string{"key": checkOK, "clock": checkOK, "embedder": checkOK, "open files": checkOK, "sessions": checkOK, "upstream": checkOK, "reflection": checkWarn, "identity": checkOK, "user": checkOK, "data": checkOK, "client": checkOK} {
		if got[name].Result != want {
			t.Errorf("%s: %+v, want %s", name, got[name], want)
		}
	}
	if !strings.Contains(got["client"].Found, "http://127.0.0.1:1/v1") || !strings.Contains(got["client"].Next, "serve") {
		t.Errorf("client: %+v", got["client"])
	}

	s.env["LLM_API_KEY"] = "sk-test"
	if got := diagnose(t, s, 0); auth != "Bearer sk-test" || got["reflection"].Result != checkOK {
		t.Errorf("with a key: %q, %+v", auth, got["reflection"])
	}
	status = http.StatusUnauthorized
	if got := diagnose(t, s, 1); got["key"].Result != checkFail || !strings.Contains(got["key"].Found, "LLM_API_KEY") || got["upstream"].Result != checkOK {
		t.Errorf("a refused key: %+v, %+v", got["key"], got["upstream"])
	}
	delete(s.env, "LLM_API_KEY")
	if got := diagnose(t, s, 0); got["upstream"].Result != checkOK {
		t.Errorf("the callers bring the key: %+v", got["upstream"])
	}
	status = http.StatusOK

	if got := diagnose(t, s, 0, "--listen", "0.0.0.0:1"); got["user"].Result != checkWarn || !strings.Contains(got["user"].Next, "HINDSIGHT_DEFAULT_USER") {
		t.Errorf("an open listener: %+v", got["user"])
	}
	if got := diagnose(t, s, 1, "--listen", "0.0.0.0:1", "--tenant", "acme"); got["identity"].Result != checkFail || !strings.Contains(got["identity"].Next, "auth.mode") {
		t.Errorf("a named tenant on an open listener: %+v", got["identity"])
	}
	if got := diagnose(t, s, 1, "--top-k", "many"); got["configuration"].Result != checkFail || len(got) != 1 {
		t.Errorf("a bad configuration: %+v", got)
	}
	if err := os.Chmod(s.dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := diagnose(t, s, 0); got["data"].Result != checkWarn || !strings.Contains(got["data"].Next, "chmod") {
		t.Errorf("an open directory: %+v", got["data"])
	}
	file := write(t, "file", "")
	if got := diagnose(t, s, 1, "--data-dir", file); got["data"].Result != checkFail {
		t.Errorf("a file for a directory: %+v", got["data"])
	}
	if !strings.Contains(got["sessions"].Next, "Hindsight-Memory: off") {
		t.Errorf("load tests: %+v", got["sessions"])
	}
	if got := diagnose(t, s, 0, "--session-per-hour", "0"); got["sessions"].Result != checkWarn {
		t.Errorf("any number of sessions: %+v", got["sessions"])
	}
	if got := diagnose(t, s, 1, "--embedder", "small", "--embedding-api-base", "http://127.0.0.1:1"); got["embedder"].Result != checkFail || !strings.Contains(got["embedder"].Next, "HINDSIGHT_EMBEDDING_API_BASE") {
		t.Errorf("an embedder that nobody serves: %+v", got["embedder"])
	}
	s.env["HINDSIGHT_REFLECT_API_BASE"], s.env["HINDSIGHT_REFLECT_MODEL"] = up.URL, "small"
	if got := diagnose(t, s, 0); got["reflection"].Result != checkOK || !strings.Contains(got["reflection"].Found, "small") {
		t.Errorf("an endpoint for reflection: %+v", got["reflection"])
	}
	s.env["HINDSIGHT_REFLECT_API_BASE"] = "http://127.0.0.1:1"
	if got := diagnose(t, s, 1); got["reflection"].Result != checkFail || !strings.Contains(got["reflection"].Next, "HINDSIGHT_REFLECT_API_BASE") {
		t.Errorf("an endpoint that is gone: %+v", got["reflection"])
	}
	delete(s.env, "HINDSIGHT_REFLECT_API_BASE")
	delete(s.env, "HINDSIGHT_REFLECT_MODEL")
	up.Close()
	if got := diagnose(t, s, 1); got["upstream"].Result != checkFail {
		t.Errorf("an upstream that is gone: %+v", got["upstream"])
	}
	code, out, errs := s.run("doctor")
	if code != 1 || !strings.Contains(out, "fail  upstream") || !strings.Contains(errs, "a check failed") {
		t.Errorf("for people: %d %s%s", code, out, errs)
	}
}

func TestDoctorCountsOpenFiles(t *testing.T) {
	if c := checkFiles(1024); c.Result != checkWarn || !strings.Contains(c.Next, "ulimit -n") {
		t.Errorf("a low limit: %+v", c)
	}
	if c := checkFiles(1 << 20); c.Result != checkOK {
		t.Errorf("a high limit: %+v", c)
	}
}

func TestDoctorSeesTheProxy(t *testing.T) {
	body := `{"ready":true,"memory":"off","reason":"the disk is full"}`
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(body)) // the client is ours
	}))
	defer proxy.Close()
	cfg := Config{Listen: strings.TrimPrefix(proxy.URL, "http://")}
	if c := checkClient(t.Context(), cfg); c.Result != checkWarn || !strings.Contains(c.Found, "the disk is full") {
		t.Errorf("memory off: %+v", c)
	}
	body = `{"ready":true,"memory":"on","reason":""}`
	if c := checkClient(t.Context(), cfg); c.Result != checkOK || !strings.Contains(c.Found, "memory is on") {
		t.Errorf("memory on: %+v", c)
	}
	body = `hello`
	if c := checkClient(t.Context(), cfg); c.Result != checkWarn || !strings.Contains(c.Next, "HINDSIGHT_LISTEN") {
		t.Errorf("a stranger: %+v", c)
	}
	base := settings{LLMAPIBase: setting{raw: proxy.URL, from: "x"}}
	up, err := load(base, setting{}, fakeEnv(nil), true)
	if err != nil {
		t.Fatal(err)
	}
	checks := checkUpstream(t.Context(), up)
	if last := checks[len(checks)-1]; last.Name != "clock" || last.Result != checkWarn {
		t.Errorf("a clock an hour off: %+v", checks)
	}
}
