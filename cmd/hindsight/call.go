package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// call makes one call and prints its answer: as it came with --json, else
// through human, which is called when answer has been filled in.
func (a *app) call(ctx context.Context, r reach, method, path string, q url.Values, body, answer any, human func() error) (err error) {
	c, err := a.client(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	raw, err := c.do(ctx, method, path, q, body, answer)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	return human()
}

// say prints one line.
func (a *app) say(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format+"\n", args...)
	return err
}

// more says how to get the next page.
func (a *app) more(cursor string) error {
	if cursor == "" {
		return nil
	}
	return a.say("There are more: --cursor %s", cursor)
}
