package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hindsight/inject"
	"hindsight/internal/eval/replay"
	"hindsight/store/embedding"
)

// replayCmd asks recorded questions again. It reads, by the management API, and
// writes nothing.
type replayCmd struct {
	reach
	Session string  `placeholder:"ID" help:"This session alone; its id, or the client's own."`
	Since   string  `placeholder:"TIME" help:"Questions asked since then: a date, a time, or how long ago, such as 48h."`
	Limit   int     `placeholder:"N" default:"100" help:"At most so many questions, the newest sessions first; 100 where left out."`
	Gate    float64 `placeholder:"FACTOR" default:"1" help:"How strict the gate is, as a factor of what is built in."`

	TopK          setting `name:"top-k" key:"top_k" group:"injection" placeholder:"N" help:"Most memories a turn."`
	InjectTokens  setting `name:"inject-tokens" key:"inject.tokens" group:"injection" placeholder:"N" help:"Most tokens a turn."`
	Ranking       setting `name:"ranking" key:"ranking" group:"injection" placeholder:"WORD" help:"bounded or additive."`
	Embedder      setting `name:"embedder" key:"embedder" group:"injection" placeholder:"NAME" help:"builtin, none, or a served model; what is configured where left out."`
	EmbeddingBase setting `name:"embedding-api-base" key:"embedding.api_base" group:"injection" placeholder:"URL" help:"Where it is served."`
	Profiles      setting `name:"inject-profiles" key:"inject.profiles" group:"injection" placeholder:"JSON" help:"Other bounds for certain models."`
}

// Run reads the sessions, asks and prints.
func (c *replayCmd) Run(ctx context.Context, a *app) (err error) {
	cfg, err := load(settings{
		DataDir: c.DataDir, TopK: c.TopK, InjectTokens: c.InjectTokens, Ranking: c.Ranking,
		Embedder: c.Embedder, EmbeddingBase: c.EmbeddingBase, Profiles: c.Profiles,
	}, a.config, a.env, false)
	if err != nil {
		return err
	}
	since, err := sinceWhen(c.Since, time.Now())
	switch {
	case err != nil:
		return err
	case c.Limit < 1:
		return &failure{wrong: "--limit: want at least 1", code: exitUsage}
	case c.Gate < 0.1 || c.Gate > 10:
		return &failure{wrong: "--gate: want a factor from 0.1 to 10", next: "1 is what is built in; below, more passes.", code: exitUsage}
	}
	cl, err := a.client(ctx, c.reach)
	if err != nil {
		return err
	}
	past, err := readPast(ctx, cl, pastQuery{tenant: c.Tenant, session: c.Session, since: since, limit: c.Limit, grants: grantsOf(cfg.Grants)})
	if err = errors.Join(err, cl.close()); err != nil {
		return err
	}
	ic := inject.Config{
		TopK: cfg.Inject.TopK, Tokens: cfg.Inject.Tokens, Ranking: inject.Ranking(cfg.Inject.Ranking), Gate: c.Gate,
		Profiles: cfg.Inject.Profiles, Cite: cfg.Inject.Cite, Grants: grantsOf(cfg.Grants), Deadline: evalDeadline,
	}
	model, err := newModel(cfg)
	if err != nil {
		return err
	}
	var vectors map[string][]float32
	if model != nil {
		if vectors, err = past.embed(ctx, a, model); err != nil {
			return err
		}
		ic.Embedder = newAsked(model, false)
	}
	engine, err := replay.New(ctx, ic, past.memories, vectors)
	if err != nil {
		return err
	}
	defer engine.Close()
	var report replayReport
	for _, s := range past.sessions {
		answers, err := engine.Session(ctx, s, cfg.Zone)
		if err != nil {
			return err
		}
		for _, answer := range answers {
			if !answer.Started.Before(since) {
				report.add(s, answer, past.text)
			}
		}
	}
	report.keep(c.Limit)
	if a.json {
		return a.printJSON(report)
	}
	return report.print(a)
}

// embed makes the vectors of all memories, and shows how far it is.
func (p *past) embed(ctx context.Context, a *app, model embedding.Model) (map[string][]float32, error) {
	const some = 16
	out := make(map[string][]float32, len(p.memories))
	shown := a.long("embedding", len(p.memories))
	defer shown.end()
	for from := 0; from < len(p.memories); from += some {
		part := p.memories[from:min(from+some, len(p.memories))]
		texts := make([]string, len(part))
		for i := range part {
			texts[i] = embedding.Text(&part[i])
		}
		vectors, err := model.Embed(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("embed the memories: %w", err)
		}
		for i := range part {
			out[part[i].ID] = vectors[i]
		}
		shown.at(from + len(part))
	}
	return out, nil
}

// sinceWhen reads a date, a time or how long ago.
func sinceWhen(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &failure{wrong: fmt.Sprintf("--since %q is no time", s), next: "Write a date (2026-11-01), a time (2026-11-01T08:00:00Z) or how long ago (48h).", code: exitUsage}
}
