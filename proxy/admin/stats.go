package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	dto "github.com/prometheus/client_model/go"

	"hindsight/proxy/admin/trial"
	"hindsight/store"
)

// stats registers the call for figures.
func (a *API) stats(api huma.API) {
	route(api, "stats", http.MethodGet, base+"/stats", "Figures: what is kept, what came of it, what this process has done", a.getStats)
}

type statsInput struct {
	Tenant string `query:"tenant" maxLength:"200"`
}

type statsOutput struct{ Body Stats }

// Stats are the figures. A rate without anything to divide by is left out.
type Stats struct {
	Tenant string        `json:"tenant"`
	Kept   store.Figures `json:"kept" doc:"Counted from what is kept; outlives a restart."`

	Conflict    *float64 `json:"conflict_rate,omitempty" doc:"Superseded memories of all that are kept."`
	Utilisation *float64 `json:"utilisation_rate,omitempty" doc:"Verdicts used or confirmed of all verdicts on injected memories."`

	Comparison *trial.Comparison `json:"comparison,omitempty" doc:"Sessions with and without memory, where inject.holdout holds some out."`
	Paused     []store.Scope     `json:"paused" nullable:"false" doc:"Scopes that gain more sessions than session.per_hour allows: new sessions of theirs get no memory until fewer come."`

	Since time.Time `json:"since" doc:"When this process started."`
	Run   *Run      `json:"since_start,omitempty" doc:"Of this process, all tenants together; gone with a restart."`
}

// Run is what one process has done. Tokens are estimates but for those that the
// upstream reports.
type Run struct {
	Recalls        int      `json:"recalls"`
	Injections     int      `json:"injections" doc:"Recalls that injected something."`
	Hit            *float64 `json:"hit_rate,omitempty" doc:"Injections of recalls."`
	InjectedTokens int      `json:"injected_tokens" doc:"Of newly injected blocks."`
	CarriedTokens  int      `json:"carried_tokens" doc:"Of all blocks in all requests, replayed ones included."`
	Spared         int      `json:"spared" doc:"Memories that were found and not injected because they were said already."`
	TokensSaved    int      `json:"tokens_saved" doc:"Of the texts of those memories."`
	Prompt         int      `json:"prompt_tokens" doc:"As reported by the upstream."`
	Cached         int      `json:"cached_prompt_tokens" doc:"As reported by the upstream."`
	PrefixKept     *float64 `json:"prefix_kept,omitempty" doc:"Of the requests whose earlier messages had got blocks, those in which all stand again."`
}

func (a *API) getStats(ctx context.Context, in *statsInput) (*statsOutput, error) {
	tenant, err := a.tenant(ctx, in.Tenant, "query.tenant")
	if err != nil {
		return nil, err
	}
	c, err := a.keeper.of(ctx, tenant)
	if err != nil {
		return nil, a.fail("the figures", err)
	}
	f := c.figures
	j := f.Judged
	s := Stats{
		Tenant: tenant, Kept: f, Since: a.began, Run: a.run(),
		Conflict:    rate(float64(f.States[store.Superseded]), float64(f.Memories)),
		Utilisation: rate(float64(j.Used), float64(j.Used+j.Ignored+j.Contradicted)),
	}
	s.Paused = []store.Scope{}
	if a.cfg.Paused != nil {
		s.Paused = append(s.Paused, a.cfg.Paused(tenant)...)
	}
	if c.trials.With.Turns.N+c.trials.Without.Turns.N > 0 {
		compared := trial.Compare(c.trials)
		s.Comparison = &compared
	}
	return &statsOutput{s}, nil
}

// run reads what the process counts for /metrics; nil where nothing is counted.
func (a *API) run() *Run {
	if a.cfg.Gatherer == nil {
		return nil
	}
	families, err := a.cfg.Gatherer.Gather()
	if err != nil { // what could be gathered is there all the same
		a.log.Debug("gather metrics for the figures", "error", err)
	}
	m := gathered{}
	for _, f := range families {
		m[f.GetName()] = f
	}
	kept, changed := m.sum("prefix_total", "kept"), m.sum("prefix_total", "changed")
	r := &Run{
		Recalls: int(m.sum("recalls_total", "")), Injections: int(m.sum("recalls_total", "injected")),
		InjectedTokens: int(m.sum("injected_tokens_total", "")), CarriedTokens: int(m.sum("carried_tokens", "")),
		Spared: int(m.sum("recall_spared_total", "")), TokensSaved: int(m.sum("recall_spared_tokens_total", "")),
		Prompt: int(m.sum("upstream_prompt_tokens_total", "")), Cached: int(m.sum("upstream_cached_tokens_total", "")),
		PrefixKept: rate(kept, kept+changed),
	}
	r.Hit = rate(float64(r.Injections), float64(r.Recalls))
	return r
}

// gathered are metrics by name.
type gathered map[string]*dto.MetricFamily

// sum adds up the values of a metric, or those that one label has; of a
// histogram, what was observed.
func (g gathered) sum(name, label string) float64 {
	var n float64
	for _, m := range g[store.Product+"_"+name].GetMetric() {
		if label != "" && (len(m.GetLabel()) != 1 || m.GetLabel()[0].GetValue() != label) {
			continue
		}
		n += m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
	}
	return n
}

// rate is a share, nil of nothing.
func rate(part, of float64) *float64 {
	if of == 0 {
		return nil
	}
	r := part / of
	return &r
}
