package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"hindsight/inject"
	"hindsight/proxy/dialect"
)

// A request that we changed and the upstream refused goes once more with the
// client's own bytes, if that can do no harm.

const (
	refusalBody = 256 << 10 // of a refusal are read for its code
	notRetried  = 10        // refusals of a model after one that wasn't our fault
	maxRefusals = 10_000    // tenants and models that are remembered
)

// asked is what of a request decides whether it may go again. The whole of it
// isn't kept: the offsets of a long history take a third of its own size.
type asked struct {
	model string
	kept  bool // the upstream keeps what it is sent
}

func askedOf(r *dialect.Request) asked {
	return asked{r.Model, r.Background || r.Store && (r.Conversation != "" || r.PreviousResponseID != "")}
}

// retryClean looks at the answer to an injected request. A refusal that may be
// the block's fault is asked again without it, and the client gets that answer.
func (s *Server) retryClean(x *exchange, resp *http.Response, raw []byte) (*http.Response, error) {
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return resp, nil
	}
	turn, req := x.walk.turn.Load(), x.walk.req
	if len(x.header["Idempotency-Key"]) > 0 || req.kept {
		return resp, nil
	}
	key := refusal{turn.Owner.Tenant, strings.Clone(req.model)} // a view of the body
	if !s.unmarked(resp) || !s.refusals.mayRetry(key) {
		return resp, nil
	}
	s.metrics.cleanRetries.Inc()
	out := x.outgoingAgain()
	out.carry(payload{raw})
	again, err := s.client.do(x.ctx, out)
	if err != nil {
		if x.gone.Load() {
			resp.Body.Close()
			return nil, err
		}
		return resp, nil // no second answer: the first one is better than none
	}
	resp.Body.Close()
	if again.StatusCode >= 400 {
		s.refusals.note(key)
		return again, nil
	}
	s.safely("withdraw", func() { s.mem.Planner.Withdraw(turn.Owner, turn.Session) })
	x.walk.used = inject.Plan{Status: inject.Skipped, Reason: "upstream_refused"}
	x.skip("upstream_refused")
	return again, nil
}

// outgoingAgain is the request as the client sent it. The headers of the first
// try are net/http's until it is done with it, so these are a copy.
func (x *exchange) outgoingAgain() outgoing {
	h := x.header.Clone()
	if x.coding != "" {
		h["Content-Encoding"] = []string{x.coding}
	}
	out := x.outgoing()
	out.header = h
	return out
}

// unmarked reads the refusal and says whether its code leaves room for the
// block being the reason. The answer can still be handed to the client.
func (s *Server) unmarked(resp *http.Response) bool {
	head, err := io.ReadAll(io.LimitReader(resp.Body, refusalBody))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest(resp.Body, err)), resp.Body}
	switch refusalCode(decodeAnswer(encoding(resp.Header), head, refusalBody)) {
	case "content_filter", "content_policy_violation", "invalid_api_key", "model_not_found":
		return false
	}
	return err == nil
}

// rest is what follows bytes that ended with err.
func rest(r io.Reader, err error) io.Reader {
	if err == nil {
		return r
	}
	return failing{err}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// refusalCode finds the code of an error answer: error.code, error.type or a
// code at the top.
func refusalCode(body []byte) string {
	var e struct {
		Code  json.RawMessage `json:"code"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	var inner struct {
		Code any    `json:"code"`
		Type string `json:"type"`
	}
	if json.Unmarshal(e.Error, &inner) == nil {
		if code, ok := inner.Code.(string); ok && code != "" {
			return code
		}
		if inner.Type != "" {
			return inner.Type
		}
	}
	var code string
	if json.Unmarshal(e.Code, &code) != nil {
		return ""
	}
	return code
}

// refusals remembers whose refusals weren't our fault.
type refusals struct {
	mu   sync.Mutex
	left map[refusal]int
}

type refusal struct{ tenant, model string }

// mayRetry counts a refusal and says whether it is asked again.
func (r *refusals) mayRetry(k refusal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.left[k]
	switch {
	case n == 0:
		return true
	case n == 1:
		delete(r.left, k)
	default:
		r.left[k] = n - 1
	}
	return false
}

func (r *refusals) note(k refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) >= maxRefusals {
		clear(r.left) // rare, and costs a retry each
	}
	r.left[k] = notRetried
}
