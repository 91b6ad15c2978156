package main

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/inject"
	"hindsight/proxy"
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/proxy/dialect/messages"
	"hindsight/proxy/dialect/responses"
	"hindsight/proxy/session"
	"hindsight/proxy/session/clients"
	hreflect "hindsight/reflect"
	"hindsight/reflect/extract"
	"hindsight/reflect/llm"
	"hindsight/store"
)

func newLogger(cfg LogConfig) *slog.Logger {
	opt := &slog.HandlerOptions{Level: cfg.Level}
	to := cfg.To
	if to == nil {
		to = os.Stderr
	}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(to, opt))
	}
	return slog.New(slog.NewTextHandler(to, opt))
}

// routes are the memory routes. Azure's path ends the same way.
func routes() []proxy.Route {
	return []proxy.Route{
		{Suffix: "/chat/completions", Dialect: chat.Dialect{}},
		{Suffix: "/messages", Dialect: messages.Dialect{}},
		{Suffix: "/responses", Dialect: responses.Dialect{}},
	}
}

func newProxy(cfg Config, mem proxy.Memory, state func() (string, string), log *slog.Logger, reg prometheus.Registerer) (*proxy.Server, error) {
	return proxy.New(proxy.Config{
		Upstream: cfg.Upstream.Base, Anthropic: cfg.Upstream.Anthropic,
		RequireKey: cfg.Auth.Mode == session.Keys, APIKey: cfg.Upstream.Key,
		Routes:           routes(),
		Splice:           dialect.SpliceOptions{Tail: cfg.Inject.Position == "user_tail", Inline: cfg.Inject.Array == "inline"},
		TunnelWebSockets: cfg.Upstream.WebSocket == "tunnel",
		MaxBody:          cfg.Upstream.MaxBody, MaxInFlight: cfg.Upstream.MaxInFlight,
		HeaderTimeout: cfg.Upstream.HeaderTimeout, FirstByteTimeout: cfg.Upstream.FirstByte,
		Grace: cfg.Listener.Grace, CertFile: cfg.Listener.CertFile, KeyFile: cfg.Listener.KeyFile,
		RecallDeadline: cfg.Inject.Deadline, Memory: state,
	}, mem, log, reg)
}

// newTracker builds the tracker on the tables of clients.
func newTracker(cfg Config, rules *clients.Rules, st session.Store, others session.Others, log *slog.Logger, reg prometheus.Registerer) (*session.Tracker, error) {
	id := cfg.Identity
	sc := session.Config{
		AuthMode: cfg.Auth.Mode, Tenant: id.Tenant, DefaultUser: id.User, Implied: id.Implied, TrustHeaders: id.TrustHeaders, Origins: id.Origins,
		OpenWebUISecret: []byte(id.WebUISecret), Zone: cfg.Zone, Idle: cfg.Session.Idle, Now: cfg.Now,
		PerHour: cfg.Session.PerHour, Holdout: cfg.Inject.Holdout,
		LeaveKept: !cfg.Inject.Stateful, AdoptHistory: cfg.Reflect.AdoptHistory, Others: others,
	}
	for _, k := range cfg.Auth.Keys {
		key := session.Key{Name: k.Name, Tenant: k.Tenant, User: k.User, Agent: k.Agent, Read: k.Read, Write: k.Write, Role: k.Role}
		if _, err := hex.Decode(key.SHA256[:], []byte(k.SHA256)); err != nil {
			return nil, fmt.Errorf("auth.keys %s: sha256: %w", k.Name, err)
		}
		sc.Keys = append(sc.Keys, key)
	}
	return session.New(sc, st, rules, log, reg)
}

// tickOf is the time between two looks for sessions that are due.
func tickOf(cfg Config) time.Duration { return min(5*time.Second, cfg.Session.Idle/2) }

func newRunner(cfg Config, st hreflect.Store, creds hreflect.Credentials, near hreflect.Meaning, busy func() bool, tr *traces, log *slog.Logger, reg prometheus.Registerer) (*hreflect.Runner, error) {
	rc := hreflect.Config{
		Upstream: addressOf(cfg.Upstream.Base), Anthropic: addressOf(cfg.Upstream.Anthropic), Key: cfg.Upstream.Key, ModelName: cfg.Reflect.Model, Target: targetAt,
		Budget: &cfg.Reflect.Budget, BudgetLeast: cfg.Reflect.BudgetLeast,
		Strategy: extract.Strategy(cfg.Reflect.Strategy), Instructions: cfg.Reflect.Instructions,
		Idle: cfg.Session.Idle, Tick: tickOf(cfg), Workers: cfg.Reflect.Workers, Strip: inject.Strip, Zone: cfg.Zone, Meaning: near, Busy: busy, Now: cfg.Now, Log: log, Reg: reg,
	}
	if sharing, ok := st.(hreflect.Sharing); ok { // a dry run's store promotes nothing
		rc.Shares, rc.Sharing = sharesOf(cfg.Grants), sharing
	}
	if cfg.Reflect.Base != nil {
		// Another endpoint gets its own key and never the upstream's.
		rc.Base, rc.Key = cfg.Reflect.Base.String(), ""
	}
	if cfg.Reflect.Key != "" {
		rc.Key = cfg.Reflect.Key
	}
	return hreflect.New(rc, st, creds, tr.model(llm.New(llm.Config{Log: log})))
}

// targetAt is where a request for a path arrives under an upstream's base.
func targetAt(base, path string) string {
	u, err := url.Parse(base)
	if err != nil { // it was read as one before
		return base
	}
	return proxy.Target(u, path)
}

// addressOf is a URL as a string, empty where there is none.
func addressOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.String()
}

// grantsOf are the scopes beyond an owner's own that the configuration opens: to
// users, the shared one for everybody and an agent's for whoever comes with that
// agent; to agents, either for whoever comes with any agent at all.
func grantsOf(grants []Grant) func(store.Owner) []store.Scope {
	return func(o store.Owner) []store.Scope {
		var out []store.Scope
		for _, g := range grants {
			reads := g.Scope == store.Shared || o.Agent != "" && g.Scope == store.AgentScope(o.Agent)
			if g.To == "agents" {
				reads = o.Agent != ""
			}
			if g.Tenant == o.Tenant && reads && !slices.Contains(out, g.Scope) {
				out = append(out, g.Scope)
			}
		}
		return out
	}
}

// sharesOf are the scopes of each tenant that a grant opens.
func sharesOf(grants []Grant) map[string][]store.Scope {
	out := map[string][]store.Scope{}
	for _, g := range grants {
		if !slices.Contains(out[g.Tenant], g.Scope) {
			out[g.Tenant] = append(out[g.Tenant], g.Scope)
		}
	}
	return out
}
