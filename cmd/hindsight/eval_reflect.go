package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	reflecteval "hindsight/internal/eval/reflect"
	"hindsight/proxy/admin"
	"hindsight/store"
)

// evalReflectCmd holds reflection against conversations with known answers.
type evalReflectCmd struct {
	Cases    string `required:"" placeholder:"PATH" help:"A file of cases, or a folder of them."`
	Only     string `placeholder:"TEXT" help:"Only cases whose id holds this."`
	Parallel int    `default:"1" placeholder:"N" help:"Cases at a time."`

	Model    setting `name:"reflect-model" key:"reflect.model" group:"reflection" placeholder:"MODEL" help:"The model to measure, or rules for none."`
	Base     setting `name:"reflect-api-base" key:"reflect.api_base" group:"reflection" placeholder:"URL" help:"Where it is served; the upstream where left out."`
	KeyFile  setting `name:"reflect-api-key-file" key:"reflect.api_key_file" group:"reflection" placeholder:"PATH" help:"A file with its key."`
	Embedder setting `name:"embedder" key:"embedder" def:"builtin" group:"reflection" placeholder:"NAME" help:"As for serve."`
}

// evalTenant holds the cases, one user each.
const evalTenant = "eval"

// Run starts the product over a directory of its own and reports each
// conversation to it.
func (c *evalReflectCmd) Run(ctx context.Context, a *app) error {
	cases, err := reflecteval.Load(c.Cases)
	if err != nil {
		return &failure{wrong: err.Error(), next: "README's section on evaluation describes the form.", code: exitUsage}
	}
	var chosen []reflecteval.Case
	for _, one := range cases {
		if strings.Contains(one.ID, c.Only) {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) == 0 || c.Parallel < 1 {
		return &failure{wrong: "--only and --parallel: want a text that an id holds, and 1 or more", code: exitUsage}
	}
	cfg, err := c.config(a)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hindsight-eval")
	if err != nil {
		return fmt.Errorf("make a directory for the cases: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cfg.Store.Dir = dir
	running, stop := context.WithCancel(ctx)
	st, err := startStack(running, cfg)
	if err != nil {
		stop()
		return err
	}
	defer func() { stop(); _ = st.wait() }() // the report is what counts
	if err := st.store.Ready(ctx); err != nil {
		return err
	}
	shown := a.long("cases", len(chosen))
	rep, err := reflecteval.Measure(ctx, cfg.Reflect.Model, chosen, c.Parallel, reflecting{st}, shown.at)
	shown.end()
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(rep)
	} else {
		err = rep.Table(a.out)
	}
	switch {
	case err != nil:
		return err
	case rep.Total.Failed > 0:
		return &failure{wrong: fmt.Sprintf("%d cases without an answer", rep.Total.Failed), next: "Look whether the endpoint and the model's name are right."}
	case rep.Total.Stored > 0:
		return &failure{wrong: fmt.Sprintf("%d strings were stored that must not be", rep.Total.Stored)}
	}
	return nil
}

// config is the configured reflection over nothing else of the configuration's
// deployment.
func (c *evalReflectCmd) config(a *app) (Config, error) {
	cfg, err := load(settings{ReflectModel: c.Model, ReflectAPIBase: c.Base, ReflectKeyFile: c.KeyFile, Embedder: c.Embedder}, a.config, a.env, false)
	if err != nil {
		return cfg, err
	}
	if cfg.Reflect.Model == "" {
		return cfg, &failure{wrong: "no model to measure", next: "Set HINDSIGHT_REFLECT_MODEL to its name, or to rules.", code: exitUsage}
	}
	if cfg.Upstream.Base == nil {
		switch {
		case cfg.Reflect.Base != nil:
			cfg.Upstream.Base = cfg.Reflect.Base
		case cfg.Reflect.Model == "rules":
			cfg.Upstream.Base = &url.URL{Scheme: "http", Host: "127.0.0.1:9"} // nobody is asked
		default:
			return cfg, &failure{wrong: "nowhere to ask " + cfg.Reflect.Model, next: "Set HINDSIGHT_REFLECT_API_BASE, or LLM_API_BASE.", code: exitUsage}
		}
		cfg.Upstream.Anthropic = cfg.Upstream.Base
	}
	cfg.Listen, cfg.Listener, cfg.MetricsListen = "127.0.0.1:0", ListenConfig{Grace: time.Second}, ""
	cfg.Admin = AdminConfig{Listen: "127.0.0.1:0"}
	cfg.Identity = IdentityConfig{Tenant: evalTenant, TrustHeaders: true}
	cfg.Auth, cfg.Grants = AuthConfig{Mode: "passthrough"}, nil
	cfg.Session.Idle = 7 * 24 * time.Hour // a case ends when we say so
	cfg.Reflect.Workers = c.Parallel
	cfg.Reflect.BudgetLeast = math.MaxInt // who measures has decided to spend
	cfg.Log.Level = slog.LevelError
	return cfg, nil
}

// reflecting is the product that runs, as the cases see it.
type reflecting struct{ st *stack }

var _ reflecteval.Product = reflecting{}

// Reflect writes a case's earlier memories, reports its messages and closes the
// session.
func (r reflecting) Reflect(ctx context.Context, c reflecteval.Case) (reflecteval.Outcome, error) {
	var out reflecteval.Outcome
	owner := store.Owner{Tenant: evalTenant, User: c.ID}
	events := eventsOf(c.Messages, time.Now())
	if len(events) == 0 {
		return out, errors.New("a case without a message that anybody said")
	}
	var prior []string
	for i, p := range c.Prior {
		// A month before the conversation, in their order.
		at := events[0].Time.AddDate(0, -1, 0).Add(time.Duration(i) * time.Minute)
		m, _, err := r.st.store.PutMemory(ctx, store.Memory{
			ID:     store.MemoryID(owner.Tenant, owner.Scope(), "", 0, 0, "", store.Fold(p.Content)),
			Tenant: owner.Tenant, Scope: owner.Scope(), Type: p.Type, Layer: store.LayerOf(p.Type), Text: p.Content,
			Importance: p.Importance, Confidence: 1, State: store.Active, AttributedTo: store.ByUser, CreatedAt: at, UpdatedAt: at,
		})
		if err != nil {
			return out, err
		}
		prior = append(prior, m.ID)
	}
	closed, err := r.close(ctx, owner, events)
	out.Dropped = closed.Dropped
	for _, scope := range owner.OwnScopes() {
		all, _, readErr := r.st.store.ScopeMemories(ctx, owner.Tenant, scope)
		if readErr != nil {
			return out, readErr
		}
		out.Add(all, prior)
	}
	if job, jobErr := r.st.store.Job(ctx, closed.Reflection); jobErr == nil {
		out.Strategy = job.Strategy
	}
	return out, err
}

// close reports the events and waits for the reflection, however long its model
// takes.
func (r reflecting) close(ctx context.Context, o store.Owner, events []admin.ReportedEvent) (closed admin.Closed, err error) {
	api := client{http: &http.Client{Transport: local{r.st.api.OwnerHandler()}}, base: "http://" + store.Product, where: "this process"}
	var told struct {
		Session string `json:"session"`
	}
	if _, err := api.do(ctx, http.MethodPost, sessionsPath+"/case/events", url.Values{"tenant": {o.Tenant}, "user": {o.User}}, events, &told); err != nil {
		return closed, err
	}
	for {
		_, err := api.do(ctx, http.MethodPost, sessionsPath+"/"+told.Session+"/close", url.Values{"wait": {"10m"}}, nil, &closed)
		if err != nil || closed.State == "done" {
			return closed, err
		}
	}
}

// eventsOf are a case's messages as an agent framework would report them.
func eventsOf(messages []reflecteval.Message, now time.Time) []admin.ReportedEvent {
	kinds := map[string]store.EventKind{"user": store.UserInput, "assistant": store.FinalOutput, "tool": store.ToolResult}
	var out []admin.ReportedEvent
	for i, m := range messages {
		kind, ok := kinds[m.Role]
		if !ok || strings.TrimSpace(m.Content) == "" {
			continue
		}
		at := m.Time
		if at.IsZero() {
			at = now.Add(time.Duration(i-len(messages)) * time.Minute)
		}
		out = append(out, admin.ReportedEvent{Type: kind, Time: at, Payload: admin.Payload{Text: m.Content}})
	}
	return out
}
