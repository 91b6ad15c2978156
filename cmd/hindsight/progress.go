package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows on a terminal how far long work is; elsewhere nothing is shown. A nil
// bar is one that nobody sees.
type bar struct{ drawn *progressbar.ProgressBar }

// long begins to show work of so many steps, 0 while that isn't known. It is
// drawn on the error stream, so that what is printed can be piped. End it.
func (a *app) long(what string, steps int) *bar {
	if a.errWidth == 0 {
		return nil
	}
	if steps == 0 {
		steps = -1 // a spinner
	}
	return &bar{progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(a.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(max(10, min(30, a.errWidth-len(what)-40))),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(steps > 0),
		progressbar.OptionSetRenderBlankState(true),
	)}
}

// at says how many steps are done. That a terminal can't be drawn on is no error.
func (b *bar) at(done int) {
	if b != nil {
		_ = b.drawn.Set(done)
	}
}

// doing says what is being done now, of which it isn't known how much there is.
func (b *bar) doing(format string, args ...any) {
	if b != nil {
		b.drawn.Describe(fmt.Sprintf(format, args...))
	}
}

// of says how many steps there are by now.
func (b *bar) of(steps int) {
	if b != nil && steps > 0 {
		b.drawn.ChangeMax(steps)
	}
}

// end takes the bar away.
func (b *bar) end() {
	if b != nil {
		_ = b.drawn.Finish()
		_ = b.drawn.Clear()
	}
}
