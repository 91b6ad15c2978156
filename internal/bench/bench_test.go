package bench

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// serving starts the upstream and the yardstick in this process.
func serving(t *testing.T) (upstream, reverse string) {
	t.Helper()
	var addresses []string
	for range 2 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		addresses = append(addresses, "http://"+ln.Addr().String())
		if len(addresses) == 1 {
			go ServeUpstream(ln)
			continue
		}
		u, err := url.Parse(addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		go ServeReverseProxy(ln, u)
	}
	return addresses[0], addresses[1]
}

func quiet(string, ...any) {}

func TestMeasures(t *testing.T) {
	up, reverse := serving(t)
	targets := []Target{{Name: "direct", URL: up + "/v1/chat/completions"}, {Name: "proxy", URL: reverse + "/v1/chat/completions", PID: os.Getpid()}}
	rows, err := Compare(t.Context(), targets, []Load{
		{Name: "small", Script: Small, Conns: 2, For: 20 * time.Millisecond},
		{Name: "long", Script: Histories(20_000, 10), Conns: 1, For: 20 * time.Millisecond},
		{Name: "stream", Script: Streaming, Header: Events(10, 0), Conns: 1, For: 20 * time.Millisecond},
	}, 1, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Requests == 0 || r.Failed > 0 || r.P50.Median <= 0 || r.PerSec.Median <= 0 {
			t.Errorf("%+v", r)
		}
	}
	ways, err := Streams(t.Context(), targets, 1, 2, 10, time.Millisecond, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		if w.Chunks != 20 || w.P50.Median <= 0 || w.P50.Median > 1000 {
			t.Errorf("%+v", w)
		}
	}
	peak, err := Hold(t.Context(), targets[1], up, 20, Histories(20_000, 10))
	if err != nil || peak == 0 && RssAnon(os.Getpid()) > 0 {
		t.Errorf("held with %d bytes, %v", peak, err)
	}
	f := Footprint{State: "held", Target: "proxy"}
	f.Add(3 << 20)
	f.Add(1 << 20)
	f.Add(2 << 20)
	var out strings.Builder
	PrintRows(&out, rows)
	PrintWays(&out, ways)
	PrintFootprints(&out, []Footprint{f})
	for _, want := range []string{"| small | proxy |", "| direct | 20 |", "2.0 (1.0 to 3.0)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// A history goes on with what was answered, each request with all before it.
func TestHistories(t *testing.T) {
	next := Histories(50_000, 60)()
	var before []byte
	for turn := range 16 {
		body := bytes.Clone(next(turn, []byte(`{"message":{"content":"Answer one."}}`)))
		var v struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("turn %d: %v", turn, err)
		}
		if n := len(v.Messages); n != 60+2*(turn%8) || v.Messages[n-1].Role != "user" {
			t.Errorf("turn %d: %d messages", turn, n)
		}
		if turn%8 == 0 {
			if len(body) < 45_000 || len(body) > 55_000 {
				t.Errorf("turn %d: %d bytes", turn, len(body))
			}
		} else if !bytes.HasPrefix(body, before[:len(before)-2]) || v.Messages[len(v.Messages)-2].Content != "Answer one." {
			t.Errorf("turn %d doesn't go on", turn)
		}
		before = body
	}
}
