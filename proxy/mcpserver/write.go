package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// maxContent is the length of a memory's text in characters, as the management
// API has it.
const maxContent = 8000

type writeIn struct {
	Content    string         `json:"content"`
	MemoryType string         `json:"memory_type"`
	Importance *float64       `json:"importance"`
	Confidence *float64       `json:"confidence"`
	Subject    string         `json:"subject"`
	Scope      string         `json:"scope"`
	Metadata   map[string]any `json:"metadata"`
}

// Written is the answer to a write.
type Written struct {
	ID       string   `json:"id" jsonschema:"of the memory that says it now"`
	Result   string   `json:"result" jsonschema:"created, or known: a memory says it already and nothing new was written"`
	Memory   Note     `json:"memory"`
	Replaced []string `json:"replaced" jsonschema:"ids of memories that hold no longer because of it"`
	Near     []Near   `json:"near" jsonschema:"memories that may say the same or may not hold beside it: update or forget those that are wrong now"`
}

// Near is a memory that only a reader can relate to what was written.
type Near struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func write(ctx context.Context, d *desk, in writeIn) (Written, error) {
	typ, err := typeOf(in.MemoryType)
	if err != nil {
		return Written{}, err
	}
	scope := store.Scope(in.Scope)
	if scope == "" {
		if scope, err = d.grant.target(typ); err != nil {
			return Written{}, err
		}
	} else if !slices.Contains(d.grant.Write, scope) {
		return Written{}, badArg("scope", "isn't one that this token may write to: %s", list(d.grant.Write))
	}
	metadata, err := asTexts(in.Metadata)
	if err != nil {
		return Written{}, err
	}
	if err := d.screen(&in.Content, &in.Subject, nil, metadata); err != nil {
		return Written{}, err
	}
	body := map[string]any{
		"tenant": d.grant.Owner.Tenant, "scope": scope, "text": in.Content, "type": typ,
		"subject": in.Subject, "metadata": metadata,
	}
	if d.grant.Owner.User != "" {
		body["user"], body["agent"] = d.grant.Owner.User, d.grant.Owner.Agent
	}
	if in.Importance != nil {
		body["importance"] = *in.Importance
	}
	if in.Confidence != nil {
		body["confidence"] = *in.Confidence
	}
	var done admin.Learned
	if err := d.api.do(ctx, http.MethodPost, memoriesPath+"/learn", nil, body, &done); err != nil {
		return Written{}, err
	}
	if done.Memory == nil {
		return Written{}, screened("content", done.Reason)
	}
	out := Written{ID: done.Memory.ID, Result: done.Result, Memory: noteOf(*done.Memory), Replaced: append([]string{}, done.Replaced...), Near: []Near{}}
	for _, m := range done.Near {
		out.Near = append(out.Near, Near{m.ID, m.Text})
	}
	return out, nil
}

// screen refuses what may not be kept, in whatever field; nil ones aren't given.
func (d *desk) screen(content, subject, scenario *string, metadata map[string]string) error {
	type field struct {
		name string
		text *string
	}
	all := []field{{"content", content}, {"subject", subject}, {"scenario", scenario}}
	for k, v := range metadata {
		all = append(all, field{"metadata", &k}, field{"metadata", &v})
	}
	for _, f := range all {
		if f.text == nil {
			continue
		}
		if reason := d.cfg.Screen(*f.text); reason != "" {
			return screened(f.name, reason)
		}
	}
	return nil
}

// screened says in words why a field isn't kept. Asking again doesn't help.
func screened(field, reason string) error {
	switch reason {
	case "secret":
		return refusal("not kept: " + field + " holds a password, a key or another secret. Leave that out and write the rest")
	case "instruction":
		return refusal("not kept: " + field + " is an order to a model, not a statement. Write what is so, not what to do about it")
	case "hidden_text":
		return refusal("not kept: " + field + " holds characters that nobody sees. Write it without them")
	case "forgotten":
		return refusal("not kept: the user had this forgotten")
	}
	return refusal("not kept: " + reason)
}

// metadataArg takes what clients send as values and keeps it as text.
func metadataArg() arg {
	most, long := 64, 1000
	return arg{name: "metadata", want: "an object of at most 64 names with texts, numbers or true and false as values", schema: &jsonschema.Schema{
		Type: "object", Description: "Whatever else to keep with it, by name.", MaxProperties: &most,
		PropertyNames:        &jsonschema.Schema{MaxLength: &long},
		AdditionalProperties: &jsonschema.Schema{Types: []string{"string", "number", "boolean"}, MaxLength: &long},
	}}
}

func asTexts(values map[string]any) (map[string]string, error) {
	if len(values) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(values))
	for k, v := range values {
		if k == "" {
			return nil, badArg("metadata", "has a value without a name")
		}
		out[k] = fmt.Sprint(v)
	}
	return out, nil
}
