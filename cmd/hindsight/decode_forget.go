package main

import (
	"strconv"
	"time"

	"hindsight/reflect/lifecycle"
)

// forgetting decodes what the daily sweep takes; off is the zero value.
func (d decoder) forgetting(s *settings) lifecycle.Forgetting {
	const century = 100 * 365 * 24 * time.Hour
	f := lifecycle.DefaultForgetting()
	f.After = d.duration(s.ForgetAfter, 0, century)
	f.Importance = d.share(s.ForgetImportance)
	f.Most = d.number(s.ForgetMax, 0, 1_000_000_000)
	f.DeleteAfter = d.duration(s.ForgetDeleteAfter, 0, century)
	switch d.word(s.ForgetMode, "archive", "downweight", "off") {
	case "downweight":
		f.Gentle = true
	case "off":
		return lifecycle.Forgetting{}
	}
	return f
}

// share decodes a number from 0 to 1.
func (d decoder) share(s setting) float64 {
	v, err := strconv.ParseFloat(s.raw, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		d.ps.add(s, "isn't a number from 0 to 1", "Write a number such as 0.5.")
	}
	return v
}
