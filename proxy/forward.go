package proxy

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/valyala/fasthttp"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/proxy/session"
	"hindsight/store"
)

// forwardStream forwards what isn't a memory route, unread; or a memory route's
// request that there is no room for, of which some has been read.
func (s *Server) forwardStream(c *fasthttp.RequestCtx, x *exchange, body io.Reader, read []byte) {
	if s.cfg.RequireKey && !s.admit(x) {
		x.unread = body != nil && x.length != 0
		x.answerFault(c, denied)
		x.over(c)
		return
	}
	forward(x.header)
	out := x.outgoing()
	if body != nil && x.length != 0 {
		x.upload = newUpload(x, body, read)
		out.body, out.length = x.upload.open, x.length
	} else {
		x.watch()
	}
	resp, err := s.client.do(x.ctx, out) //nolint:bodyclose // respond takes the body: its stream closes it
	if err != nil {
		s.unanswered(c, x, err)
		return
	}
	s.respond(c, x, resp)
}

// admit asks the tracker who the caller of another route is (auth.mode keys).
// Whoever it can't vouch for isn't let in.
func (s *Server) admit(x *exchange) (ok bool) {
	if s.mem.Tracker == nil {
		return false
	}
	s.safely("admit", func() {
		t := s.mem.Tracker.Identify(x.ctx, session.Incoming{Header: x.header, Path: x.path, Received: x.received})
		if t == nil {
			return
		}
		s.mem.Tracker.Finish(t, dialect.Answer{}, session.End{Status: store.Errored})
		if t.Keyed {
			withKey(x.header, s.cfg.APIKey)
		}
		ok = !t.Denied
	})
	return ok
}

var denied = fault{http.StatusUnauthorized, "invalid_api_key", "This Hindsight wants one of its own keys (auth.keys); the key sent isn't one of them."}

var incomplete = fault{http.StatusBadRequest, "incomplete_request", "The request's body ended before its length, or its chunks can't be read."}

// forwardRead forwards a memory route's request.
func (s *Server) forwardRead(c *fasthttp.RequestCtx, x *exchange, stream io.Reader) {
	raw, err := s.readRequest(x, stream)
	switch {
	case errors.Is(err, errNoRoom):
		x.skip("limit")
		s.forwardStream(c, x, stream, raw)
		return
	case errors.Is(err, errTooLarge):
		x.unread = true
		x.skip("limit")
		x.answerFault(c, s.tooLarge())
		x.over(c)
		return
	case err != nil: // the client left in the middle of its request
		x.unread = true
		x.left()
		x.answerFault(c, incomplete)
		x.over(c)
		return
	}
	x.watch()
	body := s.prepare(x, raw)
	if s.cfg.RequireKey && !s.keyed(x) {
		x.answerFault(c, denied)
		x.unrecorded(store.Errored)
		x.over(c)
		return
	}
	s.metrics.added.Observe(time.Since(x.received).Seconds())
	resp, err := s.send(x, raw, body) //nolint:bodyclose // respond takes the body: its stream closes it
	if err != nil {
		s.unanswered(c, x, err)
		return
	}
	s.respond(c, x, resp)
}

func (s *Server) readRequest(x *exchange, stream io.Reader) ([]byte, error) {
	if stream == nil {
		return nil, nil
	}
	return readBody(stream, x.length, s.cfg.MaxBody, x.hold)
}

// prepare lets memory at the body and returns what goes upstream. The client's
// own headers go to the tracker, x.header becomes what is forwarded.
func (s *Server) prepare(x *exchange, raw []byte) payload {
	coding := encoding(x.header)
	switch {
	case s.mem.Tracker == nil:
		x.status = status{word: inject.OffState}
	case signed(x.header):
		x.skip("signed")
	case coding != "":
		body, err := decodeRequest(coding, raw, s.cfg.MaxBody, x.hold)
		if errors.Is(err, errNoRoom) {
			x.skip("limit")
			break
		}
		if err != nil {
			x.skip("encoding")
			break
		}
		header := maps.Clone(x.header)
		x.coding = coding
		delete(x.header, "Content-Encoding")
		out := x.remember(body, header)
		forward(x.header)
		return out
	default:
		out := x.remember(raw, x.header)
		forward(x.header)
		return out
	}
	forward(x.header)
	return payload{raw}
}

func (x *exchange) skip(reason string) {
	x.status = status{word: inject.Skipped, reason: reason}
	x.s.metrics.failOpen(reason)
}

// keyed waits for the turn, which says whether the caller's key is known: in
// auth.mode keys nothing is forwarded for strangers. Requests that memory can't
// read are asked about by themselves.
func (s *Server) keyed(x *exchange) bool {
	if x.walk == nil {
		return s.admit(x)
	}
	<-x.walk.done
	t := x.walk.turn.Load()
	if t == nil || t.Denied {
		return false
	}
	if t.Keyed {
		withKey(x.header, s.cfg.APIKey)
	}
	return true
}

// outgoing is the request without its body; x.header is what of the client's is
// forwarded, and given away.
func (x *exchange) outgoing() outgoing {
	up := x.upstreamOf()
	return outgoing{method: x.method, up: up, target: up.target(x.path), query: x.query, header: x.header}
}

// send sends a request that has been read; body is what goes upstream, raw what
// the client sent.
func (s *Server) send(x *exchange, raw []byte, body payload) (*http.Response, error) {
	out := x.outgoing()
	out.carry(body)
	resp, err := s.client.do(x.ctx, out)
	if err != nil || x.walk == nil || len(x.walk.used.Blocks) == 0 {
		return resp, err
	}
	return s.retryClean(x, resp, raw)
}

// unanswered ends an exchange for which the upstream had no answer.
func (s *Server) unanswered(c *fasthttp.RequestCtx, x *exchange, err error) {
	end := store.Errored
	if x.gone.Load() {
		// Nobody reads it, but the connection ends by an answer.
		end = store.Aborted
	} else {
		s.log.Debug("the upstream gave no answer", "path", x.path, "error", err)
	}
	f := unreachable(err, x.upstreamOf())
	if x.upload.broken() {
		f = incomplete
	}
	x.answerFault(c, f)
	x.unrecorded(end)
	x.over(c)
}

// over releases the connection and counts the request.
func (x *exchange) over(c *fasthttp.RequestCtx) {
	x.release()
	x.s.metrics.request(x.route != nil, c.Response.StatusCode())
}
