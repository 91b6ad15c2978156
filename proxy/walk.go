package proxy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/proxy/session"
)

// walk is what memory does for one request: scan, identify, plan, splice. Who
// speaks is found out in the request's own goroutine where that can't take long;
// planning, and a long body's whole walk, run in one that is left behind when it
// is late. A turn that comes late is still recorded; a plan that comes late is
// never used.
type walk struct {
	turn atomic.Pointer[session.Turn]
	req  asked         // set before turn
	out  walked        // set before done
	done chan struct{} // closed when the walk has ended

	used inject.Plan // the plan whose blocks went upstream
}

// walked is the walk's result. body is nil where nothing changes.
type walked struct {
	plan inject.Plan
	body payload
	fail string // reason word where the walk broke
}

// walksAtOnce is how many walks a processor has under way at most: more only
// make each other late, and each holds a history's texts.
const walksAtOnce = 16

// longBody is the length in bytes from which a body is read in a goroutine that
// can be left behind. Up to it reading takes a few milliseconds at most.
const longBody = 512 << 10

// startWalk begins the walk over a body that nobody changes any more. header is
// the client's own, and the caller's again when this returns. waits is the time of whoever waits for the plan; the walk
// itself has its own, from its turn on, so that a late one can be recorded.
func (x *exchange) startWalk(waits context.Context, body []byte, header http.Header) *walk {
	w := &x.walking
	x.use() // until the record is over
	if len(body) < longBody && x.s.tryPlace() {
		// Nothing in here can wait longer than waits, and a goroutine costs more
		// than a small request's whole identification.
		req, planned := x.identify(waits, w, body, header)
		if !planned || x.planAtOnce(waits, w, req) {
			x.s.leavePlace()
			w.done = x.s.ended
			return w
		}
		w.done = make(chan struct{})
		x.s.work.do(func() {
			defer x.s.leavePlace()
			defer close(w.done)
			x.plan(waits, w, req)
		})
		return w
	}
	w.done = make(chan struct{})
	header = maps.Clone(header)
	x.s.work.do(func() {
		x.s.walks <- struct{}{}
		defer x.s.leavePlace()
		defer close(w.done)
		ctx, cancel := context.WithTimeout(context.Background(), x.s.cfg.RecallDeadline)
		defer cancel()
		if req, planned := x.identify(ctx, w, body, header); planned && !x.planAtOnce(waits, w, req) {
			x.plan(waits, w, req)
		}
	})
	return w
}

// tryPlace takes a place for a walk if one is free.
func (s *Server) tryPlace() bool {
	select {
	case s.walks <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *Server) leavePlace() { <-s.walks }

// identify is the walk as far as the turn. planned says that a plan is to be
// made; else the walk has ended.
func (x *exchange) identify(ctx context.Context, w *walk, body []byte, header http.Header) (req *dialect.Request, planned bool) {
	stage := "parse"
	defer x.broken(w, &stage)
	d := x.route.Dialect
	req, scanErr := d.Scan(body)
	if scanErr != nil {
		req = nil
	}
	stage = "store"
	if req != nil {
		w.req = askedOf(req)
	}
	turn := x.s.mem.Tracker.Identify(ctx, session.Incoming{
		Header: header, Path: x.path, Query: x.query, Dialect: d.Name(), Req: req, Received: x.received,
	})
	if turn == nil {
		w.out = walked{fail: "store"}
		return nil, false
	}
	w.turn.Store(turn)
	switch {
	case scanErr != nil:
		w.out = walked{fail: "parse"}
	case turn.Off != "" || !turn.Mode.Injects() || x.s.mem.Planner == nil:
		w.out = walked{plan: inject.Plan{Status: inject.OffState, Reason: turn.Off}}
	case hopped(req):
		w.out = walked{plan: inject.Plan{Status: inject.Skipped, Reason: "hop"}}
	default:
		return req, true
	}
	turn.Planned()
	return nil, false
}

// planAtOnce is plan where nothing has to be waited for.
func (x *exchange) planAtOnce(waits context.Context, w *walk, req *dialect.Request) bool {
	stage := "store"
	defer x.broken(w, &stage)
	turn := w.turn.Load()
	plan, ok := x.s.mem.Planner.AtOnce(turn.Conversation(), waits.Err() != nil)
	if ok {
		defer turn.Planned()
		x.place(w, req, plan, &stage)
	}
	return ok
}

// plan is the walk from the turn on.
func (x *exchange) plan(waits context.Context, w *walk, req *dialect.Request) {
	stage := "store"
	defer x.broken(w, &stage)
	turn := w.turn.Load()
	defer turn.Planned()    // nobody else asks for what it drops
	if waits.Err() != nil { // nobody waits for recall any more
		if !x.planAtOnce(waits, w, req) {
			w.out = walked{fail: "deadline"}
		}
		return
	}
	x.place(w, req, x.s.mem.Planner.Plan(waits, turn.Conversation()), &stage)
}

// place puts a plan's blocks into the request.
func (x *exchange) place(w *walk, req *dialect.Request, plan inject.Plan, stage *string) {
	if len(plan.Blocks) == 0 {
		w.out = walked{plan: plan}
		return
	}
	blocks := make([]dialect.Block, len(plan.Blocks))
	for i, b := range plan.Blocks {
		blocks[i] = dialect.Block{Message: b.Message, Text: b.Text}
	}
	*stage = "parse"
	d := x.route.Dialect
	inserts, err := d.Inserts(req, blocks, x.s.cfg.Splice)
	if err != nil {
		x.s.log.Debug("a block has no place", "dialect", d.Name(), "error", err)
		w.out = walked{fail: "parse"}
		return
	}
	w.out = walked{plan: plan, body: dialect.Splice(req.Body, inserts)}
}

// broken ends a walk that panics with the reason for the stage it was at.
func (x *exchange) broken(w *walk, stage *string) {
	if r := recover(); r != nil {
		x.s.caught("request", r)
		w.out = walked{fail: *stage}
	}
}

// hopped says whether a Hindsight in front of us has put its notes into the
// request: a second block would say the same again. An answer that quotes a
// block doesn't count.
func hopped(req *dialect.Request) bool {
	for _, m := range req.Messages {
		if m.Role != dialect.User {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == dialect.TextPart && inject.HasBlock(p.Text()) {
				return true
			}
		}
	}
	return false
}

// lateness is what a plan that ends with its deadline gets to arrive in.
const lateness = 10 * time.Millisecond

// remember runs the walk and returns what to send upstream: body itself unless
// something is injected.
func (x *exchange) remember(body []byte, header http.Header) payload {
	// Not the exchange's context: a client that leaves must not lose the walk's
	// turn, which is recorded as aborted.
	ctx := newDeadline(x.s.cfg.RecallDeadline)
	defer ctx.stop()
	x.walk = x.startWalk(ctx, body, header)
	out := x.walk.result(ctx)
	if out.fail != "" {
		x.failOpen(out.fail)
		return payload{body}
	}
	x.walk.used = out.plan
	x.status = status{word: out.plan.Status, reason: out.plan.Reason, degraded: out.plan.Degraded}
	if out.body == nil {
		// An empty plan is committed too: it says that this message has been
		// looked at.
		if x.s.mem.Planner != nil && out.plan.Status != inject.OffState {
			x.commit(out.plan)
		}
		return payload{body}
	}
	if !x.commit(out.plan) {
		x.failOpen("store")
		return payload{body}
	}
	return out.body
}

// failOpen leaves the request as it came, and says why.
func (x *exchange) failOpen(reason string) {
	x.skip(reason)
	x.walk.used = inject.Plan{Status: inject.Skipped, Reason: reason}
}

// ended says whether the walk is over.
func (w *walk) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// result waits for the walk, or for its deadline. A late walk ends by itself;
// finishing waits for it.
func (w *walk) result(ctx context.Context) walked {
	if w.ended() {
		return w.out
	}
	select {
	case <-w.done:
		return w.out
	case <-ctx.Done():
	}
	select {
	case <-w.done:
		return w.out
	case <-time.After(lateness):
		return walked{fail: "deadline"}
	}
}

// commit puts the plan into the ledger before the request leaves.
func (x *exchange) commit(plan inject.Plan) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			x.s.caught("commit", r)
		}
	}()
	x.s.mem.Planner.Commit(plan)
	return true
}

// caught reports a panic of memory code. It failed no request.
func (s *Server) caught(where string, r any) {
	s.metrics.failOpen("panic")
	s.log.Error("memory code panicked", "where", where, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
}

// status is what our answer headers say.
type status struct {
	word     inject.Status
	reason   string
	degraded string
}

func (st status) String() string {
	word := st.word
	if word == "" {
		word = inject.Skipped
	}
	s := string(word)
	if st.reason != "" {
		s += ";reason=" + st.reason
	}
	if st.degraded != "" {
		s += ";degraded=" + st.degraded
	}
	return s
}
