package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracing "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestTraces has a real collector's endpoint receive what a request leaves.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	spans := map[string]*tracing.Span{}
	var raw []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var got collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(b, &got) != nil {
			t.Errorf("%s %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		raw = append(raw, b...)
		for _, rs := range got.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					spans[s.Name] = s
				}
			}
		}
	}))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	w := newWorld(t, "HINDSIGHT_TRACES=otlp")
	w.remember("local", `"text":"The staging database listens on port 5433.","type":"user_fact"`)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	r := w.send(`{"model":"m1","messages":[{"role":"user","content":"Which port does the staging database listen on?"}]}`,
		"Traceparent: "+parent)
	if got := w.last().header.Get("Traceparent"); got != parent {
		t.Errorf("the upstream got the parent %q", got)
	}
	w.close(r.session())
	w.stop()
	mu.Lock()
	defer mu.Unlock()
	root := spans["chat"]
	if root == nil || spans["identify"] == nil || spans["recall"] == nil || spans["reflect memories"] == nil {
		t.Fatalf("the spans are %v", spans)
	}
	if string(root.ParentSpanId) != "\xb7\xad\x6b\x71\x69\x20\x33\x31" || string(spans["recall"].ParentSpanId) != string(root.SpanId) {
		t.Errorf("the request's parent is %x, recall's %x", root.ParentSpanId, spans["recall"].ParentSpanId)
	}
	if root.EndTimeUnixNano <= root.StartTimeUnixNano || root.Status.GetCode() == tracing.Status_STATUS_CODE_ERROR || !strings.Contains(root.String(), "injected") {
		t.Errorf("%v", root)
	}
	for _, private := range []string{"5433", "staging", "sk-test", "local"} {
		if strings.Contains(string(raw), private) {
			t.Errorf("the traces hold %q", private)
		}
	}
}
