// Command fakellmd serves the scripted model to suites that aren't written in
// Go. It prints its base URL and serves until its standard input ends.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"hindsight/internal/fakellm"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fakellmd:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("listen", "127.0.0.1:0", "address to serve on")
	delay := flag.Duration("delay", 0, "pause between two chunks of a stream, and before an answer that comes whole")
	record := flag.String("record", "", "file to which each request is written, a JSON object a line")
	flag.Parse()
	cfg := fakellm.Config{Delay: *delay}
	if *record != "" {
		f, err := os.Create(*record)
		if err != nil {
			return fmt.Errorf("record requests: %w", err)
		}
		defer func() { _ = f.Close() }() // it is a log of the run
		cfg.Record = recorder(f)
	}
	base, stop, err := fakellm.New(cfg).Start(*addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer stop()
	fmt.Println(base)
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is the signal to stop
	return nil
}

// recorder writes requests as lines, whole ones whoever asks at a time.
func recorder(w io.Writer) func(fakellm.Request) {
	var mu sync.Mutex
	return func(r fakellm.Request) {
		line, _ := json.Marshal(map[string]any{ // strings and lists of them
			"method": r.Method, "path": r.Path, "headers": r.Header, "body": string(r.Body),
		})
		mu.Lock()
		defer mu.Unlock()
		_, _ = w.Write(append(line, '\n')) // a suite that reads it finds out
	}
}
