package main

import (
	"net/http"
	"strconv"
	"strings"
)

// metric is the value of a metric without labels.
func (w *world) metric(name string) float64 {
	w.t.Helper()
	for line := range strings.Lines(string(w.admin(http.MethodGet, "/metrics", ""))) {
		if n, value, _ := strings.Cut(strings.TrimSpace(line), " "); n == name {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return v
		}
	}
	w.t.Fatalf("there is no metric %s", name)
	return 0
}
