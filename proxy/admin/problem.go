package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Problem is an RFC 9457 problem document, the form of every error. Next says
// in one sentence what to do.
type Problem struct {
	Type   string   `json:"type" doc:"What kind of problem: about:blank, the status says it all." example:"about:blank"`
	Title  string   `json:"title" doc:"The status in words."`
	Status int      `json:"status" doc:"The HTTP status."`
	Detail string   `json:"detail" doc:"What is wrong."`
	Next   string   `json:"next" doc:"What to do."`
	Errors []Detail `json:"errors,omitempty" doc:"The fields that are wrong, where it is fields."`
}

// Detail is one field that is wrong.
type Detail struct {
	Field   string `json:"field" doc:"Where: query.limit, body.importance."`
	Message string `json:"message" doc:"What is wrong with it."`
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of a problem document.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// problem makes one; next is a whole sentence.
func problem(status int, next, detail string, args ...any) *Problem {
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: fmt.Sprintf(detail, args...), Next: next,
	}
}

// wrong is the problem of one field.
func wrong(status int, field, next, message string, args ...any) *Problem {
	message = fmt.Sprintf(message, args...)
	p := problem(status, next, "%s: %s", field[strings.LastIndexByte(field, '.')+1:], message)
	p.Errors = []Detail{{Field: field, Message: message}}
	return p
}

// write sends a problem outside of huma.
func (p *Problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone if this fails
}

// fail turns an error of the store into a problem. what says what was looked
// for, such as: memory "m1". What isn't known to be the caller's or the store's
// state is logged and hidden.
func (a *API) fail(what string, err error) error {
	var p *Problem
	var off *store.Off
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return p
	case errors.As(err, &off):
		return offProblem(off.Reason)
	case errors.Is(err, store.ErrNotFound):
		return problem(http.StatusNotFound, "List what there is; ids are whole and case-sensitive.", "%s doesn't exist", what)
	case errors.Is(err, store.ErrCursor):
		return wrong(http.StatusUnprocessableEntity, "query.cursor", "Send next_cursor of the page before, or leave it out for the first page.", "isn't one of this list")
	case errors.Is(err, store.ErrNoRevision):
		return wrong(http.StatusUnprocessableEntity, "query.revision", "Choose one of GET /api/v1/memories/{id}/history.", "isn't one that %s ever had", what)
	case errors.Is(err, store.ErrUnshareable):
		return problem(http.StatusConflict, "Only live solutions and error lessons of a user's scope reach others; write a new memory to the scope instead.", "%s can't be promoted", what)
	case errors.Is(err, store.ErrForgotten):
		return problem(http.StatusConflict, "Write it again as a new memory if it should be kept after all.", "%s was forgotten", what)
	case errors.Is(err, store.ErrNotConsolidated):
		return problem(http.StatusConflict, "Undo an active memory whose source_ids are consolidated, or restore one of its sources.", "%s wasn't made by a consolidation that stands", what)
	case errors.Is(err, store.ErrStale):
		return problem(http.StatusConflict, "Read it again and repeat the call.", "%s was changed meanwhile", what)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusServiceUnavailable, "Try again.", "%s: the call ended before the store answered", what)
	}
	a.log.Error("admin call failed", "what", what, "error", err)
	return problem(http.StatusInternalServerError, "Look into Hindsight's log.", "%s: internal error", what)
}

func offProblem(reason string) *Problem {
	return problem(http.StatusServiceUnavailable, "Mend what the reason names; Hindsight tries again every few seconds by itself. Run `hindsight doctor` for more.", "memory is off: %s", reason)
}

// asProblem turns huma's own errors (a field that doesn't fit the schema, a body
// that isn't JSON) into problems. It is a transformer of the API, because
// huma's error constructor is a global.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := problem(m.Status, "Correct the request; GET /openapi.json describes every field.", "%s", m.Detail)
	var texts []string
	for _, e := range m.Errors {
		if e == nil {
			continue
		}
		p.Errors = append(p.Errors, Detail{Field: e.Location, Message: e.Message})
		texts = append(texts, strings.TrimSpace(strings.TrimPrefix(e.Location, "body.")+" "+e.Message))
	}
	if len(texts) > 0 {
		p.Detail = strings.Join(texts, "; ")
	}
	return p, nil
}

// problemType is what the OpenAPI document describes errors by.
func problemType() reflect.Type { return reflect.TypeFor[Problem]() }
