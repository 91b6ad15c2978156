package mcpserver

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"hindsight/store"
)

type updateIn struct {
	ID         string         `json:"id"`
	Content    *string        `json:"content"`
	MemoryType string         `json:"memory_type"`
	Importance *float64       `json:"importance"`
	Confidence *float64       `json:"confidence"`
	Subject    *string        `json:"subject"`
	Scenario   *string        `json:"scenario"`
	Metadata   map[string]any `json:"metadata"`
}

// Changed is the answer to a change: the memory as it is now.
type Changed struct {
	ID     string `json:"id"`
	Result string `json:"result" jsonschema:"updated, deleted, downweighted, verified or doubted"`
	Memory Note   `json:"memory"`
}

func update(ctx context.Context, d *desk, in updateIn) (Changed, error) {
	body := map[string]any{}
	if in.Content != nil {
		body["text"] = *in.Content
	}
	if in.MemoryType != "" {
		typ, err := typeOf(in.MemoryType)
		if err != nil {
			return Changed{}, err
		}
		body["type"] = typ
	}
	for name, v := range map[string]*float64{"importance": in.Importance, "confidence": in.Confidence} {
		if v != nil {
			body[name] = *v
		}
	}
	for name, v := range map[string]*string{"subject": in.Subject, "scenario": in.Scenario} {
		if v != nil {
			body[name] = *v
		}
	}
	metadata, err := asTexts(in.Metadata)
	if err != nil {
		return Changed{}, err
	}
	if in.Metadata != nil {
		body["metadata"] = metadata
	}
	if len(body) == 0 {
		return Changed{}, badArg("content", "is missing, and so is everything else that could change")
	}
	if err := d.screen(in.Content, in.Subject, in.Scenario, metadata); err != nil {
		return Changed{}, err
	}
	m, err := d.memory(ctx, in.ID, d.grant.Write)
	if err != nil {
		return Changed{}, err
	}
	if m.Standing && in.Content != nil && strings.TrimSpace(*in.Content) != m.Text {
		body["standing"] = false // these words the user hasn't asked to be told in every conversation
	}
	return d.changed(ctx, http.MethodPatch, in.ID, "", "updated", body)
}

// patch changes fields of a memory that the grant may write.
func (d *desk) patch(ctx context.Context, id, result string, fields map[string]any) (Changed, error) {
	if _, err := d.memory(ctx, id, d.grant.Write); err != nil {
		return Changed{}, err
	}
	return d.changed(ctx, http.MethodPatch, id, "", result, fields)
}

// changed makes a call about a memory that has been looked at.
func (d *desk) changed(ctx context.Context, method, id, call, result string, fields any) (Changed, error) {
	var m store.Memory
	if err := d.api.do(ctx, method, memoriesPath+"/"+url.PathEscape(id)+call, nil, fields, &m); err != nil {
		return Changed{}, err
	}
	return Changed{ID: m.ID, Result: result, Memory: noteOf(m)}, nil
}

type forgetIn struct {
	ID   string `json:"id"`
	Mode string `json:"mode"`
}

// The modes of a forget.
const (
	modeDelete     = "delete"
	modeDownweight = "downweight"
)

// faded is the importance of a memory that is to weigh less.
const faded = 0.1

func forget(ctx context.Context, d *desk, in forgetIn) (Changed, error) {
	if in.Mode == modeDownweight {
		return d.patch(ctx, in.ID, "downweighted", map[string]any{"importance": faded})
	}
	if _, err := d.memory(ctx, in.ID, d.grant.Write); err != nil {
		return Changed{}, err
	}
	return d.changed(ctx, http.MethodDelete, in.ID, "", "deleted", nil)
}

type verifyIn struct {
	ID        string `json:"id"`
	Confirmed *bool  `json:"confirmed"`
}

// doubt is what the confidence of a memory that isn't confirmed is multiplied
// with, as when a session contradicts one; leastConfidence is where that ends.
const (
	doubt           = 0.7
	leastConfidence = 0.1
)

func verify(ctx context.Context, d *desk, in verifyIn) (Changed, error) {
	m, err := d.memory(ctx, in.ID, d.grant.Write)
	if err != nil {
		return Changed{}, err
	}
	if *in.Confirmed {
		return d.changed(ctx, http.MethodPost, in.ID, "/verify", "verified", nil)
	}
	return d.changed(ctx, http.MethodPatch, in.ID, "", "doubted", map[string]any{"confidence": max(leastConfidence, m.Confidence*doubt)})
}

type consolidateIn struct {
	Topic string `json:"topic"`
}

// Consolidated is the answer to a consolidation.
type Consolidated struct {
	Merged []Merge `json:"merged" jsonschema:"one for each topic that has several notes of events"`
}

// Merge is what became of the notes of one topic.
type Merge struct {
	Topic   string   `json:"topic"`
	Sources []string `json:"sources" jsonschema:"ids of the notes"`
	Memory  *Note    `json:"memory,omitempty" jsonschema:"the one memory that was made of them"`
	Reason  string   `json:"reason,omitempty" jsonschema:"why none was made"`
}

func consolidate(ctx context.Context, d *desk, in consolidateIn) (Consolidated, error) {
	out := Consolidated{Merged: []Merge{}}
	if len(d.grant.Write) == 0 {
		return out, refusal("this token may not write")
	}
	for _, sc := range d.grant.Write {
		var got struct {
			Merged []store.Merge `json:"merged"`
		}
		body := map[string]any{"tenant": d.grant.Owner.Tenant, "scope": sc, "subject": in.Topic}
		if err := d.api.do(ctx, http.MethodPost, memoriesPath+"/consolidate", nil, body, &got); err != nil {
			return out, err
		}
		for _, m := range got.Merged {
			one := Merge{Topic: m.Subject, Sources: append([]string{}, m.Sources...), Reason: m.Reason}
			if m.Memory != nil {
				n := noteOf(*m.Memory)
				one.Memory = &n
			}
			out.Merged = append(out.Merged, one)
		}
	}
	return out, nil
}
