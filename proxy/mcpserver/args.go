package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// arg is one argument of a tool.
type arg struct {
	name     string
	schema   *jsonschema.Schema
	required bool
	want     string // what fits, for people; empty: made of the schema
	resolved *jsonschema.Resolved
}

// must is an argument without which a tool can't be called.
func must(a arg) arg { a.required = true; return a }

func text(name, about string, most int) arg {
	least := 1
	return arg{name: name, schema: &jsonschema.Schema{Type: "string", Description: about, MinLength: &least, MaxLength: &most}}
}

func word(name, about string, words ...string) arg {
	enum := make([]any, len(words))
	for i, w := range words {
		enum[i] = w
	}
	return arg{name: name, schema: &jsonschema.Schema{Type: "string", Description: about, Enum: enum}}
}

func share(name, about string) arg {
	least, most := 0.0, 1.0
	return arg{name: name, schema: &jsonschema.Schema{Type: "number", Description: about, Minimum: &least, Maximum: &most}}
}

func count(name, about string, most float64, usual int) arg {
	least := 1.0
	return arg{name: name, schema: &jsonschema.Schema{Type: "integer", Description: about, Minimum: &least, Maximum: &most, Default: json.RawMessage(fmt.Sprint(usual))}}
}

func yesNo(name, about string) arg {
	return arg{name: name, schema: &jsonschema.Schema{Type: "boolean", Description: about}}
}

// inputSchema is the JSON Schema of a tool's arguments.
func inputSchema(args []arg) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, a := range args {
		s.Properties[a.name] = a.schema
		s.PropertyOrder = append(s.PropertyOrder, a.name)
		if a.required {
			s.Required = append(s.Required, a.name)
		}
	}
	return s
}

// prepare makes the arguments ready to be checked.
func prepare(args []arg) []arg {
	out := slices.Clone(args)
	for i := range out {
		resolved, err := out[i].schema.Resolve(nil)
		if err != nil { // the schemas are constants of this package
			panic(fmt.Sprintf("argument %s: %v", out[i].name, err))
		}
		out[i].resolved = resolved
		if out[i].want == "" {
			out[i].want = wanted(out[i].schema)
		}
	}
	return out
}

// read checks the arguments of a call one by one, so that an error names the one
// that is wrong, and decodes them into to. An argument that is null is left out.
func read(args []arg, raw json.RawMessage, to any) error {
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		if err := json.Unmarshal(raw, &given); err != nil {
			return badArg("arguments", "isn't an object: send {\"name\": value, …}")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name == "" {
			return badArg("arguments", "holds a value without a name")
		}
		if bytes.Equal(bytes.TrimSpace(given[name]), []byte("null")) {
			delete(given, name)
			continue
		}
		i := slices.IndexFunc(args, func(a arg) bool { return a.name == name })
		if i < 0 {
			return badArg(name, "isn't known here; there are: %s", names(args))
		}
		var v any
		if err := json.Unmarshal(given[name], &v); err != nil {
			return badArg(name, "can't be read as JSON")
		}
		if args[i].resolved.Validate(v) != nil {
			return badArg(name, "can't be used: want %s", args[i].want)
		}
	}
	for _, a := range args {
		if _, ok := given[a.name]; a.required && !ok {
			return badArg(a.name, "is missing: want %s", a.want)
		}
	}
	all, err := json.Marshal(given)
	if err != nil {
		return badArg("arguments", "can't be read: %v", err)
	}
	if err := json.Unmarshal(all, to); err != nil {
		return badArg("arguments", "can't be read: %v", err)
	}
	return nil
}

func names(args []arg) string {
	var out []string
	for _, a := range args {
		out = append(out, a.name)
	}
	return strings.Join(out, ", ")
}

// wanted says what fits a schema.
func wanted(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			words[i] = fmt.Sprint(e)
		}
		return "one of " + strings.Join(words, ", ")
	case s.Type == "string":
		return fmt.Sprintf("a text of 1 to %d characters", *s.MaxLength)
	case s.Type == "integer":
		return fmt.Sprintf("a whole number from %g to %g", *s.Minimum, *s.Maximum)
	case s.Type == "number":
		return fmt.Sprintf("a number from %g to %g", *s.Minimum, *s.Maximum)
	case s.Type == "boolean":
		return "true or false"
	}
	return "an object"
}
