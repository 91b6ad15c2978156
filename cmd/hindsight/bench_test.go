package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestBenchReportIntoADocument(t *testing.T) {
	path := write(t, "performance.md", "Before.\n"+benchOpen+"old\n"+benchShut+"After.\n")
	r := &benchReport{Machine: "a machine", Rounds: 5, For: "2s", Asked: 7, Kept: 7}
	for range 2 { // the second time too
		if err := r.into(path); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(raw)
	if !strings.HasPrefix(got, "Before.\n"+benchOpen) || !strings.HasSuffix(got, benchShut+"After.\n") || strings.Contains(got, "old") ||
		strings.Count(got, "a machine; 5 rounds of 2s") != 1 || !strings.Contains(got, "nginx was not found") {
		t.Errorf("the document is\n%s", got)
	}
	c := benchReflectCmd{Rounds: 5, For: time.Second, Conns: 32, Rate: 100}
	sides := []*reflectBench{{Name: "one side", Requests: 500, Busy: 0.93}}
	path = write(t, "both.md", string(raw)+benchReflectOpen+benchReflectShut)
	if err := between(path, benchReflectOpen, benchReflectShut, c.markdown(sides)); err != nil {
		t.Fatal(err)
	}
	raw, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	both := string(raw)
	if !strings.HasPrefix(both, got) || !strings.Contains(both, "100 requests a second over 32 connections") || !strings.Contains(both, "93 % of the time") {
		t.Errorf("with the other bench the document is\n%s", both)
	}
	if err := r.into(write(t, "other.md", "No marks.\n")); err == nil || !strings.Contains(err.Error(), "lacks the lines") {
		t.Errorf("without marks: %v", err)
	}
}
