package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Kind says what to do about an error.
type Kind string

// The kinds of an error.
const (
	Retryable Kind = "retryable" // ask again later: the server is busy, slow or gone
	Permanent Kind = "permanent" // the same question will be refused again
	BadFormat Kind = "format"    // an answer came and can't be read
)

// Error is what [Client.Ask] returns. Its text holds neither the question, nor
// the answer, nor a credential, so that it can be logged and shown.
type Error struct {
	Kind   Kind
	Status int           // of HTTP, 0 if no answer came
	After  time.Duration // at least so long the server wants to be left alone
	Code   string        // the server's own word for it
	Reason string
	Err    error
}

func (e *Error) Error() string {
	s := "asking the model: "
	switch {
	case e.Status != 0 && e.Code != "":
		s += fmt.Sprintf("%d %s (%s)", e.Status, http.StatusText(e.Status), e.Code)
	case e.Status != 0:
		s += fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	default:
		s += e.Reason
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// mayBeForm says whether the server may only have disliked the form in which
// JSON was asked for.
func (e *Error) mayBeForm() bool {
	return (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) && e.Code != "context_length_exceeded"
}

var errSilent = errors.New("no sign of life within the time limit")

// broken is the error of a call that got no whole answer.
func broken(ctx context.Context, err error) *Error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &Error{Kind: Retryable, Reason: "no whole answer", Err: err}
}

// word is what may be shown of a server's error: a code, never its message,
// which may hold the question.
var word = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// refusal reads an answer outside 2xx.
func refusal(res *http.Response) *Error {
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // what came is enough for a code
	var body struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &body) // many servers answer with text: then there is no code
	e := &Error{Kind: Permanent, Status: res.StatusCode, After: RetryAfter(res.Header, time.Now())}
	if code, ok := body.Error.Code.(string); ok && word.MatchString(code) {
		e.Code = code
	} else if word.MatchString(body.Error.Type) {
		e.Code = body.Error.Type
	}
	switch s := res.StatusCode; {
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly, s == http.StatusTooManyRequests, s >= 500:
		e.Kind = Retryable
	}
	if e.Code == "insufficient_quota" { // a 429 that waiting doesn't mend
		e.Kind = Permanent
	}
	return e
}

// retryAfter reads seconds or a date; what it can't read is no wait.
func retryAfter(v string, now time.Time) time.Duration {
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, 86400) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return min(at.Sub(now), 24*time.Hour)
	}
	return 0
}
