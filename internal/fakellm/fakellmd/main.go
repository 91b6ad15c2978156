// Command fakellmd serves the scripted model to suites that aren't written in
// Go. It prints its base URL and serves until its standard input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"hindsight/internal/fakellm"
)

func main() {
	addr := flag.String("listen", "127.0.0.1:0", "address to serve on")
	delay := flag.Duration("delay", 0, "pause between two chunks of a stream")
	flag.Parse()
	base, stop, err := fakellm.New(fakellm.Config{Delay: *delay}).Start(*addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakellmd:", err)
		os.Exit(1)
	}
	defer stop()
	fmt.Println(base)
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is the signal to stop
}
