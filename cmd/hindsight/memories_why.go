package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"hindsight/proxy/admin/explain"
	"hindsight/store"
)

type memoriesWhy struct {
	reach
	Exchange string `arg:"" help:"The answer's Hindsight-Exchange header."`
	Parts    bool   `help:"Every part of each score, with what it means."`
}

// Run tells why an exchange was given what it was given, in the words of the
// console and of the management API.
func (c *memoriesWhy) Run(ctx context.Context, a *app) error {
	path, err := idPath("/api/v1/exchanges", c.Exchange)
	if err != nil {
		return err
	}
	var w store.Why
	return a.call(ctx, c.reach, http.MethodGet, path+"/why", nil, nil, &w, func() error {
		s := explain.Tell(&w, a.lang())
		if err := a.say("%s\n%s", a.paint("1", s.Header), s.Headline); err != nil {
			return err
		}
		for _, l := range s.Lines {
			mark, colour := "-", "2"
			if l.Chosen {
				mark, colour = "+", "32"
			}
			if err := a.say("\n%s %s  %s\n  %s\n  %s", a.paint(colour, mark), l.ID, a.paint(colour, l.Because), oneLine(l.Text), c.score(l)); err != nil {
				return err
			}
		}
		return nil
	})
}

// score is a line's parts: in short, or each with what it means.
func (c *memoriesWhy) score(l explain.Line) string {
	var out []string
	for _, p := range l.Parts {
		if c.Parts {
			out = append(out, fmt.Sprintf("%s %.2f  %s", p.Label, p.Value, p.Meaning))
		} else {
			out = append(out, fmt.Sprintf("%s %.2f", p.Name, p.Value))
		}
	}
	if c.Parts {
		return strings.Join(out, "\n  ")
	}
	return strings.Join(out, " · ")
}

// lang is the language of the environment.
func (a *app) lang() explain.Lang {
	return explain.Locale(cmp.Or(a.env.get("LC_ALL"), a.env.get("LC_MESSAGES"), a.env.get("LANG")))
}
