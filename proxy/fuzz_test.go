package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"hindsight/inject"
)

// FuzzAnyBody sends any body through the whole proxy, with a memory to inject:
// it is either understood, and one piece is put into it, or passed on as it
// came; the client gets the answer, and nothing panics.
func FuzzAnyBody(f *testing.F) {
	for _, body := range []string{
		hello, streamed, "", "null", "[]", "{}", "\x00\xff", `{"messages":`, `{"messages":[]}`, `{"messages":[{}]}`,
		`{"messages":[{"role":"user"}]}`, `{"messages":[{"role":"user","content":null}]}`, `{"messages":[{"role":"user","content":[]}]}`,
		`{"messages":[{"role":"user","content":[7,{"type":"text"},{"type":"text","text":"x"},"bare"]}]}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","prefix":true}],"seed":1e400}`,
		`{"messages":[{"role":"user","content":"\ud800"}],"messages":[]}`, `{"messages":[{"role":"user","content":"x"}]} x`,
		"\xef\xbb\xbf" + hello, strings.Repeat("[", 2000), `{"model":` + strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500) + `,"messages":[{"role":"user","content":"x"}]}`,
	} {
		f.Add([]byte(body), false)
		f.Add([]byte(body), true)
	}
	const notes = "notes-7f3a"
	var up script
	r := start(f, up.handler(ok))
	place := block(notes)
	r.plan = func(ctx context.Context, c inject.Conversation) inject.Plan {
		if len(c.Places) == 0 { // nobody has spoken
			return inject.Plan{Status: inject.None}
		}
		return place(ctx, c)
	}
	f.Fuzz(func(t *testing.T, body []byte, chunked bool) {
		r := *r
		r.t = t
		var rd io.Reader = bytes.NewReader(body)
		if chunked {
			rd = io.MultiReader(rd)
		}
		resp, answer := r.do("POST", "/v1/chat/completions", rd)
		for range len(r.ends) {
			<-r.ends
		}
		if resp.StatusCode != 200 || answer != whole {
			t.Fatalf("the client got %d %q", resp.StatusCode, answer)
		}
		got := up.take(t).body
		status := resp.Header.Get("Hindsight-Status")
		if status != "injected" {
			if !bytes.Equal(got, body) {
				t.Fatalf("%s, and the upstream got %q", status, got)
			}
			return
		}
		at := 0
		for at < len(body) && got[at] == body[at] {
			at++
		}
		more := len(got) - len(body)
		if more < len(notes) || !bytes.Equal(got[at+more:], body[at:]) || bytes.Count(got, []byte(notes)) != bytes.Count(body, []byte(notes))+1 {
			t.Fatalf("more than one piece was put in: %q", got)
		}
		if !json.Valid(body) || !json.Valid(got) {
			t.Fatalf("not JSON: %q", got)
		}
	})
}

// take is the last request, and forgets them all.
func (s *script) take(t testing.TB) seen {
	t.Helper()
	last := s.last(t)
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	return last
}
