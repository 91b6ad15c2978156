package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A process that dies with its goroutines on standard error says nothing of what
// it held: keys, the users' words, memories; neither do its log and its metrics
// until then, and no profiler listens.
func TestACrashSaysNoSecret(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			secrets := map[string]string{}
			secret := func(of string) string {
				secrets[of] = rand.Text()
				return secrets[of]
			}
			var out heap
			s := serveProcessTo(t, &out, "GOTRACEBACK=all", "HINDSIGHT_LOG_LEVEL=info", "HINDSIGHT_TENANT=acme", "HINDSIGHT_EMBEDDER=none", "HINDSIGHT_RECALL_DEADLINE=5s",
				"LLM_API_KEY=sk-"+secret("the upstream's key"), "HINDSIGHT_ADMIN_TOKEN="+secret("the admin token"))
			s.until("memory is on", func() bool { return strings.Contains(s.call(http.MethodGet, s.admin+"/readyz", ""), `"memory":"on"`) })
			memory := secret("a memory")
			s.call(http.MethodPost, s.admin+"/api/v1/memories", `{"scope":"user:ann","type":"user_fact","text":"The staging database's code word is `+memory+`."}`, "Authorization: Bearer "+secrets["the admin token"])
			words, key := secret("the user's words"), secret("the caller's key")
			var open sync.WaitGroup
			for i := range 8 { // the upstream never ends; equal bodies would be taken for retries, which recall nothing
				open.Go(func() {
					s.call(http.MethodPost, s.proxy+"/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"What is the staging database's code word? `+words+fmt.Sprint(i)+`"}]}`,
						"Authorization: Bearer sk-"+key, "Hindsight-User: ann")
				})
			}
			var metrics string
			s.until("they are under way and injected", func() bool {
				metrics = s.call(http.MethodGet, s.admin+"/metrics", "", "Authorization: Bearer "+secrets["the admin token"])
				return strings.Contains(metrics, `hindsight_recalls_total{result="injected"} 8`) && strings.Contains(metrics, "hindsight_inflight 8")
			})
			if got := s.call(http.MethodGet, s.admin+"/debug/pprof/goroutine?debug=2", "", "Authorization: Bearer "+secrets["the admin token"]); strings.Contains(got, "runtime.") {
				t.Errorf("a profiler answers: %.200s", got)
			}
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := s.exit(); err == nil {
				t.Error("it ended well")
			}
			open.Wait()
			said := string(out.bytes())
			if strings.Count(said, "\ngoroutine ") < 10 {
				t.Fatalf("no goroutines are shown: %s", said)
			}
			for of, secret := range secrets {
				for where, text := range map[string]string{"standard error": said, "the metrics": metrics} {
					if strings.Contains(text, secret) {
						t.Errorf("%s holds %s", where, of)
					}
				}
			}
		})
	}
}

// call sends a request and returns what of the answer came.
func (s *served) call(method, url, body string, headers ...string) string {
	req, err := http.NewRequest(method, "http://"+url, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return ""
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Sprint(err) // it has crashed meanwhile
	}
	defer resp.Body.Close()
	got, _ := io.ReadAll(resp.Body) // up to the crash
	return string(got)
}
