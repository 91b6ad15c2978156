package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parseServe is the settings that a command line of serve gives.
func parseServe(t *testing.T, args ...string) (settings, setting) {
	t.Helper()
	var c commands
	p, err := newParser(&c, &app{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(append([]string{"serve"}, args...)); err != nil {
		t.Fatal(err)
	}
	return c.Serve.Settings, c.Config
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	file := write(t, "hindsight.yaml", "top_k: 2\nadmin: {token: file-file-file-file}\nstrict: true\n")
	other := write(t, "other.yaml", "top_k: 9\n")
	flagToken := write(t, "token", "flag-flag-flag-flag\n")
	base := map[string]string{"LLM_API_BASE": "https://api.example.com"}
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		want []string
	}{
		{"default", nil, nil, []string{"Inject.TopK = 5", "Admin.Token = ", "Store.Strict = false"}},
		{"file", nil, map[string]string{"HINDSIGHT_CONFIG": file}, []string{"Inject.TopK = 2", "Admin.Token = file-file-file-file", "Store.Strict = true"}},
		{"environment over file", nil, map[string]string{"HINDSIGHT_CONFIG": file, "HINDSIGHT_TOP_K": "3", "HINDSIGHT_STRICT": "false", "HINDSIGHT_ADMIN_TOKEN": "env-env-env-env-"}, []string{"Inject.TopK = 3", "Admin.Token = env-env-env-env-", "Store.Strict = false"}},
		{"flag over environment", []string{"--top-k", "4", "--strict", "--admin-token=flag-flag-flag-flag"}, map[string]string{"HINDSIGHT_CONFIG": file, "HINDSIGHT_TOP_K": "3", "HINDSIGHT_STRICT": "false", "HINDSIGHT_ADMIN_TOKEN": "env-env-env-env-"}, []string{"Inject.TopK = 4", "Admin.Token = flag-flag-flag-flag", "Store.Strict = true"}},
		{"flag's file over environment and file", []string{"--admin-token-file", flagToken}, map[string]string{"HINDSIGHT_CONFIG": file, "HINDSIGHT_ADMIN_TOKEN": "env-env-env-env-"}, []string{"Admin.Token = flag-flag-flag-flag"}},
		{"environment's file over the file's value", nil, map[string]string{"HINDSIGHT_CONFIG": file, "HINDSIGHT_ADMIN_TOKEN_FILE": flagToken}, []string{"Admin.Token = flag-flag-flag-flag"}},
		{"--config over HINDSIGHT_CONFIG", []string{"--config", other}, map[string]string{"HINDSIGHT_CONFIG": file}, []string{"Inject.TopK = 9"}},
		{"long name over alias", nil, map[string]string{"HINDSIGHT_LLM_API_BASE": "https://long.example.com"}, []string{"Upstream.Base = https://long.example.com"}},
		{"toggle with a value", []string{"--identity-trust-headers=false"}, nil, []string{"Identity.TrustHeaders = false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{}
			for _, m := range []map[string]string{base, c.env} {
				for k, v := range m {
					env[k] = v
				}
			}
			s, config := parseServe(t, c.args...)
			cfg, err := load(s, config, fakeEnv(env), true)
			if err != nil {
				t.Fatal(err)
			}
			got := dump(cfg)
			for _, line := range c.want {
				if !strings.Contains("\n"+got, "\n"+line+"\n") {
					t.Errorf("no line %q in\n%s", line, got)
				}
			}
		})
	}
}

// TestSettingsAgree holds the tags of a setting together: the flag, the file's
// key and the environment variable are three spellings of one name.
func TestSettingsAgree(t *testing.T) {
	var c commands
	p, err := newParser(&c, &app{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, cmd := range p.Model.Children {
		if cmd.Name != "serve" {
			continue
		}
		for _, f := range cmd.Flags {
			if f.Hidden {
				continue // no setting
			}
			key := f.Tag.Get("key")
			if got := strings.NewReplacer(".", "-", "_", "-").Replace(key); got != f.Name {
				t.Errorf("--%s has the key %s", f.Name, key)
			}
			if seen[f.Name] {
				t.Errorf("--%s is there twice", f.Name)
			}
			seen[f.Name] = true
		}
	}
	var s settings
	for e := range s.entries() {
		if !seen[strings.ReplaceAll(e.id(), "_", "-")] {
			t.Errorf("%s has no flag", e.key)
		}
	}
	// What the contract names must be there.
	for _, name := range strings.Fields(`LLM_API_BASE LLM_API_BASE_ANTHROPIC LLM_API_KEY VECTOR_DB_URL WEAVIATE_API_KEY MEMORY_COLLECTION
		HINDSIGHT_LISTEN HINDSIGHT_ADMIN_LISTEN HINDSIGHT_ADMIN_TOKEN HINDSIGHT_METRICS_LISTEN HINDSIGHT_TENANT HINDSIGHT_DEFAULT_USER
		HINDSIGHT_IDENTITY_KEY_FILE HINDSIGHT_TZ HINDSIGHT_DATA_DIR HINDSIGHT_ENCRYPTION_KEY_FILE HINDSIGHT_SESSION_IDLE
		HINDSIGHT_REFLECT_MODEL HINDSIGHT_REFLECT_API_BASE HINDSIGHT_REFLECT_API_KEY HINDSIGHT_EMBEDDER HINDSIGHT_EMBEDDING_API_BASE
		HINDSIGHT_EMBEDDING_API_KEY HINDSIGHT_TOP_K HINDSIGHT_INJECT_TOKENS HINDSIGHT_RECALL_DEADLINE HINDSIGHT_RANKING
		HINDSIGHT_MAX_BODY HINDSIGHT_MAX_IN_FLIGHT HINDSIGHT_HEADER_TIMEOUT HINDSIGHT_UPSTREAM_FIRST_BYTE_TIMEOUT
		HINDSIGHT_DRAIN_GRACE HINDSIGHT_TLS_CERT_FILE HINDSIGHT_TLS_KEY_FILE HINDSIGHT_ADMIN_HOSTS HINDSIGHT_LOG_LEVEL HINDSIGHT_LOG_FORMAT
		HINDSIGHT_INJECT_POSITION HINDSIGHT_INJECT_ARRAY HINDSIGHT_INJECT_STATEFUL HINDSIGHT_INJECT_CITE HINDSIGHT_INJECT_PROFILES
		HINDSIGHT_REFLECT_STRATEGY HINDSIGHT_REFLECT_INSTRUCTIONS HINDSIGHT_REFLECT_ADOPT_HISTORY HINDSIGHT_WIRE_WEBSOCKET
		HINDSIGHT_IDENTITY_TRUST_HEADERS HINDSIGHT_IDENTITY_OPENWEBUI_JWT_SECRET_FILE HINDSIGHT_MCP_NAMES HINDSIGHT_AUTH_MODE
		HINDSIGHT_AUTH_KEYS HINDSIGHT_GRANTS HINDSIGHT_IDENTITY_USER_HEADERS HINDSIGHT_IDENTITY_SESSION_HEADERS
		HINDSIGHT_CLIENTS_SIDE_CALLS HINDSIGHT_CLIENTS_WRAPPERS`) {
		found := false
		for e := range s.entries() {
			for _, env := range e.env() {
				found = found || env == name
			}
		}
		if !found {
			t.Errorf("no setting reads %s", name)
		}
	}
	for e := range s.entries() {
		if e.value.secret {
			twin := false
			for f := range s.entries() {
				twin = twin || f.key == e.key+"_file"
			}
			if !twin {
				t.Errorf("the secret %s has no file", e.key)
			}
		}
	}
}

func TestAlone(t *testing.T) {
	for _, c := range []struct {
		listen string
		env    map[string]string
		pid    int
		want   bool
	}{
		{"127.0.0.1:8080", nil, 4711, true},
		{"localhost:8080", nil, 4711, true},
		{"[::1]:8080", nil, 4711, true},
		{"127.8.9.1:0", nil, 4711, true},
		{"0.0.0.0:8080", nil, 4711, false},
		{":8080", nil, 4711, false},
		{"192.168.1.7:8080", nil, 4711, false},
		{"proxy.local:8080", nil, 4711, false},
		{"127.0.0.1:8080", nil, 1, false},
		{"127.0.0.1:8080", map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, 4711, false},
	} {
		env := fakeEnv(c.env)
		env.pid = c.pid
		if got := alone(c.listen, env); got != c.want {
			t.Errorf("alone(%s, %v, process %d) = %v", c.listen, c.env, c.pid, got)
		}
	}
	named := IdentityConfig{Tenant: "acme", User: "ann", Implied: true}
	if named.tenantName() != "acme" || named.userName() != "ann" {
		t.Error("what is named doesn't win over what is implied")
	}
	implied := IdentityConfig{Implied: true}
	if implied.tenantName() != "default" || implied.userName() != "local" {
		t.Errorf("implied: %q, %q", implied.tenantName(), implied.userName())
	}
	if open := (IdentityConfig{}); open.tenantName() != "" || open.userName() != "" {
		t.Error("an open listener implies somebody")
	}
}

func TestDataDirectory(t *testing.T) {
	for _, c := range []struct {
		raw  string
		env  map[string]string
		want string
	}{
		{"", nil, "/home/ann/.local/share/hindsight"},
		{"", map[string]string{"XDG_DATA_HOME": "/x"}, "/x/hindsight"},
		{"", map[string]string{"XDG_DATA_HOME": "relative"}, "/home/ann/.local/share/hindsight"},
		{"~/memory", nil, "/home/ann/memory"},
		{"/data/", nil, "/data"},
	} {
		if got := dataDir(setting{raw: c.raw}, fakeEnv(c.env)); got != c.want {
			t.Errorf("dataDir(%q, %v) = %s, want %s", c.raw, c.env, got, c.want)
		}
	}
}
