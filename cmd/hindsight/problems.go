package main

import (
	"fmt"
	"regexp"
	"strings"
)

// problem is one thing that is wrong with the configuration, in the words of
// whoever wrote it.
type problem struct {
	Field string `json:"field"`
	Value string `json:"value,omitempty"` // empty for secrets
	Wrong string `json:"wrong"`
	Next  string `json:"next"`
}

func (p problem) String() string {
	if p.Value == "" {
		return fmt.Sprintf("%s %s. %s", p.Field, p.Wrong, p.Next)
	}
	return fmt.Sprintf("%s is %q: it %s. %s", p.Field, p.Value, p.Wrong, p.Next)
}

// problems is the error of a configuration: all that is wrong with it at once.
type problems []problem

func (ps problems) Error() string {
	head := fmt.Sprintf("the configuration has %d problems:", len(ps))
	if len(ps) == 1 {
		head = "the configuration has a problem:"
	}
	lines := []string{head}
	for _, p := range ps {
		lines = append(lines, "  "+p.String())
	}
	return strings.Join(lines, "\n")
}

// ExitCode is that of wrong usage.
func (problems) ExitCode() int { return exitUsage }

// add notes a problem with a setting. The value is shown unless it is a secret,
// shortened where it is long.
func (ps *problems) add(s setting, wrong, next string) {
	p := problem{Field: s.label(), Wrong: wrong, Next: next}
	if !s.secret {
		p.Value = short(discreet(s.raw), 80)
	}
	*ps = append(*ps, p)
}

// discreet is a value without what an address may hold of secrets: a password, and
// what stands behind its path.
func discreet(value string) string {
	if !strings.Contains(value, "://") {
		return value
	}
	value = user.ReplaceAllString(value, "//…@")
	if at := strings.IndexAny(value, "?#"); at >= 0 {
		value = value[:at+1] + "…"
	}
	return value
}

var user = regexp.MustCompile(`//.*@`)

// short cuts a text to n characters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
