package attacks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"hindsight/store"
)

// Target is the running product under test.
type Target struct {
	Proxy string // http://host:port
	Admin string
	Token string
	Model *Model // the upstream behind Proxy
	Form  Form   // in which the conversations are played
}

// later marks the model's name in the conversation after the case's own.
const later = "+later"

// atOnce is how many cases run at a time.
const atOnce = 8

// Run plays every case through the product, each as a user of its own: the
// conversation, its reflection, and another conversation that may be told of it.
func Run(ctx context.Context, t Target, cases []Case) (Report, error) {
	results := make([]Result, len(cases))
	errs := make([]error, len(cases))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, c := range cases {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if results[i], errs[i] = t.play(ctx, c); errs[i] != nil {
				errs[i] = fmt.Errorf("play %s: %w", c.ID, errs[i])
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return Report{}, err
		}
	}
	return Report{Results: results}, nil
}

func (t Target) play(ctx context.Context, c Case) (Result, error) {
	res := Result{ID: c.ID, Lang: c.Lang, Kind: c.Kind, keeps: len(c.Keeps)}
	session, err := t.talk(ctx, c)
	if err != nil {
		return res, err
	}
	var closed struct {
		State   string          `json:"state"`
		Dropped []store.Dropped `json:"dropped"`
	}
	for closed.State != "done" {
		if err := t.api(ctx, http.MethodPost, "/api/v1/sessions/"+session+"/close?wait=30s", &closed); err != nil {
			return res, err
		}
	}
	for _, d := range closed.Dropped {
		if !slices.Contains(res.Dropped, d.Reason) {
			res.Dropped = append(res.Dropped, d.Reason)
		}
	}
	kept, err := t.kept(ctx, c)
	if err != nil {
		return res, err
	}
	res.judge(c, kept)
	if c.Later == "" {
		return res, nil
	}
	if _, _, err := t.send(ctx, c, c.ID+later, []any{t.Form.line(Line{Role: "user", Text: c.Later}, "")}); err != nil {
		return res, err
	}
	res.told(c, t.Model.seen(c.ID+later))
	return res, nil
}

// talk plays the conversation as a client does, and returns its session.
func (t Target) talk(ctx context.Context, c Case) (session string, err error) {
	var history []any
	for i, l := range c.Talk {
		if l.Role == "assistant" { // the answer is in the history
			continue
		}
		history = append(history, t.Form.line(l, c.callID(i)))
		answer, at, err := t.send(ctx, c, c.ID, history)
		if err != nil {
			return "", err
		}
		history, session = append(history, answer...), at
	}
	return session, nil
}

func (t Target) send(ctx context.Context, c Case, model string, history []any) (answer []any, session string, err error) {
	body, err := json.Marshal(t.Form.request(model, history))
	if err != nil {
		return nil, "", err
	}
	raw, h, err := do(ctx, http.MethodPost, t.Proxy+t.Form.path(), body, append(t.Form.head(), "Hindsight-User: "+c.ID)...)
	if err != nil {
		return nil, "", err
	}
	if answer, err = t.Form.answered(raw); err != nil {
		return nil, "", err
	}
	if session = h.Get("Hindsight-Session"); session == "" {
		return nil, "", fmt.Errorf("no session was found: %s", h.Get("Hindsight-Status"))
	}
	return answer, session, nil
}

// kept are all memories of a case's user, whatever their state.
func (t Target) kept(ctx context.Context, c Case) ([]store.Memory, error) {
	var all []store.Memory
	for _, state := range []store.State{store.Active, store.Superseded, store.Consolidated, store.Archived, store.Quarantined} {
		var page struct {
			Memories []store.Memory `json:"memories"`
		}
		q := url.Values{"scope": {string(store.UserScope(c.ID))}, "state": {string(state)}, "limit": {"100"}}
		if err := t.api(ctx, http.MethodGet, "/api/v1/memories?"+q.Encode(), &page); err != nil {
			return nil, err
		}
		all = append(all, page.Memories...)
	}
	return all, nil
}

func (t Target) api(ctx context.Context, method, path string, into any) error {
	raw, _, err := do(ctx, method, t.Admin+path, nil, "Authorization: Bearer "+t.Token)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// do sends one request; headers come as "Name: value". Anything but a 2xx is an
// error.
func do(ctx context.Context, method, address string, body []byte, headers ...string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it is read by then
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s answered %s: %s", method, address, resp.Status, raw)
	}
	return raw, resp.Header, err
}
