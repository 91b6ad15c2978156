package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestUntouched(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	bodies := []string{
		hello,
		"",
		`{"messages": [ {"role":"user","content":"\ud83d\ude00 \u00e9"} ] , "seed":9007199254740993, "x":1.0, "y":1e400, "z":null}` + "\n",
		"not json \x00\xff",
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[]}],"stream_options":{"include_usage":false}}`,
		strings.Repeat("x", 3<<20),
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings", "/v1/files?a=b"} {
		for i, body := range bodies {
			for _, chunked := range []bool{false, true} {
				var rd io.Reader = strings.NewReader(body)
				if chunked {
					rd = io.MultiReader(rd)
				}
				resp, got := r.do("POST", path, rd)
				if resp.StatusCode != 200 || got != whole {
					t.Fatalf("%s body %d: %d %q", path, i, resp.StatusCode, got)
				}
				if s := up.last(t); string(s.body) != body {
					t.Errorf("%s body %d chunked %v: upstream got %.80q", path, i, chunked, s.body)
				}
			}
		}
	}
}

func TestHeadersPass(t *testing.T) {
	var up script
	r := start(t, up.handler(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Set-Cookie"] = []string{"a=1; Path=/", "b=2"}
		h["X-Ratelimit-Remaining"] = []string{"3"}
		h["X-Many"] = []string{"one", "two"}
		h.Set("Date", "Mon, 02 Jan 2006 15:04:05 GMT")
		h.Set("Server", "cloudflare")
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "gone")
		h.Set("Hindsight-Status", "of the one behind")
		ok(w, nil)
	}))
	resp, _ := r.post(hello, "OpenAI-Organization", "org", "OpenAI-Beta", "x", "X-Stainless-Retry-Count", "0",
		"User-Agent", "OpenAI/Python 1.2", "Cookie", "a=1;b=2", "Accept-Encoding", "gzip, br",
		"Hindsight-User", "me", "Hindsight-Memory", "on", "Connection", "X-Mine", "X-Mine", "dropped", "Authorization", "Bearer k")
	want := http.Header{
		"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(len(hello))},
		"Openai-Organization": {"org"}, "Openai-Beta": {"x"}, "X-Stainless-Retry-Count": {"0"},
		"User-Agent": {"OpenAI/Python 1.2"}, "Cookie": {"a=1;b=2"}, "Accept-Encoding": {"gzip, br"}, "Authorization": {"Bearer k"},
	}
	if diff := cmp.Diff(want, up.last(t).header); diff != "" {
		t.Errorf("upstream's headers (-want +got):\n%s", diff)
	}
	if host := up.last(t).host; host == r.addr || !strings.HasPrefix(host, "127.0.0.1:") {
		t.Errorf("Host upstream = %q", host)
	}
	want = http.Header{
		"Set-Cookie": {"a=1; Path=/", "b=2"}, "X-Ratelimit-Remaining": {"3"}, "X-Many": {"one", "two"},
		"Date": {"Mon, 02 Jan 2006 15:04:05 GMT"}, "Server": {"cloudflare"}, "Content-Type": {"application/json"},
		"Content-Length": {fmt.Sprint(len(whole))}, "Hindsight-Status": {"none"}, "Hindsight-Session": {"s1"}, "Hindsight-Exchange": {"x1"},
	}
	if diff := cmp.Diff(want, resp.Header); diff != "" {
		t.Errorf("client's headers (-want +got):\n%s", diff)
	}
	if in := r.incoming[0]; in.Header.Get("Hindsight-User") != "me" || in.Path != "/v1/chat/completions" {
		t.Errorf("the tracker saw %v %v", in.Path, in.Header)
	}

	// What the client doesn't send isn't added.
	c := r.raw()
	fmt.Fprintf(c, "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(http.Header{}, up.last(t).header); diff != "" {
		t.Errorf("upstream's headers of a bare request (-want +got):\n%s", diff)
	}
}

func TestTargetsPass(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	for _, target := range []string{
		"/v1/models?b=2&a=1&a=%2f+x;y", "/v1/files/a%2Fb/content", "/v1/x?", "/v1/%7Eq/[z]?[]={}", "//double/slash", "/v1/a//b/../c",
		"/openai/deployments/d/chat/completions?api-version=2024-10-21",
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "PROPFIND"} {
			c := r.raw()
			fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab", method, target)
			if _, err := io.ReadAll(c); err != nil {
				t.Fatal(err)
			}
			s := up.last(t)
			uri := s.uri
			if strings.HasPrefix(target, "//") {
				_, uri, _ = strings.Cut(strings.TrimPrefix(uri, "http://"), "/")
				uri = "/" + uri
			}
			if s.method != method || uri != target || string(s.body) != "ab" {
				t.Errorf("%s %s arrived as %s %s %q", method, target, s.method, s.uri, s.body)
			}
		}
	}
}

func TestHeadAndEmptyAnswers(t *testing.T) {
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/head":
			w.Header().Set("Content-Length", "123")
		case "/204":
			w.WriteHeader(204)
		case "/304":
			w.Header().Set("Etag", `"e"`)
			w.WriteHeader(304)
		case "/empty":
		}
	})
	for _, c := range []struct {
		method, path, length string
		code                 int
	}{{"HEAD", "/head", "123", 200}, {"GET", "/204", "", 204}, {"GET", "/304", "", 304}, {"GET", "/empty", "0", 200}} {
		for range 2 { // the second on the same connection
			resp, body := r.do(c.method, c.path, nil)
			if resp.StatusCode != c.code || resp.Header.Get("Content-Length") != c.length || body != "" {
				t.Errorf("%s %s: %d, length %q, %q", c.method, c.path, resp.StatusCode, resp.Header.Get("Content-Length"), body)
			}
		}
	}
}

// Errors of the upstream pass as they are, streams asked for or not.
func TestUpstreamErrorsPass(t *testing.T) {
	var up script
	r := start(t, up.handler(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "0")
		w.WriteHeader(map[string]int{"401": 401, "429": 429, "500": 500}[q.Header.Get("X-Want")])
		io.WriteString(w, `{"error":{"message":"no"}}`)
	}))
	for _, want := range []int{401, 429, 500} {
		resp, body := r.post(`{"stream":true,"messages":[{"role":"user","content":"x"}]}`, "X-Want", fmt.Sprint(want))
		if resp.StatusCode != want || body != `{"error":{"message":"no"}}` || resp.Header.Get("Retry-After") != "7" ||
			resp.Header.Get("Anthropic-Ratelimit-Requests-Remaining") != "0" || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d: got %d %v %q", want, resp.StatusCode, resp.Header, body)
		}
		if e := r.end(); e.end.Status != "error" || e.end.HTTP != want {
			t.Errorf("%d: finished as %+v", want, e.end)
		}
	}
	if n := len(up.all()); n != 3 {
		t.Errorf("the upstream saw %d requests, want 3", n)
	}
}

func TestMultipartStreams(t *testing.T) {
	got := make(chan []byte, 10)
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		buf := make([]byte, 16)
		n, _ := q.Body.Read(buf)
		got <- buf[:n]
		rest, _ := io.ReadAll(q.Body)
		got <- rest
		w.Write([]byte(q.Header.Get("Content-Type")))
	})
	pr, pw := io.Pipe()
	go func() {
		pw.Write([]byte("--b\r\n\x00\xff"))
		// The rest is sent only when the upstream has the beginning.
		first := <-got
		pw.Write(append([]byte("rest\x00"), first...))
		pw.Close()
	}()
	_, body := r.do("POST", "/v1/audio/transcriptions", pr, "Content-Type", "multipart/form-data; boundary=b")
	if body != "multipart/form-data; boundary=b" {
		t.Errorf("content type arrived as %q", body)
	}
	if rest := <-got; !bytes.Equal(rest, []byte("rest\x00--b\r\n\x00\xff")) {
		t.Errorf("the rest arrived as %q", rest)
	}
}

func TestPipelined(t *testing.T) {
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		fmt.Fprintf(w, "%s%s", q.URL.Path, b)
	})
	c := r.raw()
	var all strings.Builder
	for i := range 20 {
		fmt.Fprintf(&all, "POST /p%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i)
	}
	io.WriteString(c, all.String())
	br := bufio.NewReader(c)
	for i := range 20 {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		if want := fmt.Sprintf("/p%dabc", i); string(b) != want {
			t.Fatalf("answer %d is %q", i, b)
		}
	}
}

func TestExpectContinue(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	c := r.raw()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(hello))
	br := bufio.NewReader(c)
	if line, _ := br.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q", line)
	}
	br.ReadString('\n')
	io.WriteString(c, hello)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	if s := up.last(t); string(s.body) != hello || s.header.Get("Expect") != "" {
		t.Errorf("upstream got %q %v", s.body, s.header)
	}
}

func TestTrailers(t *testing.T) {
	var up script
	r := start(t, up.handler(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-End")
		io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("X-End", "1")
	}))
	c := r.raw()
	br := bufio.NewReader(c)
	for range 2 {
		fmt.Fprintf(c, "POST /v1/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n")
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(resp.Body); string(b) != "body" || err != nil || string(up.last(t).body) != "abc" {
			t.Errorf("client got %q %v, upstream %q", b, err, up.last(t).body)
		}
	}
}
