package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

var upstreamRow = regexp.MustCompile("(?m)^\\| [^|]+ \\| `(http[^`]+)` \\| `(/[^`]+)` \\| `(/[^`]+)` \\|$")

// TestConnectingUpstreams sends what the table of docs/connecting.md says through
// the product, in front of an upstream with each row's path.
func TestConnectingUpstreams(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a server for each row")
	}
	rows := map[[3]string]bool{}
	for _, page := range []string{"connecting.md", "connecting.zh-CN.md"} {
		b, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		found := upstreamRow.FindAllStringSubmatch(string(b), -1)
		if len(found) != 10 {
			t.Errorf("%s has %d upstreams", page, len(found))
		}
		for _, m := range found {
			rows[[3]string{m[1], m[2], m[3]}] = true
		}
	}
	for row := range rows {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got <- r.URL.RequestURI()
				fmt.Fprint(w, "{}")
			}))
			defer up.Close()
			base, err := url.Parse(row[0])
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, "LLM_API_BASE="+up.URL+base.Path)
			resp, err := http.Post(w.st.proxyURL()+row[1], "application/json", strings.NewReader(`{"model":"m","messages":[]}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			if uri := <-got; uri != row[2] {
				t.Errorf("%s arrives at %s, and the page says %s", row[1], uri, row[2])
			}
		})
	}
}
