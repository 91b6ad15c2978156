package console

import (
	"encoding/json"
	"io/fs"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

var han = regexp.MustCompile(`\p{Han}`)

func TestEveryTextIsInBothLanguages(t *testing.T) {
	var all map[string][2]string
	if err := json.Unmarshal(words, &all); err != nil {
		t.Fatal(err)
	}
	for key, pair := range all {
		english, chinese := !han.MatchString(pair[0]), han.MatchString(pair[1])
		if key == "language" { // each is named in the other
			english, chinese = chinese == english, true
		}
		if pair[0] == "" || !english || !chinese {
			t.Errorf("%s is %q in English and %q in Chinese", key, pair[0], pair[1])
		}
		if strings.Count(pair[0], "%") != strings.Count(pair[1], "%") {
			t.Errorf("%s takes other values in Chinese: %q, %q", key, pair[0], pair[1])
		}
	}
}

// Every text that a page asks for by name is there.
func TestPagesFindTheirTexts(t *testing.T) {
	var all map[string][2]string
	if err := json.Unmarshal(words, &all); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	named := regexp.MustCompile(`(?:\bT|\bt|page|titled|outside|note)\b[^"\n]{0,12}"([a-z]+(?:\.[a-z_]+)*)"`)
	err := fs.WalkDir(files, "templates", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		for _, m := range named.FindAllStringSubmatch(string(b), -1) {
			used[m[1]] = true
			if _, ok := all[m[1]]; !ok {
				t.Errorf("%s asks for the text %q, which isn't there", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(used) < 60 {
		t.Errorf("only %d texts are asked for: %v", len(used), used)
	}
}

func TestDoor(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	d := NewDoor(func() string { return "http://127.0.0.1:8081" }, func() time.Time { return now })
	code := func() string {
		_, path, _ := d.Link()
		return strings.TrimPrefix(path, "/console/login?code=")
	}
	first := code()
	cookie, ok := d.enter(first)
	if !ok {
		t.Fatal("a fresh link doesn't let in")
	}
	if _, ok := d.enter(first); ok {
		t.Error("a link lets in twice")
	}
	late := code()
	now = now.Add(linkLife)
	if _, ok := d.enter(late); ok {
		t.Error("an old link lets in")
	}
	who, ok := d.known(cookie)
	if !ok || !who.meant(who.csrf) || who.meant("") {
		t.Errorf("the visitor is %+v, %v", who, ok)
	}
	for range 20 { // busy all the time
		now = now.Add(visitIdle / 2)
		_, ok = d.known(cookie)
	}
	if ok {
		t.Error("a visit never ends while it is busy")
	}
	cookie, _ = d.enter(code())
	now = now.Add(visitIdle)
	if _, ok := d.known(cookie); ok {
		t.Error("a visit outlives an idle hour")
	}
	cookie, _ = d.enter(code())
	who, _ = d.known(cookie)
	d.leave(who)
	if _, ok := d.known(cookie); ok {
		t.Error("who has left is still in")
	}
	early := code()
	for range maxLinks {
		now = now.Add(time.Millisecond)
		code()
	}
	if _, ok := d.enter(early); ok || len(d.links) > maxLinks {
		t.Errorf("%d links wait", len(d.links))
	}
	for range maxVisitors + 5 {
		now = now.Add(time.Millisecond)
		d.enter(code())
	}
	if len(d.visitors) != maxVisitors {
		t.Errorf("%d browsers are let in", len(d.visitors))
	}
}

func TestPastIsBoundedAndTellsRates(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	reg := prometheus.NewRegistry()
	recalls := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hindsight_recalls_total"}, []string{"result"})
	times := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "hindsight_recall_seconds", Buckets: []float64{0.001, 0.01, 0.1}})
	reg.MustRegister(recalls, times)
	p := newPast(reg, 15*time.Second, func() time.Time { return now })
	for range 2 * kept {
		recalls.WithLabelValues("injected").Add(3)
		times.Observe(0.005)
		p.sample()
		now = now.Add(15 * time.Second)
	}
	fine, wide := p.samples(false), p.samples(true)
	if len(fine) != kept+1 || len(wide) > kept {
		t.Errorf("%d and %d samples are kept", len(fine), len(wide))
	}
	a, b := fine[10], fine[11]
	if got := perMinute(a, b, "hindsight_recalls_total/injected"); got != 12 {
		t.Errorf("%v a minute, want 12", got)
	}
	if got := perMinute(b, a, "hindsight_recalls_total/injected"); !math.IsNaN(got) {
		t.Errorf("a counter that fell says %v", got)
	}
	if got := quantile(0.5, a, b, "hindsight_recall_seconds"); math.Abs(got-0.0055) > 1e-9 {
		t.Errorf("the median is %v, want the middle of its bucket", got)
	}
	if got := quantile(0.5, a, a, "hindsight_recall_seconds"); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestChartDrawsGapsAndScales(t *testing.T) {
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	ch := &chart{
		Name: "Requests <a minute>", start: at, end: at.Add(3 * time.Minute), say: func(f float64) string { return thousands(int(f)) },
		times:  []time.Time{at, at.Add(time.Minute), at.Add(2 * time.Minute), at.Add(3 * time.Minute)},
		Series: []series{{Name: "all", Colour: "a", values: []float64{1200, math.NaN(), 300, 1700}}},
	}
	ch.finish()
	if ch.Top != "2\u202f000" || ch.Middle != "1\u202f000" || ch.Empty {
		t.Errorf("the scale is %q, %q", ch.Top, ch.Middle)
	}
	svg := string(ch.Draw())
	if strings.Count(svg, `class="line a"`) != 2 || strings.Contains(svg, "NaN") || !strings.Contains(svg, "Requests &lt;a minute&gt;; all 1\u202f700") {
		t.Errorf("drawn as %s", svg)
	}
	if got := strings.Split(ch.Points(time.UTC), "\n")[1]; got != "33.3|08:01:00|all –" {
		t.Errorf("the script gets %q", got)
	}
}

func TestMark(t *testing.T) {
	for _, c := range []struct {
		text   string
		quotes []string
		want   []Piece
	}{
		{"I live in Oslo now.", []string{"live in Oslo"}, []Piece{{"I ", false}, {"live in Oslo", true}, {" now.", false}}},
		{"a b a", []string{"a", ""}, []Piece{{"a", true}, {" b ", false}, {"a", true}}},
		{"nothing", []string{"else"}, []Piece{{"nothing", false}}},
		{"", nil, nil},
	} {
		if d := cmp.Diff(c.want, mark(c.text, c.quotes)); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

func TestInsideStaysInTheConsole(t *testing.T) {
	for to, want := range map[string]string{
		"/console/memories?q=a+b": "/console/memories?q=a+b", "": home, "https://evil.example/console/": home, "//evil.example/console/": home,
		"/api/v1/memories": home, "/console/login?code=x": home, "javascript:alert(1)": home,
	} {
		if got := inside(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}
