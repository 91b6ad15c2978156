package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Bounds of one import. What is larger comes in several calls.
const (
	maxImportBytes = 64 << 20
	maxLineBytes   = 1 << 20
	importPatience = 10 * time.Minute
)

// Importer takes memories as they stood elsewhere, see store.Imported.
type Importer interface {
	ImportMemories(ctx context.Context, ms []store.Memory) ([]store.Imported, error)
	ImportRevisions(ctx context.Context, older []store.Memory) ([]store.Imported, error)
}

// takesLines describes a body of lines.
func takesLines(op *huma.Operation) {
	op.MaxBodyBytes, op.BodyReadTimeout = maxImportBytes, importPatience
	op.RequestBody = &huma.RequestBody{
		Required:    true,
		Description: "One memory a line, as an export writes it; text and type are enough. Revisions go to the memories that came before them; sessions are skipped.",
		Content:     map[string]*huma.MediaType{ndjson: {Schema: &huma.Schema{Type: "string"}}},
	}
}

type importInput struct {
	Tenant  string `query:"tenant" maxLength:"200" doc:"Where the memories go, whatever the file says."`
	RawBody []byte `contentType:"application/x-ndjson"`
}

type importOutput struct{ Body ImportReport }

// ImportReport says what became of each line.
type ImportReport struct {
	Tenant    string       `json:"tenant"`
	Added     int          `json:"added"`
	Revisions int          `json:"revisions" doc:"Older forms that the memories have got."`
	Known     int          `json:"known" doc:"Here already, by id or by text."`
	Forgotten int          `json:"forgotten" doc:"Forgotten here by a person, or from before an erasure of their scope: they stay forgotten."`
	Skipped   int          `json:"skipped" doc:"Sessions, which an import doesn't take, and revisions of memories that aren't here or were changed here since."`
	Wrong     int          `json:"wrong" doc:"Lines that can't be read; the rest went in."`
	Lines     []ImportLine `json:"lines" nullable:"false"`
}

// ImportLine is one line's fate. Lines are counted from 1, empty ones too.
type ImportLine struct {
	Line   int    `json:"line"`
	Result string `json:"result" enum:"added,known,forgotten,skipped,wrong"`
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func (a *API) importLines(ctx context.Context, in *importInput) (*importOutput, error) {
	tenant, err := a.tenant(ctx, in.Tenant, "query.tenant")
	if err != nil {
		return nil, err
	}
	rep := ImportReport{Tenant: tenant, Lines: []ImportLine{}}
	var ms, older []store.Memory
	var at, olderAt []int // the places in rep.Lines of each
	n := 0
	for raw := range bytes.Lines(in.RawBody) {
		n++
		if raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff"))); len(raw) == 0 {
			continue
		}
		line := ImportLine{Line: n}
		m, past, skipped, err := a.readLine(ctx, raw, tenant)
		switch {
		case err != nil:
			line.Result, line.Reason = "wrong", err.Error()
			rep.Wrong++
		case skipped != "":
			line.Result, line.Reason = "skipped", skipped
			rep.Skipped++
		case past:
			older, olderAt = append(older, m), append(olderAt, len(rep.Lines))
		default:
			ms, at = append(ms, m), append(at, len(rep.Lines))
		}
		rep.Lines = append(rep.Lines, line)
	}
	if len(ms) > 0 {
		done, err := a.cfg.Store.ImportMemories(ctx, ms)
		if err != nil {
			return nil, a.fail("the import", err)
		}
		for i, d := range done {
			line := &rep.Lines[at[i]]
			line.Result, line.ID = string(d.Result), d.ID
			switch d.Result {
			case store.ImportAdded:
				rep.Added++
			case store.ImportKnown:
				rep.Known++
			case store.ImportForgotten:
				rep.Forgotten++
				line.Reason = "it was forgotten here; write it as a new memory if it should be kept after all"
			}
		}
	}
	if len(older) > 0 {
		done, err := a.cfg.Store.ImportRevisions(ctx, older)
		if err != nil {
			return nil, a.fail("the import", err)
		}
		for i, d := range done {
			rep.revision(&rep.Lines[olderAt[i]], d)
		}
	}
	return &importOutput{rep}, nil
}

// revision notes what became of an older form.
func (rep *ImportReport) revision(line *ImportLine, d store.Imported) {
	line.Result, line.ID = string(d.Result), d.ID
	switch d.Result {
	case store.ImportAdded:
		rep.Revisions++
	case store.ImportKnown:
		rep.Known++
	case store.ImportForgotten:
		rep.Forgotten++
		line.Reason = "what it said was forgotten here"
	case store.ImportLeft:
		line.Result, line.Reason = "skipped", "its memory isn't here, or was changed here since"
		rep.Skipped++
	}
}

// importedMemory is a line, where the two shares may be left out.
type importedMemory struct {
	Kind string `json:"kind"`
	store.Memory
	Importance *float64 `json:"importance"`
	Confidence *float64 `json:"confidence"`
}

// readLine reads one line: a memory, or where past is true an older form of one.
// The error is for whoever wrote the file; skipped says why a line is neither.
func (a *API) readLine(ctx context.Context, raw []byte, tenant string) (m store.Memory, past bool, skipped string, err error) {
	if len(raw) > maxLineBytes {
		return m, false, "", fmt.Errorf("is longer than %d bytes", maxLineBytes)
	}
	var kind struct {
		Kind   string          `json:"kind"`
		Memory json.RawMessage `json:"memory"`
	}
	if err := json.Unmarshal(raw, &kind); err == nil {
		switch kind.Kind {
		case "":
		case lineRevision:
			raw, past = kind.Memory, true
		case lineError:
			return m, false, "", fmt.Errorf("the export broke off here; export again")
		default:
			return m, false, "a " + oneWord(kind.Kind) + " is exported to be read; it isn't imported", nil
		}
	}
	m, err = a.readMemory(ctx, raw, tenant)
	if err == nil && past && (m.ID == "" || m.Revision < 1) {
		err = fmt.Errorf("a revision names its memory's id and its number, from 1")
	}
	return m, past, "", err
}

// readMemory reads a memory as it stood elsewhere.
func (a *API) readMemory(ctx context.Context, raw []byte, tenant string) (m store.Memory, err error) {
	var in importedMemory
	if err := json.Unmarshal(raw, &in); err != nil {
		return m, fmt.Errorf("isn't a memory in JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	m = in.Memory
	if m.Text, err = statement(m.Text); err != nil {
		return m, err
	}
	if m.Importance, err = portion("importance", in.Importance, writtenImportance); err != nil {
		return m, err
	}
	if m.Confidence, err = portion("confidence", in.Confidence, writtenConfidence); err != nil {
		return m, err
	}
	if m.Scope, err = a.writeScope(ctx, string(m.Scope), "scope"); err != nil {
		return m, err
	}
	m.Tenant, m.About = tenant, ""
	if m.AttributedTo == "" {
		m.AttributedTo = store.ByUser // as for what is written
	}
	return m, checkLine(&m)
}

// checkLine names the first field that no memory has so.
func checkLine(m *store.Memory) error {
	words := []struct {
		field, value string
		may          []string
	}{
		{"type", string(m.Type), []string{"user_fact", "preference", "solution", "error_lesson", "event"}},
		{"layer", string(m.Layer), []string{"", "episodic", "semantic", "skill"}},
		{"state", string(m.State), []string{"", "active", "superseded", "consolidated", "archived", "quarantined"}},
		{"attributed_to", string(m.AttributedTo), []string{"", "user", "assistant", "tool"}},
	}
	for _, w := range words {
		if !slices.Contains(w.may, w.value) {
			return fmt.Errorf("%s: %q isn't one of %s", w.field, w.value, strings.Join(slices.DeleteFunc(w.may, func(s string) bool { return s == "" }), ", "))
		}
	}
	sizes := []struct {
		field string
		is    int
		most  int
	}{
		{"id", len(m.ID), 64}, {"text", len([]rune(m.Text)), 8000}, {"subject", len([]rune(m.Subject)), 500},
		{"scenario", len([]rune(m.Scenario)), 2000}, {"metadata", len(m.Metadata), 64},
	}
	for _, s := range sizes {
		if s.is > s.most {
			return fmt.Errorf("%s: is longer than %d", s.field, s.most)
		}
	}
	return ordered(m.ValidFrom, m.ValidTo, "valid_to", "valid_from")
}

// portion is a number from 0 to 1, or what stands for it where it is left out.
func portion(field string, given *float64, or float64) (float64, error) {
	switch {
	case given == nil:
		return or, nil
	case !(*given >= 0 && *given <= 1):
		return 0, fmt.Errorf("%s: isn't a number from 0 to 1", field)
	}
	return *given, nil
}

// oneWord shortens what a stranger's file says.
func oneWord(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
