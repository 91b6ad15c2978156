package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// server is a scripted model server: answer gets each request's number and form.
func server(t *testing.T, answer func(w http.ResponseWriter, n int, form Form)) (base string, asked func() []Form) {
	t.Helper()
	var mu sync.Mutex
	var forms []Form
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Stream bool
			Format struct{ Type Form } `json:"response_format"`
			Tools  []any
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !body.Stream || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("request %s: %v %+v", r.URL.Path, err, body)
		}
		form := body.Format.Type
		if form == "" {
			form = ByWords
			if len(body.Tools) > 0 {
				form = ByTool
			}
		}
		mu.Lock()
		forms = append(forms, form)
		n := len(forms)
		mu.Unlock()
		answer(w, n, form)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []Form { mu.Lock(); defer mu.Unlock(); return forms }
}

func stream(w http.ResponseWriter, pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": keep-alive\n\n")
	for _, p := range pieces {
		b, _ := json.Marshal(p)
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", b)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")
}

var question = Request{System: "s", User: "u", Name: "n", Schema: json.RawMessage(`{"type":"object"}`)}

func TestAsk(t *testing.T) {
	base, _ := server(t, func(w http.ResponseWriter, _ int, _ Form) { stream(w, `{"items"`, `:[]}`) })
	for _, b := range []string{base, base + "/", base + "/v1", base + "/v1/", base + "/v1/chat/completions"} {
		a, err := New(Config{}).Ask(t.Context(), Endpoint{Base: b, Model: "m"}, question)
		want := Answer{Text: `{"items":[]}`, Input: 7, Output: 3, Form: BySchema}
		if diff := cmp.Diff(want, a, cmpopts.IgnoreUnexported(Answer{}), cmpopts.IgnoreFields(Answer{}, "Header")); err != nil || diff != "" {
			t.Errorf("%s: %v %s", b, err, diff)
		}
	}
}

func TestAskWholeAnswer(t *testing.T) {
	base, _ := server(t, func(w http.ResponseWriter, _ int, _ Form) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprint(w, `{"choices":[{"index":0,"message":{"content":"[]"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`)
	})
	a, err := New(Config{}).Ask(t.Context(), Endpoint{Base: base}, question)
	if err != nil || a.Text != "[]" || !a.Cut || a.Output != 2 {
		t.Errorf("%v %+v", err, a)
	}
}

func TestFormFallsBackAndIsRemembered(t *testing.T) {
	for refused, want := range map[int][]Form{
		1: {BySchema, ByObject, ByObject},
		2: {BySchema, ByObject, ByTool, ByTool},
		3: {BySchema, ByObject, ByTool, ByWords, ByWords},
	} {
		base, asked := server(t, func(w http.ResponseWriter, n int, form Form) {
			if n <= refused {
				http.Error(w, `{"error":{"message":"response_format is not supported","type":"invalid_request_error"}}`, 400+22*(n%2))
				return
			}
			stream(w, "{}")
		})
		c := New(Config{})
		for range 2 {
			if _, err := c.Ask(t.Context(), Endpoint{Base: base, Model: "m"}, question); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, asked()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   Error
		calls  int
	}{
		{"busy", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "17")
			http.Error(w, `{"error":{"code":"rate_limit_exceeded"}}`, 429)
		}, Error{Kind: Retryable, Status: 429, After: 17 * time.Second, Code: "rate_limit_exceeded"}, 1},
		{"out of money", func(w http.ResponseWriter) { http.Error(w, `{"error":{"code":"insufficient_quota"}}`, 429) },
			Error{Kind: Permanent, Status: 429, Code: "insufficient_quota"}, 1},
		{"broken", func(w http.ResponseWriter) { http.Error(w, "oops: my secret prompt", 502) }, Error{Kind: Retryable, Status: 502}, 1},
		{"wrong key", func(w http.ResponseWriter) {
			http.Error(w, `{"error":{"message":"no such key sk-12","code":"invalid_api_key"}}`, 401)
		}, Error{Kind: Permanent, Status: 401, Code: "invalid_api_key"}, 1},
		{"too long", func(w http.ResponseWriter) { http.Error(w, `{"error":{"code":"context_length_exceeded"}}`, 400) },
			Error{Kind: Permanent, Status: 400, Code: "context_length_exceeded"}, 1},
		{"refused in every form", func(w http.ResponseWriter) { http.Error(w, `{"error":{"message":"x y z","code":"x y z"}}`, 422) },
			Error{Kind: Permanent, Status: 422}, 4},
		{"nothing said", func(w http.ResponseWriter) { stream(w, " ") }, Error{Kind: BadFormat, Reason: "the answer is empty"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, asked := server(t, func(w http.ResponseWriter, _ int, _ Form) { c.answer(w) })
			_, err := New(Config{}).Ask(t.Context(), Endpoint{Base: base, Header: "Authorization", Value: "Bearer sk-12"}, question)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(c.want, *e); diff != "" {
				t.Error(diff)
			}
			if len(asked()) != c.calls {
				t.Errorf("%d calls", len(asked()))
			}
			for _, leak := range []string{"sk-12", "secret prompt"} {
				if strings.Contains(err.Error(), leak) {
					t.Errorf("the error holds %q", leak)
				}
			}
		})
	}
}

func TestBrokenStreams(t *testing.T) {
	piece := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"{\"}}]}\n\n"
	for name, body := range map[string]string{
		"cut":              piece,
		"an error inside":  piece + "data: {\"error\":{\"message\":\"overloaded\"}}\n\n",
		"not JSON at all":  "<html>",
		"a cut last event": piece + "data: {\"choi",
	} {
		base, _ := server(t, func(w http.ResponseWriter, _ int, _ Form) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, body)
		})
		_, err := New(Config{}).Ask(t.Context(), Endpoint{Base: base}, question)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Retryable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoopIsCut(t *testing.T) {
	base, _ := server(t, func(w http.ResponseWriter, _ int, _ Form) {
		stream(w, strings.Split(strings.Repeat("again ", 500), " ")...)
	})
	a, err := New(Config{MaxAnswer: 100}).Ask(t.Context(), Endpoint{Base: base}, question)
	if err != nil || !a.Cut || len(a.Text) > 200 {
		t.Errorf("%v, %d bytes", err, len(a.Text))
	}
}

// A loop is noticed long before the limit; an answer of many items that are alike
// isn't one.
func TestLoops(t *testing.T) {
	item := `{"type":"user_fact","text":"The user owns a boat that lies in the harbour of Porto and is painted blue every other spring","subject":"boat","scenario":"","importance":0.7,"confidence":0.9,"events":["e1"],"quote":"I own a boat"},`
	if !loops(`{"items":[` + strings.Repeat(item, 6)) {
		t.Error("the same item six times is no loop")
	}
	var alike strings.Builder
	for i := range 40 {
		alike.WriteString(strings.Replace(item, "boat that", fmt.Sprintf("boat number %d that", i), 1))
	}
	if loops(alike.String()) {
		t.Error("forty boats are a loop")
	}
}

func TestSilenceEndsACallAndLifeKeepsIt(t *testing.T) {
	const silence = 150 * time.Millisecond
	stop := make(chan struct{})
	defer close(stop)
	base, _ := server(t, func(w http.ResponseWriter, n int, _ Form) {
		if n == 1 { // hangs
			w.(http.Flusher).Flush()
			<-stop
			return
		}
		// Says nothing but keep-alives for longer than the silence allowed.
		w.Header().Set("Content-Type", "text/event-stream")
		for began := time.Now(); time.Since(began) < 2*silence; {
			fmt.Fprint(w, ": working\n\n")
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-time.After(silence / 5):
			}
		}
		stream(w, "{}")
	})
	c := New(Config{Silence: silence})
	_, err := c.Ask(t.Context(), Endpoint{Base: base}, question)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Retryable || !errors.Is(err, errSilent) {
		t.Errorf("a hanging server: %v", err)
	}
	if a, err := c.Ask(t.Context(), Endpoint{Base: base}, question); err != nil || a.Text != "{}" {
		t.Errorf("a slow one: %v %+v", err, a)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	defer close(stop)
	base, _ := server(t, func(http.ResponseWriter, int, Form) { cancel(); <-stop })
	if _, err := New(Config{}).Ask(ctx, Endpoint{Base: base}, question); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "soon": 0, "999999999": 24 * time.Hour,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(v, now); got != want {
			t.Errorf("%q: %s", v, got)
		}
	}
}
