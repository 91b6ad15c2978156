package console

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
)

// chart is one picture over time. Its labels are text of the page, so that they
// keep their size; the drawing is an SVG that is stretched behind them.
type chart struct {
	Name   string
	Note   string // what it shows, in a sentence
	From   string // the time at its left edge
	To     string
	Top    string // the value at its upper edge
	Middle string
	Series []series
	Empty  bool // there is nothing to draw yet

	times []time.Time
	start time.Time
	end   time.Time
	top   float64
	strip bool // a band of states instead of lines
	say   func(float64) string
}

// series is one line of a chart; NaN where nothing is known.
type series struct {
	Name   string
	Colour string // a class of the style sheet: a, b, c or d
	Last   string // the newest value in words
	values []float64
}

const (
	drawWide = 600.0
	drawHigh = 120.0
)

// finish works out the scale and the labels.
func (ch *chart) finish() {
	points := 0
	for i := range ch.Series {
		s := &ch.Series[i]
		s.Last = "–"
		for _, v := range s.values {
			if !math.IsNaN(v) {
				points++
				ch.top = math.Max(ch.top, v)
				s.Last = ch.say(v)
			}
		}
	}
	ch.Empty = points == 0
	ch.top = roundUp(ch.top)
	ch.Top, ch.Middle = ch.say(ch.top), ch.say(ch.top/2)
}

// roundUp is the next 1, 2 or 5 times a power of ten.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 5, 10} {
		if v <= step*ten*(1+1e-9) {
			return step * ten
		}
	}
	return v
}

// Draw is the picture itself, with what it says in words for those who don't see
// it.
func (ch *chart) Draw() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %g %g" preserveAspectRatio="none" role="img" aria-label="%s">`, drawWide, drawHigh, template.HTMLEscapeString(ch.spoken()))
	if ch.strip {
		ch.drawStrip(&b)
	} else {
		for _, y := range []float64{0.5, drawHigh / 2, drawHigh - 0.5} {
			fmt.Fprintf(&b, `<line class="grid" x1="0" x2="%g" y1="%g" y2="%g"/>`, drawWide, y, y)
		}
		for _, s := range slices.Backward(ch.Series) { // the first is what matters, and lies on top
			ch.drawLine(&b, s)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // the label is escaped, the rest are numbers
}

// Strip says whether the chart is a band of states.
func (ch *chart) Strip() bool { return ch.strip }

// drawLine draws a line with gaps where nothing is known; a value that stands
// alone is a dot.
func (ch *chart) drawLine(b *strings.Builder, s series) {
	var run []string
	flush := func() {
		switch {
		case len(run) == 1:
			fmt.Fprintf(b, `<path class="line %s" d="M%s h0.01"/>`, s.Colour, run[0])
		case len(run) > 1:
			first, _, _ := strings.Cut(run[0], " ")
			last, _, _ := strings.Cut(run[len(run)-1], " ")
			line := strings.Join(run, " L")
			fmt.Fprintf(b, `<path class="area %s" d="M%s L%s %g L%s %g Z"/>`, s.Colour, line, last, drawHigh, first, drawHigh)
			fmt.Fprintf(b, `<path class="line %s" d="M%s"/>`, s.Colour, line)
		}
		run = nil
	}
	for i, v := range s.values {
		if math.IsNaN(v) {
			flush()
			continue
		}
		run = append(run, fmt.Sprintf("%.1f %.1f", ch.x(i), drawHigh-1-(drawHigh-4)*v/ch.top))
	}
	flush()
}

// drawStrip draws states: 1 good, above 0 partly, 0 bad.
func (ch *chart) drawStrip(b *strings.Builder) {
	for i, v := range ch.Series[0].values {
		from := ch.x(max(i-1, 0))
		state := "good"
		switch {
		case math.IsNaN(v):
			continue
		case v == 0:
			state = "bad"
		case v < 1:
			state = "partly"
		}
		fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="0" width="%.1f" height="%g"/>`, state, from, math.Max(ch.x(i)-from, 1), drawHigh)
	}
}

// x is where a sample stands.
func (ch *chart) x(i int) float64 {
	return drawWide * float64(ch.times[i].Sub(ch.start)) / float64(ch.end.Sub(ch.start))
}

// spoken is the chart in words.
func (ch *chart) spoken() string {
	parts := []string{ch.Name}
	for _, s := range ch.Series {
		parts = append(parts, strings.TrimSpace(s.Name+" "+s.Last))
	}
	return strings.Join(parts, "; ")
}

// Points are the values for the script, which shows them under the pointer: a
// line for each sample, its time and then the values.
func (ch *chart) Points(zone *time.Location) string {
	var b strings.Builder
	for i, at := range ch.times {
		fmt.Fprintf(&b, "%.1f|%s", 100*ch.x(i)/drawWide, at.In(zone).Format("15:04:05"))
		for _, s := range ch.Series {
			value := "–"
			if !math.IsNaN(s.values[i]) {
				value = ch.say(s.values[i])
			}
			b.WriteString("|" + strings.TrimSpace(s.Name+" "+value))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
