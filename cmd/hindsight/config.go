package main

import (
	"io"
	"log/slog"
	"net/url"
	"time"

	"hindsight/inject"
	"hindsight/proxy/admin"
	"hindsight/proxy/mcpserver"
	"hindsight/proxy/session/clients"
	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// Config is the configuration, checked and typed, grouped by who reads it.
type Config struct {
	Listen        string // the proxy's address
	Listener      ListenConfig
	Upstream      UpstreamConfig
	Admin         AdminConfig
	MetricsListen string // empty: none
	Identity      IdentityConfig
	Clients       clients.Tables // what the configuration adds to the shipped tables
	Auth          AuthConfig
	Grants        []Grant
	Store         StoreConfig
	Session       SessionConfig
	Reflect       ReflectConfig
	Forget        lifecycle.Forgetting
	Inject        InjectConfig
	Embedder      string // builtin, none or the name of a served model
	Embedding     EmbeddingConfig
	MCPNames      string // memory, store or both
	Zone          *time.Location
	Now           func() time.Time // nil: time.Now
	Sample        time.Duration    // between two samples of the console's charts; 0: its own
	Log           LogConfig
	Traces        bool            // whether OpenTelemetry spans are exported
	Effective     []admin.Setting // all of it for people, without secrets
}

// UpstreamConfig is for the proxy: where requests go and what is let in.
type UpstreamConfig struct {
	Base          *url.URL // nil where the command needs none
	Anthropic     *url.URL // never nil where Base isn't
	Key           string
	WebSocket     string // fallback or tunnel
	MaxBody       int64  // bytes
	MaxInFlight   int64  // bytes of all bodies and copies of answers
	HeaderTimeout time.Duration
	FirstByte     time.Duration // 0: no limit
}

// ListenConfig is for the proxy's own listener.
type ListenConfig struct {
	CertFile, KeyFile string // empty: plain HTTP
	Grace             time.Duration
}

// AdminConfig is for the management API.
type AdminConfig struct {
	Listen string
	Chosen bool   // whether Listen was configured
	Token  string // empty: the file in the data directory
	Hosts  []string

	CertFile, KeyFile string // empty: plain HTTP
}

// IdentityConfig says who a request belongs to that doesn't say so itself.
type IdentityConfig struct {
	Tenant string // as set; empty: each credential is its own
	User   string // as set; empty: none
	// Implied says that one person is alone with the listener: the first
	// credential is then the tenant `default`, and requests that name no user
	// are those of `local` until more than one person shows.
	Implied      bool
	KeyFile      string // empty: made in the data directory
	TrustHeaders bool
	Origins      []string // hosts of web pages whose requests have memory
	WebUISecret  string
}

// The names of a person alone at a machine.
const (
	impliedTenant = "default"
	impliedUser   = "local"
)

// tenantName is the tenant as set or implied; empty: none.
func (c IdentityConfig) tenantName() string {
	if c.Tenant == "" && c.Implied {
		return impliedTenant
	}
	return c.Tenant
}

// userName is the default user as set or implied; empty: none. An implied one
// can have ended since: the store knows.
func (c IdentityConfig) userName() string {
	if c.User == "" && c.Implied {
		return impliedUser
	}
	return c.User
}

// AuthConfig says what callers show.
type AuthConfig struct {
	Mode string // passthrough or keys
	Keys []AuthKey
}

// AuthKey is one Hindsight key. The key itself is nowhere, its SHA-256 is.
type AuthKey struct {
	Name   string        `json:"name"`
	SHA256 string        `json:"sha256"` // 64 hexadecimal digits
	Tenant string        `json:"tenant"`
	User   string        `json:"user,omitempty"`
	Agent  string        `json:"agent,omitempty"`
	Read   []store.Scope `json:"read,omitempty"`
	Write  []store.Scope `json:"write,omitempty"`
	Role   string        `json:"role"` // proxy, mcp or admin
}

// Grant lets others than its owner read a scope.
type Grant struct {
	Tenant string      `json:"tenant"`
	Scope  store.Scope `json:"scope"`
	To     string      `json:"to"` // users or agents
}

// StoreConfig is for the data directory.
type StoreConfig struct {
	Dir    string
	Strict bool          // a local store that can't be used stops the server
	Shared *SharedConfig // nil: the memories are in the data directory alone
	// KeyFile and OldKeyFile are badgerdb's EncryptionKeyFile and
	// OldEncryptionKeyFile.
	KeyFile, OldKeyFile string
	// Free tells the free bytes of the disk under Dir; nil: ask the system.
	Free func(dir string) (uint64, error)
}

// SharedConfig is for the Weaviate that sidecars share.
type SharedConfig struct {
	URL        *url.URL
	GRPC       string // empty: the URL's host
	Key        string
	Collection string
	Layout     string // shared or isolated
	Index      string // flat, hnsw or dynamic
	Cache      int64  // bytes
	Identity   store.IdentityKey
}

// SessionConfig is for conversations.
type SessionConfig struct {
	Idle    time.Duration
	PerHour int // sessions that a scope may gain; 0: any number
}

// ReflectConfig is for reflection. An empty Model is the session's own, "rules"
// none; a nil Base is the upstream's.
type ReflectConfig struct {
	Model        string
	Base         *url.URL
	Key          string
	Strategy     string  // classify, score or contrast
	Instructions string  // what the operator cares about
	Budget       float64 // share of what a tenant sends in a day
	BudgetLeast  int     // tokens a day
	AdoptHistory bool
	Workers      int // sessions at a time; 0: the default
}

// EmbeddingConfig says where a model is served.
type EmbeddingConfig struct {
	Base *url.URL
	Key  string
}

// InjectConfig bounds what a turn gets.
type InjectConfig struct {
	TopK     int
	Tokens   int
	Deadline time.Duration
	Ranking  string // bounded or additive
	Position string // user_head or user_tail
	Array    string // part or inline
	Profiles map[string]inject.Profile
	Cite     bool
	Holdout  float64 // share of sessions without injection
	Stateful bool    // also where the upstream keeps the conversation
}

// LogConfig is for the logger.
type LogConfig struct {
	Level  slog.Level
	Format string    // text or json
	To     io.Writer // nil: standard error
}

// environ is what of the process decides defaults.
type environ struct {
	get  func(string) string
	pid  int
	home string
}

// load reads the configuration: flags (already in s), the environment, the
// file, the defaults. serve asks for the upstream, which other commands don't
// need. The error is of type problems and holds all that is wrong.
func load(s settings, config setting, env environ, serve bool) (Config, error) {
	var ps problems
	s.resolve(config, env.get, &ps)
	c := decode(&s, env, serve, &ps)
	if len(ps) > 0 {
		return Config{}, ps
	}
	return c, nil
}

// decode gives every setting its type and its meaning.
func decode(s *settings, env environ, serve bool, ps *problems) Config {
	d := decoder{ps}
	c := Config{
		Listen: d.address(s.Listen),
		Upstream: UpstreamConfig{
			Base:          d.url(s.LLMAPIBase),
			Anthropic:     d.url(s.LLMAPIBaseAnthropic),
			Key:           d.token(s.LLMAPIKey, 1),
			WebSocket:     d.word(s.WireWebsocket, "fallback", "tunnel"),
			MaxBody:       d.size(s.MaxBody),
			MaxInFlight:   d.size(s.MaxInFlight),
			HeaderTimeout: d.duration(s.HeaderTimeout, 100*time.Millisecond, 10*time.Minute),
			FirstByte:     d.duration(s.FirstByteTimeout, 0, 24*time.Hour),
		},
		Listener: ListenConfig{
			CertFile: d.file(s.TLSCertFile), KeyFile: d.file(s.TLSKeyFile),
			Grace: d.duration(s.DrainGrace, time.Second, 24*time.Hour),
		},
		Admin: AdminConfig{
			Listen: d.address(s.AdminListen),
			Chosen: s.AdminListen.given(),
			Token:  d.token(s.AdminToken, 16),
			Hosts:  d.hosts(s.AdminHosts),

			CertFile: d.file(s.AdminTLSCert), KeyFile: d.file(s.AdminTLSKey),
		},
		MetricsListen: d.address(s.MetricsListen),
		Identity: IdentityConfig{
			Tenant:       d.name(s.Tenant),
			User:         d.name(s.DefaultUser),
			KeyFile:      d.file(s.IdentityKeyFile),
			TrustHeaders: d.bool(s.TrustHeaders.setting),
			Origins:      d.hosts(s.Origins),
			WebUISecret:  d.token(s.WebUISecret, 1),
		},
		Clients: d.tables(s),
		Auth:    AuthConfig{Mode: d.word(s.AuthMode, "passthrough", "keys"), Keys: d.keys(s.AuthKeys)},
		Grants:  d.grants(s.Grants),
		Store: StoreConfig{
			Dir: dataDir(s.DataDir, env), Strict: d.bool(s.Strict.setting), Shared: d.shared(s),
			KeyFile: d.encryptionKey(s.EncryptionKeyFile), OldKeyFile: d.encryptionKey(s.OldEncryptionKeyFile),
		},
		Session: SessionConfig{
			Idle:    d.duration(s.SessionIdle, time.Second, 7*24*time.Hour),
			PerHour: d.number(s.SessionPerHour, 0, 1_000_000),
		},
		Reflect: ReflectConfig{
			Model:        s.ReflectModel.raw,
			Base:         d.url(s.ReflectAPIBase),
			Key:          d.token(s.ReflectAPIKey, 1),
			Strategy:     d.word(s.Strategy, "classify", "score", "contrast"),
			Instructions: s.Instructions.raw,
			Budget:       d.portion(s.Budget),
			BudgetLeast:  d.number(s.BudgetLeast, 0, 1e9),
			AdoptHistory: d.bool(s.AdoptHistory.setting),
		},
		Forget: d.forgetting(s),
		Inject: InjectConfig{
			TopK:     d.number(s.TopK, 1, 50),
			Tokens:   d.number(s.InjectTokens, 1, 8000),
			Deadline: d.duration(s.RecallDeadline, time.Millisecond, 10*time.Second),
			Ranking:  d.word(s.Ranking, "bounded", "additive"),
			Position: d.word(s.Position, "user_head", "user_tail"),
			Array:    d.word(s.Array, "part", "inline"),
			Profiles: d.profiles(s.Profiles),
			Cite:     d.bool(s.Cite.setting),
			Stateful: d.bool(s.Stateful.setting),
			Holdout:  d.share(s.Holdout),
		},
		MCPNames: d.word(s.MCPNames, mcpserver.NamesMemory, mcpserver.NamesStore, mcpserver.NamesBoth),

		Zone:   d.zone(s.TZ, env),
		Log:    LogConfig{Level: d.level(s.LogLevel), Format: d.word(s.LogFormat, "text", "json")},
		Traces: d.word(s.Traces, "off", "otlp") == "otlp",
	}
	if c.Upstream.Anthropic == nil {
		c.Upstream.Anthropic = c.Upstream.Base
	}
	c.Embedder = s.Embedder.raw
	c.Embedding = EmbeddingConfig{Base: d.url(s.EmbeddingBase), Key: d.token(s.EmbeddingKey, 1)}
	d.together(s, c, serve)
	c.Identity.Implied = alone(c.Listen, env)
	c.Effective = s.effective()
	return c
}
