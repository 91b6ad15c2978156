package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

var loopback = Config{Implied: true, TrustHeaders: true}

func bearer(token string, more ...string) http.Header {
	return headers(append([]string{"Authorization", "Bearer " + token}, more...)...)
}

func (w *world) hello(h http.Header) *Turn {
	return w.ask(h, "hi", user(fmt.Sprintf("hello at %s", w.now())))
}

func TestTenantOfACredential(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2ln"
	tests := []struct {
		name string
		cfg  Config
		h    http.Header
		want string // "cred": one of its own
		off  string
	}{
		{"named tenant", Config{Tenant: "acme", DefaultUser: "u"}, bearer("sk-1"), "acme", ""},
		{"named tenant, token", Config{Tenant: "acme", DefaultUser: "u"}, bearer(jwt), "acme", ""},
		{"named tenant, nothing", Config{Tenant: "acme", DefaultUser: "u"}, headers(), "acme", ""},
		{"own", Config{DefaultUser: "u"}, bearer("sk-1"), "cred", ""},
		{"own by x-api-key", Config{DefaultUser: "u"}, headers("x-api-key", "sk-1"), "cred", ""},
		{"own by api-key", Config{DefaultUser: "u"}, headers("api-key", "sk-1"), "cred", ""},
		{"nothing", Config{DefaultUser: "u"}, headers(), "", "no_tenant"},
		{"jwt", Config{DefaultUser: "u"}, bearer(jwt), "", "no_tenant"},
		{"jwt on loopback", loopback, bearer(jwt), "", "no_tenant"},
		{"oauth", loopback, bearer("sk-ant-oat01-abc"), "", "no_tenant"},
		{"google", loopback, bearer("ya29.abc"), "", "no_tenant"},
		{"github", loopback, bearer("gho_abc"), "", "no_tenant"},
		{"github app", loopback, headers("x-api-key", "ghu_abc"), "", "no_tenant"},
		{"signed", loopback, headers("Authorization", "AWS4-HMAC-SHA256 Credential=x"), "", "no_tenant"},
		{"first on loopback", loopback, bearer("sk-1"), "default", ""},
		{"first without a credential", loopback, headers(), "default", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.cfg)
			got := w.hello(tt.h)
			tenant := got.Owner.Tenant
			if strings.HasPrefix(tenant, "cred-") {
				tenant = "cred"
			}
			if tenant != tt.want || got.Off != tt.off {
				t.Errorf("tenant %q off %q, want %q %q", got.Owner.Tenant, got.Off, tt.want, tt.off)
			}
			if got.Off != "" && len(w.st.exchanges) > 0 {
				t.Error("recorded without a tenant")
			}
		})
	}
}

func TestFirstCredentialIsTheDefaultTenant(t *testing.T) {
	w := newWorld(t, loopback)
	bogus := w.identify(w.incoming(bearer("sk-bogus"), nil, user("hello")))
	w.fail(bogus, 401)
	if got := w.hello(bearer("sk-first")).Owner.Tenant; got != "default" {
		t.Fatalf("tenant %q; a refused key took the default tenant", got)
	}
	second := w.hello(bearer("sk-second")).Owner.Tenant
	if !strings.HasPrefix(second, "cred-") {
		t.Errorf("second credential is in tenant %q", second)
	}
	if none := w.hello(headers()); none.Off != "no_tenant" {
		t.Errorf("no credential beside a first one: off %q tenant %q", none.Off, none.Owner.Tenant)
	}
	w.k.saveFacts()
	w.start(loopback)
	if got := w.hello(bearer("sk-second")).Owner.Tenant; got != second {
		t.Errorf("after a restart the second credential is in %q, was in %q", got, second)
	}
	if got := w.hello(bearer("sk-first")).Owner.Tenant; got != "default" {
		t.Errorf("after a restart the first credential is in %q", got)
	}
	for name, value := range w.st.facts {
		if strings.Contains(name+value, "sk-") {
			t.Errorf("fact %q = %q holds a credential", name, value)
		}
	}
}

func TestTwoFirstCredentialsAtOnce(t *testing.T) {
	w := newWorld(t, loopback)
	a := w.identify(w.incoming(bearer("sk-a"), nil, user("hello from a")))
	b := w.identify(w.incoming(bearer("sk-b"), nil, user("hello from b")))
	w.answer(b, dialect.Answer{Text: "hi"})
	w.answer(a, dialect.Answer{Text: "hi"})
	if _, ok := w.st.exchanges[a.Exchange]; ok {
		t.Error("the exchange of the later credential is in the first one's tenant")
	}
	if _, ok := w.st.exchanges[b.Exchange]; !ok {
		t.Error("the exchange of the first credential is missing")
	}
}

// Row 56: a rotation.
func TestRotatedCredential(t *testing.T) {
	w := newWorld(t, Config{Tenant: "acme", DefaultUser: "ann"})
	first := w.ask(bearer("eyJa.b.c"), "hi", user("hello"))
	second := w.ask(bearer("eyJd.e.f"), "bye", user("hello"), assistant("hi"), user("thanks"))
	wantSame(t, "session in a named tenant", first.Session, second.Session)

	w = newWorld(t, Config{DefaultUser: "ann"})
	old := w.hello(bearer("sk-old"))
	rotated := w.hello(bearer("sk-new"))
	wantDistinct(t, "tenants", old.Owner.Tenant, rotated.Owner.Tenant)
	w.st.aliases[rotated.Owner.Tenant] = old.Owner.Tenant
	wantSame(t, "linked", old.Owner.Tenant, w.hello(bearer("sk-new")).Owner.Tenant)
}

func TestKeysMode(t *testing.T) {
	hash := func(s string) [32]byte { return sha256.Sum256([]byte(s)) }
	w := newWorld(t, Config{AuthMode: Keys, TrustHeaders: true, DefaultUser: "someone", Keys: []Key{
		{Name: "bound", SHA256: hash("hs-1"), Tenant: "acme", User: "ann", Agent: "cc"},
		{Name: "open", SHA256: hash("hs-2"), Tenant: "acme"},
		{Name: "reader", SHA256: hash("hs-3"), Tenant: "acme", User: "bob", Read: []store.Scope{"user:bob"}, Write: []store.Scope{"user:nobody"}},
		{Name: "tools", SHA256: hash("hs-4"), Tenant: "acme", Role: "mcp"},
	}})
	tests := []struct {
		name   string
		h      http.Header
		want   store.Owner
		mode   Mode
		denied bool
	}{
		{"bound key beats the header", bearer("hs-1", "Hindsight-User", "eve"), store.Owner{Tenant: "acme", User: "ann", Agent: "cc"}, On, false},
		{"open key", bearer("hs-2", "Hindsight-User", "eve"), store.Owner{Tenant: "acme", User: "eve"}, On, false},
		{"open key, nobody named", headers("x-api-key", "hs-2"), store.Owner{Tenant: "acme", User: "someone"}, On, false},
		{"may not write", headers("api-key", "hs-3"), store.Owner{Tenant: "acme", User: "bob"}, Read, false},
		{"role mcp", bearer("hs-4"), store.Owner{}, On, true},
		{"unknown", bearer("sk-x"), store.Owner{}, On, true},
		{"none", headers(), store.Owner{}, On, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := w.hello(tt.h)
			if got.Owner != tt.want || got.Mode != tt.mode || got.Denied != tt.denied || !got.Keyed {
				t.Errorf("got %+v %s denied %v keyed %v", got.Owner, got.Mode, got.Denied, got.Keyed)
			}
			if _, ok := w.k.Credential(got.Session); ok {
				t.Error("a Hindsight key is kept as an upstream's credential")
			}
		})
	}
	w.st.off = errOff
	if got := w.identify(w.incoming(bearer("sk-x"), nil, user("x"))); !got.Denied {
		t.Error("an unknown key passes while the store is off")
	}
}

func TestUserSignals(t *testing.T) {
	const (
		device  = "b3d62fb4c0780d2c11596ef324e3582b301cb89d9993a5daaa93c6431187c278"
		account = "0b5d1c52-6f0e-4d86-9d14-5e2f7c1a9b3d"
		uuid    = "00000000-0000-4000-8000-000000000003"
	)
	meta := func(v string) m { return m{"metadata": m{"user_id": v}} }
	long := strings.Repeat("x", 201)
	tests := []struct {
		name     string
		h        []string
		extra    m
		want     string
		external string
		off      string
	}{
		{name: "header", h: []string{"Hindsight-User", "ann"}, extra: m{"user": "bob"}, want: "ann"},
		{name: "open webui", h: []string{"X-OpenWebUI-User-Id", "ann"}, extra: m{"user": "bob"}, want: "ann"},
		{name: "safety identifier", extra: m{"safety_identifier": "ann", "user": "bob"}, want: "ann"},
		{name: "user", extra: m{"user": "ann"}, want: "ann"},
		{name: "nobody", want: "fallback"},
		{name: "empty", h: []string{"Hindsight-User", ""}, extra: m{"user": ""}, want: "fallback"},
		{name: "plain metadata", extra: meta("ann"), want: "ann"},
		{name: "claude json", extra: meta(`{"device_id":"` + device + `","account_uuid":"` + account + `","session_id":"` + uuid + `"}`), want: account, external: uuid},
		{name: "claude json without account", extra: meta(`{"device_id":"` + device + `","account_uuid":"","session_id":"` + uuid + `"}`), want: device, external: uuid},
		{name: "claude string", extra: meta("user_" + device + "_account_" + account + "_session_" + uuid), want: account, external: uuid},
		{name: "claude string without account", extra: meta("user_" + device + "_account__session_" + uuid), want: device, external: uuid},
		{name: "goose", h: []string{"agent-session-id", "20260809_29"}, extra: m{"user": "20260809_29"}, want: "fallback", external: "20260809_29"},
		{name: "template", h: []string{"Hindsight-User", "{{USER_ID}}"}, off: "no_user"},
		{name: "template beats the body", h: []string{"Hindsight-User", "${USER}"}, extra: m{"user": "bob"}, off: "no_user"},
		{name: "undefined", extra: m{"user": "undefined"}, off: "no_user"},
		{name: "null", extra: m{"user": "null"}, off: "no_user"},
		{name: "none", extra: m{"user": "None"}, off: "no_user"},
		{name: "anonymous", h: []string{"X-OpenWebUI-User-Id", "anonymous"}, off: "no_user"},
		{name: "too long", h: []string{"Hindsight-User", long}, off: "no_user"},
		{name: "a slash and a colon", h: []string{"Hindsight-User", "a/b:c"}, want: "a/b:c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{Tenant: "acme", DefaultUser: "fallback", TrustHeaders: true})
			got := w.identify(w.incoming(headers(tt.h...), tt.extra, user("hello there")))
			if got.Owner.User != tt.want || got.External != tt.external || got.Off != tt.off {
				t.Errorf("user %q external %q off %q, want %q %q %q", got.Owner.User, got.External, got.Off, tt.want, tt.external, tt.off)
			}
		})
	}
	w := newWorld(t, Config{Tenant: "acme", DefaultUser: "fallback"})
	if got := w.identify(w.incoming(headers("X-OpenWebUI-User-Id", "ann"), m{"user": "bob"}, user("x"))); got.Owner.User != "fallback" {
		t.Errorf("untrusted signals name %q", got.Owner.User)
	}
	if got := w.identify(w.incoming(headers("Hindsight-User", "ann"), nil, user("x"))); got.Owner.User != "ann" {
		t.Errorf("Hindsight-User names %q", got.Owner.User)
	}
}

func TestOpenWebUIToken(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	sign := func(head, claims, secret string) string {
		enc := base64.RawURLEncoding.EncodeToString
		body := enc([]byte(head)) + "." + enc([]byte(claims))
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(body))
		return body + "." + enc(mac.Sum(nil))
	}
	const hs = `{"alg":"HS256"}`
	tests := map[string]struct{ token, want string }{
		"good":         {sign(hs, `{"sub":"ann"}`, "s3cret"), "ann"},
		"in time":      {sign(hs, fmt.Sprintf(`{"sub":"ann","exp":%d}`, now.Unix()+60), "s3cret"), "ann"},
		"over":         {sign(hs, fmt.Sprintf(`{"sub":"ann","exp":%d}`, now.Unix()-60), "s3cret"), ""},
		"wrong secret": {sign(hs, `{"sub":"ann"}`, "other"), ""},
		"alg none":     {sign(`{"alg":"none"}`, `{"sub":"ann"}`, "s3cret"), ""},
		"template":     {sign(hs, `{"sub":"{{id}}"}`, "s3cret"), ""},
		"garbage":      {"a.b.c", ""},
	}
	for name, tt := range tests {
		if got := jwtSubject(tt.token, []byte("s3cret"), now); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := jwtSubject(tt.token, nil, now); got != "" {
			t.Errorf("%s without a secret: %q", name, got)
		}
	}
}

func TestImpliedUser(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		w := newWorld(t, loopback)
		for range 30 {
			if got := w.hello(bearer("sk-1")); got.Owner.User != ImpliedUser {
				t.Fatalf("user %q off %q", got.Owner.User, got.Off)
			}
			w.pass(time.Hour) // one session at a time
			w.st.sessions = map[string]store.Session{}
		}
	})
	t.Run("a named user", func(t *testing.T) {
		w := newWorld(t, loopback)
		w.hello(bearer("sk-1"))
		refused := w.identify(w.incoming(bearer("sk-1", "Hindsight-User", "ann"), nil, user("x")))
		w.fail(refused, 401)
		if got := w.hello(bearer("sk-1")); got.Owner.User != ImpliedUser {
			t.Fatal("a refused request ended the implied user")
		}
		w.hello(bearer("sk-1", "Hindsight-User", "ann"))
		if got := w.hello(bearer("sk-1")); got.Off != "no_user" {
			t.Fatalf("user %q off %q after a named user", got.Owner.User, got.Off)
		}
		w.k.saveFacts()
		w.start(loopback)
		if got := w.hello(bearer("sk-1")); got.Off != "no_user" {
			t.Error("a restart brought the implied user back")
		}
	})
	t.Run("a second credential", func(t *testing.T) {
		cfg := loopback
		cfg.Tenant = "acme"
		w := newWorld(t, cfg)
		w.hello(bearer("sk-1"))
		if got := w.hello(bearer("sk-2")); got.Off != "no_user" {
			t.Errorf("second credential: user %q", got.Owner.User)
		}
		if got := w.hello(bearer("sk-1")); got.Off != "no_user" {
			t.Errorf("first credential afterwards: user %q", got.Owner.User)
		}
	})
	t.Run("twenty sessions", func(t *testing.T) {
		w := newWorld(t, loopback)
		var first *Turn
		for i := range MaxImplied {
			got := w.ask(bearer("sk-1"), "hi", user(fmt.Sprint("conversation ", i)))
			if got.Off != "" {
				t.Fatalf("session %d: off %q", i, got.Off)
			}
			if first == nil {
				first = got
			}
		}
		if got := w.ask(bearer("sk-1"), "hi", user("one more")); got.Off != "no_user" || got.Session != "" {
			t.Errorf("session %d: user %q session %q", MaxImplied+1, got.Owner.User, got.Session)
		}
	})
	t.Run("many sessions before a restart", func(t *testing.T) {
		w := newWorld(t, loopback)
		w.hello(bearer("sk-1"))
		w.k.saveFacts()
		for i := range MaxImplied {
			id := fmt.Sprint("s", i)
			w.st.sessions[id] = store.Session{ID: id, Owner: store.Owner{Tenant: "default", User: ImpliedUser}}
		}
		w.start(loopback)
		if got := w.hello(bearer("sk-1")); got.Off != "no_user" {
			t.Errorf("user %q", got.Owner.User)
		}
	})
	t.Run("a configured user", func(t *testing.T) {
		cfg := loopback
		cfg.DefaultUser = "me"
		w := newWorld(t, cfg)
		w.hello(bearer("sk-1", "Hindsight-User", "ann"))
		if got := w.hello(bearer("sk-1")); got.Owner.User != "me" {
			t.Errorf("user %q", got.Owner.User)
		}
	})
}

func TestModes(t *testing.T) {
	for value, want := range map[string]Mode{
		"": On, "on": On, "ON": On, "off": Off, "read": Read, "write": Write, "readonly": Off, "{{MODE}}": Off,
	} {
		w := newWorld(t, acme)
		got := w.hello(by("ann", "Hindsight-Memory", value))
		if got.Mode != want {
			t.Errorf("Hindsight-Memory %q: %s, want %s", value, got.Mode, want)
		}
		if recorded := len(w.st.exchanges) > 0; recorded != want.Records() {
			t.Errorf("Hindsight-Memory %q: recorded %v", value, recorded)
		}
	}
}

func TestReadModeKeepsTheSession(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann", "Hindsight-Memory", "read")}
	c.say("hello", "hi")
	c.say("again", "yes")
	wantSame(t, "session", c.turns[0].Session, c.turns[1].Session)
	if len(w.st.exchanges) > 0 {
		t.Error("recorded in read mode")
	}
}

func TestTimeZone(t *testing.T) {
	w := newWorld(t, acme)
	for value, want := range map[string]string{
		"Asia/Shanghai": "Asia/Shanghai", "": "UTC", "Mars/Olympus": "UTC", "Local": "UTC", "../../etc/passwd": "UTC",
	} {
		if got := w.hello(by("ann", "Hindsight-Timezone", value)).Zone.String(); got != want {
			t.Errorf("zone %q: %q, want %q", value, got, want)
		}
	}
}

func TestConfigNamesEveryProblem(t *testing.T) {
	err := Config{AuthMode: "open", Tenant: "{{T}}", DefaultUser: strings.Repeat("u", 201), Keys: []Key{
		{Name: "a", Tenant: "t"}, {Name: "b", SHA256: [32]byte{1}}, {Name: "c", SHA256: [32]byte{1}, Tenant: "t", Role: "root"},
	}}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	var missing []string
	for _, want := range []string{`auth.mode "open"`, `tenant "{{T}}"`, "default user", "auth.keys[0] (a): no sha256", "auth.keys[1] (b): tenant", "auth.keys[2] (c): the same key", `role "root"`} {
		if !strings.Contains(err.Error(), want) {
			missing = append(missing, want)
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("not named: %s\nin: %s", diff, err)
	}
}
