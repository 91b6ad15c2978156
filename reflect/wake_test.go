package hreflect_test

import (
	"net/http"
	"testing"
	"time"

	"hindsight/store"
)

// finish records one exchange and has it on disk.
func (h *house) finish(session, user, answer string, info store.SessionInfo) {
	h.t.Helper()
	at := h.clock.now()
	h.Finish(&store.Exchange{
		ID: "x-" + session, Session: session, Owner: ann, Status: store.Complete, HTTP: 200, SessionInfo: info,
		Started: at, Finished: at, Zone: "UTC", Dialect: "chat", Model: "m", Turn: 1, Tokens: 20,
		Events: []store.Event{
			{Kind: store.UserInput, Time: at, Turn: 1, Text: user},
			{Kind: store.FinalOutput, Time: at, Turn: 1, Text: answer},
		},
	})
	if err := h.Flush(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// A session that its client ended is reflected when the runner is woken, long
// before the next tick: the second one too, which is ended just after a look.
func TestWakeLooksForSessionsThatEnded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(w http.ResponseWriter, _ int, data string) { say(w, `{"items":[`+itemOf(data, bike, bikeIs)+`]}`) })
	h.cfg.Tick = time.Hour
	h.run()
	for i, s := range []string{"s1", "s2", "s3"} {
		h.finish(s, bike+".", "Nice!", store.SessionInfo{End: true})
		for range 5 { // however often it is told
			h.Wake()
		}
		h.until("the session is reflected", func() bool {
			js, err := h.Jobs(t.Context(), store.Done)
			return err == nil && len(js) == i+1
		})
	}
	if h.calls() != 3 || len(h.texts()) != 1 {
		t.Errorf("%d calls, %q", h.calls(), h.texts())
	}
	// One that goes on isn't.
	h.finish("open", boat+".", "Nice!", store.SessionInfo{})
	h.finish("ended", bike+".", "Nice!", store.SessionInfo{End: true})
	h.Wake()
	h.until("the ended one is reflected", func() bool {
		js, err := h.Jobs(t.Context(), store.Done)
		return err == nil && len(js) == 4
	})
	if _, queued := h.job(store.Queued); queued || h.calls() != 4 {
		t.Errorf("an open session was reflected: %d calls", h.calls())
	}
}
