package mcpserver

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hindsight/proxy/admin"
	"hindsight/store"
)

type searchIn struct {
	Query      string `json:"query"`
	MemoryType string `json:"memory_type"`
	Subject    string `json:"subject"`
	Session    string `json:"session"`
	Scenario   string `json:"scenario"`
	Scope      string `json:"scope"`
	TopK       int    `json:"top_k"`
	TimeRange  *span  `json:"time_range"`
}

// usualTopK is how many memories a search answers unless it is told.
const usualTopK = 5

// Found is the answer to a search.
type Found struct {
	Results  []Hit          `json:"results" jsonschema:"best first; empty: nothing fits"`
	Degraded string         `json:"degraded,omitempty" jsonschema:"words or cache, where the search had to do with less"`
	Excluded map[string]int `json:"excluded_by_filter,omitempty" jsonschema:"how many good results of each type the filters kept out"`
}

// Hit is a memory with how well it fits, from 0 to 1.
type Hit struct {
	Note
	Score float64 `json:"score"`
}

func search(ctx context.Context, d *desk, in searchIn) (Found, error) {
	scopes, err := d.readable(in.Scope)
	if err != nil {
		return Found{}, err
	}
	since, until, err := in.TimeRange.times(d.cfg.Zone)
	if err != nil {
		return Found{}, err
	}
	if in.TopK == 0 {
		in.TopK = usualTopK
	}
	body := map[string]any{"tenant": d.grant.Owner.Tenant, "scopes": scopes, "query": in.Query, "top_k": in.TopK,
		"subject": in.Subject, "session": in.Session, "scenario": in.Scenario}
	typ, layer := kind(in.MemoryType)
	if typ != "" {
		body["types"] = []string{typ}
	}
	if layer != "" {
		body["layers"] = []string{layer}
	}
	for name, t := range map[string]time.Time{"since": since, "until": until} {
		if !t.IsZero() {
			body[name] = t
		}
	}
	var got admin.Found
	if err := d.api.do(ctx, http.MethodPost, memoriesPath+"/search", nil, body, &got); err != nil {
		return Found{}, err
	}
	out := Found{Results: []Hit{}, Degraded: got.Degraded, Excluded: got.ExcludedByFilter}
	for _, h := range got.Results {
		out.Results = append(out.Results, Hit{noteOf(h.Memory), h.Score})
	}
	return out, nil
}

// readable are the scopes of a call: the one that it names, or all of the grant.
func (d *desk) readable(named string) ([]store.Scope, error) {
	if len(d.grant.Read) == 0 {
		return nil, refusal("this token may not read")
	}
	if named == "" {
		return d.grant.Read, nil
	}
	if !slices.Contains(d.grant.Read, store.Scope(named)) {
		return nil, badArg("scope", "isn't one that this token may read: %s", list(d.grant.Read))
	}
	return []store.Scope{store.Scope(named)}, nil
}

type listIn struct {
	MemoryType string `json:"memory_type"`
	Subject    string `json:"subject"`
	Session    string `json:"session"`
	Scenario   string `json:"scenario"`
	Scope      string `json:"scope"`
	State      string `json:"state"`
	TimeRange  *span  `json:"time_range"`
	Limit      int    `json:"limit"`
	Cursor     string `json:"cursor"`
}

// usualLimit is how many memories a page holds unless it is told.
const usualLimit = 20

// Page is a page of memories, the newest first within each scope.
type Page struct {
	Memories   []Note `json:"memories"`
	NextCursor string `json:"next_cursor" jsonschema:"cursor of the next page; empty on the last"`
}

func listMemories(ctx context.Context, d *desk, in listIn) (Page, error) {
	scopes, err := d.readable(in.Scope)
	if err != nil {
		return Page{}, err
	}
	since, until, err := in.TimeRange.times(d.cfg.Zone)
	if err != nil {
		return Page{}, err
	}
	if in.Limit == 0 {
		in.Limit = usualLimit
	}
	typ, layer := kind(in.MemoryType)
	ms, next, err := d.page(ctx, scopes, in.Cursor, in.Limit,
		"type", typ, "layer", layer, "subject", in.Subject, "session", in.Session, "scenario", in.Scenario, "state", in.State,
		"since", stamp(since), "until", stamp(until))
	if err != nil {
		return Page{}, err
	}
	return Page{Memories: notesOf(ms), NextCursor: next}, nil
}

// page lists the memories of some scopes, one scope after the other. Its cursors
// name the scope by its place, then the place in it.
func (d *desk) page(ctx context.Context, scopes []store.Scope, cursor string, limit int, filter ...string) ([]store.Memory, string, error) {
	at, inside := 0, ""
	if cursor != "" {
		place, rest, ok := strings.Cut(cursor, ".")
		n, err := strconv.Atoi(place)
		if !ok || err != nil || n < 0 || n >= len(scopes) {
			return nil, "", badArg("cursor", "isn't one of this list: send next_cursor of the page before")
		}
		at, inside = n, rest
	}
	var out []store.Memory
	for ; at < len(scopes); at++ {
		var page struct {
			Memories   []store.Memory `json:"memories"`
			NextCursor string         `json:"next_cursor"`
		}
		q := d.query(append(filter, "scope", string(scopes[at]), "cursor", inside, "limit", strconv.Itoa(limit-len(out)))...)
		if err := d.api.do(ctx, http.MethodGet, memoriesPath, q, nil, &page); err != nil {
			return nil, "", err
		}
		out, inside = append(out, page.Memories...), page.NextCursor
		if inside != "" {
			return out, strconv.Itoa(at) + "." + inside, nil
		}
		if len(out) == limit && at+1 < len(scopes) {
			return out, strconv.Itoa(at+1) + ".", nil
		}
	}
	return out, "", nil
}
