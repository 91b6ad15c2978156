package console

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"hindsight/proxy/admin/explain"
	"hindsight/store"
)

// When is a time for people, in the configured zone.
func (w *view) When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(w.v.c.cfg.Zone).Format("2006-01-02 15:04")
}

// Ago is a time beside now: an element that shows the exact one on demand.
func (w *view) Ago(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, //nolint:gosec // nothing in it is anybody's text
		t.UTC().Format(time.RFC3339), w.When(t), template.HTMLEscapeString(w.v.ago(t))))
}

func (v *visit) ago(t time.Time) string {
	d := v.c.cfg.Now().Sub(t)
	for _, unit := range []struct {
		key string
		len time.Duration
	}{{"ago.days", 24 * time.Hour}, {"ago.hours", time.Hour}, {"ago.minutes", time.Minute}} {
		if n := int(d / unit.len); n >= 1 {
			if unit.key == "ago.days" && n > 30 {
				return t.In(v.c.cfg.Zone).Format("2006-01-02")
			}
			if unit.key == "ago.days" && n == 1 {
				return v.t("ago.day")
			}
			return v.t(unit.key, n)
		}
	}
	return v.t("ago.now")
}

// Percent is a share for people; a nil one is a dash.
func (w *view) Percent(share *float64) string {
	if share == nil {
		return "–"
	}
	return percent(*share)
}

func percent(share float64) string {
	switch p := 100 * share; {
	case p == 0 || p == 100:
		return fmt.Sprintf("%.0f %%", p)
	case p < 10:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.0f %%", math.Min(p, 99)) // 99.6 isn't all
	}
}

// Number is a count with its thousands apart.
func (w *view) Number(n int) string { return thousands(n) }

func thousands(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, parts...), "\u202f")
}

// Score is a part of a score.
func (w *view) Score(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// Signed is a difference, with its sign.
func (w *view) Signed(f any) string {
	switch f := f.(type) {
	case *float64:
		return fmt.Sprintf("%+.2f", *f)
	case float64:
		return fmt.Sprintf("%+.2f", f)
	}
	return ""
}

// Meter is a bar of a share, drawn without a style attribute, which the content
// security policy forbids.
func (w *view) Meter(share float64, of string) template.HTML {
	wide := math.Max(0, math.Min(1, share)) * 100
	return template.HTML(fmt.Sprintf(`<svg class="meter %s" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rail" width="100" height="4"/><rect class="fill" width="%.1f" height="4"/></svg>`, //nolint:gosec // numbers and words of ours
		template.HTMLEscapeString(of), wide))
}

// Took is how long something lasted.
func (w *view) Took(from, to time.Time) string {
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return seconds(to.Sub(from).Seconds())
}

// seconds is a length of time in the unit that suits it.
func seconds(s float64) string {
	switch {
	case s < 0.001:
		return fmt.Sprintf("%.2f ms", s*1000)
	case s < 0.01:
		return fmt.Sprintf("%.1f ms", s*1000)
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	default:
		return fmt.Sprintf("%.0f s", s)
	}
}

// Piece is a stretch of a text; a marked one is what a memory rests on.
type Piece struct {
	Text   string
	Marked bool
}

// mark cuts a text where the quotes stand in it.
func mark(text string, quotes []string) []Piece {
	var out []Piece
	for text != "" {
		at, length := -1, 0
		for _, q := range quotes {
			if i := strings.Index(text, q); q != "" && i >= 0 && (at < 0 || i < at) {
				at, length = i, len(q)
			}
		}
		if at < 0 {
			break
		}
		if at > 0 {
			out = append(out, Piece{Text: text[:at]})
		}
		out = append(out, Piece{Text: text[at : at+length], Marked: true})
		text = text[at+length:]
	}
	if text != "" {
		out = append(out, Piece{Text: text})
	}
	return out
}

// Dropped says why something wasn't kept.
func (w *view) Dropped(reason string) string { return w.v.lang.Dropped(reason) }

// Parts are the parts of a score with what they mean.
func (w *view) Parts(parts map[string]float64) []explain.Part { return w.v.lang.Parts(parts) }

// Cause says what made a revision.
func (w *view) Cause(c store.Cause) string { return w.v.lang.Cause(c) }

// Start is the beginning of a text, on one line.
func (w *view) Start(text string) string { return short(strings.Join(strings.Fields(text), " ")) }

// Short is the beginning of an id, enough to tell it by.
func (w *view) Short(id string) string {
	if len(id) > 12 {
		return id[:12] + "…"
	}
	return id
}

// Proof is the line that says what memory does here.
func (w *view) Proof(o *overviewPage) template.HTML {
	run, judged := o.Run(), o.Stats.Kept.Judged
	if run == nil || run.Recalls == 0 {
		return template.HTML(w.T("proof.nothing")) //nolint:gosec // a text of the catalog
	}
	said := w.T("proof.found", w.Number(run.Recalls), w.Percent(run.Hit)) + w.v.lang.Space()
	if judged.Used+judged.Ignored+judged.Contradicted == 0 {
		said += w.T("proof.unjudged")
	} else {
		said += w.T("proof.judged", w.Percent(o.Stats.Utilisation))
	}
	return template.HTML(said) //nolint:gosec // texts of the catalog and numbers
}
