package console

import (
	"fmt"
	"math"
	"time"

	"hindsight/store"
)

// charts are the pictures of the overview over the last hour or day.
func (v *visit) charts(wide bool) []*chart {
	all := v.c.past.samples(wide)
	rates := func(ids ...string) func(a, b sample) float64 {
		for i := range ids {
			ids[i] = store.Product + "_" + ids[i]
		}
		return func(a, b sample) float64 { return perMinute(a, b, ids...) }
	}
	quant := func(q float64, id string) func(a, b sample) float64 {
		return func(a, b sample) float64 { return quantile(q, a, b, store.Product+"_"+id) }
	}
	now := func(ids ...string) func(a, b sample) float64 {
		return func(_, b sample) float64 {
			n := 0.0
			for _, id := range ids {
				n += b.values[store.Product+"_"+id]
			}
			return n
		}
	}
	requests := func(classes ...string) (ids []string) {
		for _, route := range []string{"memory", "other"} {
			for _, class := range classes {
				ids = append(ids, "requests_total/"+class+"/"+route)
			}
		}
		return ids
	}
	count := func(f float64) string {
		if f < 10 && f != math.Trunc(f) {
			return fmt.Sprintf("%.1f", f)
		}
		return thousands(int(math.Round(f)))
	}
	d := drawer{v, all, v.c.past.span(wide)}
	health := d.chart("health", func(f float64) string {
		switch {
		case f >= 1:
			return v.t("memory.on")
		case f > 0:
			return v.t("memory.degraded")
		}
		return v.t("memory.off")
	}, line{"", "a", now("store_on")})
	health.strip = true
	return []*chart{
		d.chart("requests", count,
			line{"answered", "a", rates(requests("2xx", "3xx", "1xx")...)}, line{"refused", "c", rates(requests("4xx")...)}, line{"broken", "d", rates(requests("5xx", "none")...)}),
		d.chart("recalls", count,
			line{"injected", "a", rates("recalls_total/injected")}, line{"nothing", "b", rates("recalls_total/none")},
			line{"missed", "d", rates("recalls_total/deadline", "recalls_total/store")}),
		d.chart("added", seconds, line{"p50", "a", quant(0.5, "added_seconds")}, line{"p95", "c", quant(0.95, "added_seconds")}),
		d.chart("recalltime", seconds, line{"p50", "a", quant(0.5, "recall_seconds")}, line{"p95", "c", quant(0.95, "recall_seconds")}),
		d.chart("tokens", count, line{"new", "a", rates("injected_tokens_total")}, line{"carried", "b", rates("carried_tokens")}),
		d.chart("prompt", count, line{"all", "b", rates("upstream_prompt_tokens_total")}, line{"cached", "a", rates("upstream_cached_tokens_total")}),
		d.chart("queue", count,
			line{"waiting", "a", now("reflection_jobs/queued", "reflection_jobs/waiting_for_key")}, line{"running", "b", now("reflection_jobs/running")},
			line{"dead", "d", now("reflection_jobs/dead")}),
		health,
	}
}

// line is how a series of a chart comes of two samples that follow each other.
type line struct {
	name   string
	colour string
	value  func(a, b sample) float64
}

// drawer makes charts of the same samples.
type drawer struct {
	v    *visit
	all  []sample
	span time.Duration
}

func (d drawer) chart(key string, say func(float64) string, lines ...line) *chart {
	v, zone := d.v, d.v.c.cfg.Zone
	ch := &chart{Name: v.t("chart." + key), Note: v.t("chart." + key + ".note"), say: say, end: v.c.cfg.Now()}
	if len(d.all) > 0 {
		ch.end = d.all[len(d.all)-1].at
		// A process that has just started fills its chart from the left.
		ch.start = d.all[0].at
		if d.span < ch.end.Sub(ch.start) {
			ch.start = ch.end.Add(-d.span)
		}
	}
	if !ch.start.Before(ch.end) {
		ch.start = ch.end.Add(-d.span)
	}
	form := "15:04"
	if ch.end.Sub(ch.start) < 10*time.Minute {
		form = "15:04:05"
	}
	ch.From, ch.To = ch.start.In(zone).Format(form), ch.end.In(zone).Format(form)
	for i := 1; i < len(d.all); i++ {
		ch.times = append(ch.times, d.all[i].at)
	}
	for _, l := range lines {
		s := series{Colour: l.colour}
		if l.name != "" {
			s.Name = v.t("line." + l.name)
		}
		for i := 1; i < len(d.all); i++ {
			s.values = append(s.values, l.value(d.all[i-1], d.all[i]))
		}
		ch.Series = append(ch.Series, s)
	}
	ch.finish()
	return ch
}
