package weaviatedb

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate/entities/models"
)

// The properties of a memory, and below those of a record. Whatever isn't
// looked for has no index: each indexed property costs every tenant files.
const (
	propPlace    = "place"    // hash of the scope
	propState    = "state"    //
	propSession  = "session"  // of the first evidence, and a record's
	propAbout    = "about"    // what it gives the value of
	propStanding = "standing" //
	propWords    = "words"    // its terms, as the embedded index cuts them
	propMemory   = "memory"   // its id
	propRevision = "revision" //
	propDigest   = "digest"   //
	propData     = "data"     // the whole, as it is read back

	propKind      = "kind"
	propRecord    = "record" // its id
	propKeys      = "keys"
	propTime      = "time"
	propReflected = "reflected"
)

func (d *DB) memories() string { return d.cfg.Collection }
func (d *DB) state() string    { return d.cfg.Collection + "State" }

func yes(b bool) *bool { return &b }

// plainly is a property that is only read.
func plainly(name, kind, says string) *models.Property {
	p := &models.Property{Name: name, DataType: []string{kind}, Description: says, IndexFilterable: yes(false)}
	if kind == "text" {
		p.Tokenization, p.IndexSearchable = models.PropertyTokenizationField, yes(false)
	}
	return p
}

// filtered is one that filters name, whole.
func filtered(name, kind, says string) *models.Property {
	p := plainly(name, kind, says)
	p.IndexFilterable = yes(true)
	if strings.HasPrefix(kind, "text") {
		p.Tokenization, p.IndexSearchable = models.PropertyTokenizationField, yes(false)
	}
	return p
}

func form(name, says string) *models.Class {
	return &models.Class{
		Class: name, Description: says, Vectorizer: "none",
		MultiTenancyConfig: &models.MultiTenancyConfig{Enabled: true, AutoTenantCreation: true, AutoTenantActivation: true},
		InvertedIndexConfig: &models.InvertedIndexConfig{
			IndexTimestamps: true,
			Stopwords:       &models.StopwordConfig{Preset: "none"}, // the tokeniser has left them out
		},
	}
}

// memoryForm is the collection of the memories.
func memoryForm(name string, index VectorIndex) *models.Class {
	c := form(name, "Memories of Hindsight.")
	c.VectorIndexType = string(index)
	distance := map[string]any{"distance": "cosine"}
	c.VectorIndexConfig = distance
	if index == IndexDynamic {
		c.VectorIndexConfig = map[string]any{"distance": "cosine", "hnsw": distance, "flat": distance}
	}
	words := filtered(propWords, "text", "The terms of its text, subject, scenario and evidence.")
	words.Tokenization, words.IndexSearchable = models.PropertyTokenizationWhitespace, yes(true)
	c.Properties = []*models.Property{
		filtered(propPlace, "text", "A hash of its scope."),
		filtered(propState, "text", "active, superseded, consolidated, archived or quarantined."),
		filtered(propSession, "text", "The session of its first evidence."),
		filtered(propAbout, "text", "What it gives the value of."),
		filtered(propStanding, "boolean", "Whether it always counts."),
		words,
		plainly(propMemory, "text", "Its id."),
		plainly(propRevision, "int", "Its revision."),
		plainly(propDigest, "text", "A digest of it."),
		plainly("scope", "text", "Whose it is."),
		plainly("layer", "text", "episodic, semantic or skill."),
		plainly("type", "text", "What it is about."),
		plainly("text", "text", "What it says."),
		plainly("subject", "text", "Its subject."),
		plainly("scenario", "text", "When it will be useful."),
		plainly("importance", "number", "0 to 1."),
		plainly("confidence", "number", "0 to 1."),
		plainly("created", "date", "When it was made."),
		plainly("updated", "date", "When it was changed last."),
		plainly(lengthProps[0], "int", "How many terms its text and subject have."),
		plainly(lengthProps[1], "int", "How many its scenario has."),
		plainly(lengthProps[2], "int", "How many its evidence has."),
		plainly(propData, "text", "The whole of it, as Hindsight reads it."),
	}
	return c
}

// stateForm is the collection of the records.
func stateForm(name string) *models.Class {
	c := form(name, "What sidecars of Hindsight share of conversations.")
	c.VectorIndexType = string(IndexFlat) // there are no vectors
	c.VectorIndexConfig = map[string]any{"distance": "cosine"}
	c.Properties = []*models.Property{
		filtered(propPlace, "text", "A hash of its scope."),
		filtered(propKind, "text", "What it is."),
		filtered(propRecord, "text", "Its id."),
		filtered(propSession, "text", "The session that it belongs to."),
		filtered(propKeys, "text[]", "What else it is found by."),
		plainly("scope", "text", "Whose it is."),
		plainly(propTime, "date", "When it happened."),
		filtered(propReflected, "boolean", "Whether its events have been worked."),
		plainly(propData, "text", "The whole of it, as Hindsight reads it."),
	}
	return c
}

// ensure makes a collection that isn't there and checks one that is. With
// auto-schema on, a first write would make one without tenants: it is never
// left to a write.
func (d *DB) ensure(ctx context.Context, client *weaviate.Client, want *models.Class) error {
	ctx, cancel := context.WithTimeout(ctx, 10*d.cfg.Timeout)
	defer cancel()
	have, err := client.Schema().ClassGetter().WithClassName(want.Class).Do(ctx)
	if refused(err) == http.StatusNotFound {
		err = client.Schema().ClassCreator().WithClass(want).Do(ctx)
		if err != nil && refused(err) != http.StatusUnprocessableEntity { // 422: another sidecar was first
			return fmt.Errorf("make collection %s: %w", want.Class, plain(err))
		}
		have, err = client.Schema().ClassGetter().WithClassName(want.Class).Do(ctx)
	}
	if err != nil {
		return fmt.Errorf("read collection %s: %w", want.Class, plain(err))
	}
	return fits(have, want)
}

// fits is an error that lists what differs.
func fits(have, want *models.Class) error {
	if diff := differs(have, want); len(diff) > 0 {
		return foreign("collection %s has another form: %s; name another MEMORY_COLLECTION, or move its data (docs/weaviate.md)", want.Class, strings.Join(diff, "; "))
	}
	return nil
}

// differs lists what of a collection isn't as it should be. What it has more
// than it should is no matter.
func differs(have, want *models.Class) (diff []string) {
	say := func(what string, have, want any) {
		if have != want {
			diff = append(diff, fmt.Sprintf("%s is %v, want %v", what, have, want))
		}
	}
	mt := have.MultiTenancyConfig
	if mt == nil {
		mt = &models.MultiTenancyConfig{}
	}
	say("multi-tenancy", mt.Enabled, true)
	if mt.Enabled {
		say("autoTenantCreation", mt.AutoTenantCreation, true)
		say("autoTenantActivation", mt.AutoTenantActivation, true)
	}
	if len(have.VectorConfig) > 0 {
		diff = append(diff, "it has named vectors")
	} else {
		say("vectorizer", have.Vectorizer, "none")
		say("the vector index", have.VectorIndexType, want.VectorIndexType)
		if cfg, ok := have.VectorIndexConfig.(map[string]any); ok {
			say("the distance", cfg["distance"], "cosine")
		}
	}
	inv := have.InvertedIndexConfig
	if inv == nil {
		inv = &models.InvertedIndexConfig{}
	}
	say("indexTimestamps", inv.IndexTimestamps, true)
	if inv.Stopwords == nil || inv.Stopwords.Preset != "none" {
		diff = append(diff, "stop words are dropped, want none")
	}
	byName := map[string]*models.Property{}
	for _, p := range have.Properties {
		byName[p.Name] = p
	}
	for _, w := range want.Properties {
		h := byName[w.Name]
		if h == nil {
			diff = append(diff, "property "+w.Name+" is missing")
			continue
		}
		say("property "+w.Name, strings.Join(h.DataType, ","), strings.Join(w.DataType, ","))
		if w.Tokenization != "" {
			say("the tokenisation of "+w.Name, h.Tokenization, w.Tokenization)
		}
		say("the filter index of "+w.Name, h.IndexFilterable == nil || *h.IndexFilterable, *w.IndexFilterable)
		if w.Name == propWords {
			say("the search index of "+w.Name, h.IndexSearchable == nil || *h.IndexSearchable, true)
		}
	}
	return diff
}
