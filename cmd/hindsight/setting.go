package main

import (
	"github.com/alecthomas/kong"
)

// setting is one configuration value as it was written, before it means
// anything. It remembers the name under which it was given, so that a complaint
// can use the user's own word for it.
type setting struct {
	raw  string
	from string // --top-k, HINDSIGHT_TOP_K, top_k (hindsight.yaml:3); empty: not given
	key  string // the configuration file's name for it
	// secret values are never repeated in a message.
	secret bool
}

// given says whether anything but the default decides the value.
func (s setting) given() bool { return s.from != "" }

// label is what to call the setting in a message.
func (s setting) label() string {
	if s.from != "" {
		return s.from
	}
	return s.key
}

// Decode takes the value of a flag.
func (s *setting) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("value")
	if err != nil {
		return err
	}
	s.raw, s.from = token.String(), "--"+ctx.Value.Name
	return nil
}

// toggle is a setting whose flag needs no value.
type toggle struct{ setting }

// IsBool tells kong that the flag stands alone.
func (*toggle) IsBool() bool { return true }

// Decode takes the flag with or without a value.
func (t *toggle) Decode(ctx *kong.DecodeContext) error { //nolint:unparam // kong wants the error
	t.raw, t.from = "true", "--"+ctx.Value.Name
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		t.raw = ctx.Scan.Pop().String()
	}
	return nil
}
