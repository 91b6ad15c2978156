package mcpserver

import (
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"hindsight/store"
)

// kindWords are what memory_type may be: a type, or a layer.
var kindWords = []string{
	string(store.UserFact), string(store.Preference), string(store.Solution), string(store.ErrorLesson), string(store.EventType),
	string(store.Working), string(store.Episodic), string(store.Semantic), string(store.Skill),
}

// typeWords are the types that store_memory takes.
var typeWords = []string{string(store.UserFact), string(store.Preference), string(store.Solution), string(store.ErrorLesson)}

// kind splits a memory_type into a type or a layer.
func kind(given string) (typ, layer string) {
	if given == "" || slices.Contains(store.Types(), store.Type(given)) {
		return given, ""
	}
	return "", given
}

// typeOf is the type of which a memory_type is written.
func typeOf(given string) (store.Type, error) {
	typ, layer := kind(given)
	switch store.Layer(layer) {
	case store.Working:
		return "", badArg("memory_type", "is working, which is what was just said in the open session: it can be searched, not written")
	case store.Episodic:
		return store.EventType, nil
	case store.Semantic:
		return store.UserFact, nil
	case store.Skill:
		return store.Solution, nil
	}
	if typ == "" {
		return store.UserFact, nil
	}
	return store.Type(typ), nil
}

// span is a stretch of time, both ends optional.
type span struct {
	Since string `json:"since"`
	Until string `json:"until"`
}

// timeRange is the argument of a span.
func timeRange() arg {
	most := 40
	end := func(about string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", MaxLength: &most, Description: about}
	}
	return arg{name: "time_range", want: `{"since": "2026-01-31", "until": "2026-02-28T18:00:00Z"}, either end or both`, schema: &jsonschema.Schema{
		Type: "object", Description: "When it was written. Days or RFC 3339 times.",
		Properties: map[string]*jsonschema.Schema{
			"since": end("At or after this."), "until": end("Before this; a day is meant whole."),
		},
		PropertyOrder:        []string{"since", "until"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}}
}

// times reads a span's ends; zero where they are open.
func (s *span) times(zone *time.Location) (since, until time.Time, err error) {
	if s == nil {
		return since, until, nil
	}
	if since, err = moment("since", s.Since, zone, false); err != nil {
		return since, until, err
	}
	if until, err = moment("until", s.Until, zone, true); err != nil {
		return since, until, err
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return since, until, badArg("time_range", "ends before it begins: until must be later than since")
	}
	return since, until, nil
}

// moment reads a time or a day; whole takes the end of the day.
func moment(end, s string, zone *time.Location, whole bool) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, s, zone)
	if err != nil {
		return day, badArg("time_range", "has a bad %s: want a day like 2026-01-31 or a time like 2026-01-31T08:00:00Z", end)
	}
	if whole {
		day = day.AddDate(0, 0, 1)
	}
	return day, nil
}
