package extract

import (
	"encoding/json"
	"strings"
	"time"
)

// saidBefore shows what was said just before the events, for a model that has to
// know what "it" means there. Its events have ids of their own, so that nothing
// can rest on them.
func saidBefore(events []Event) string {
	if len(events) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Said just before, to understand by. Nothing of it is material, and no item may rest on it.\n<before>\n")
	enc := json.NewEncoder(&b) // ends each value with a newline
	enc.SetEscapeHTML(false)
	for _, e := range events {
		_ = enc.Encode(eventLine{ID: e.ID, Role: e.Role, Turn: e.Turn, Time: e.Time.Truncate(time.Second), Name: e.Name, Text: Redact(visible(e.Text)), Untrusted: e.Untrusted})
	}
	b.WriteString("</before>\n")
	return b.String()
}
