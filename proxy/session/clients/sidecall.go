package clients

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"

	"hindsight/proxy/dialect"
)

// The rules by which a request is a side call, as in logs and metrics.
const (
	SideTask    = "task"    // the client says so (Hindsight-Task)
	SideKind    = "kind"    // Codex says that the request is no turn
	SideNoUser  = "no_user" // nobody is addressed: neither a user nor a tool's output
	SideProbe   = "probe"   // the answer is bounded to a few tokens
	SideSchema  = "schema"  // the answer is a title, tags or the like as JSON
	SidePhrase  = "phrase"  // a known prompt
	SideSession = "session" // unlike the session's turns, see SideCallInSession
)

const (
	headChars   = 300 // of a text, where a phrase counts
	probeTokens = 4   // an answer of so many tokens is no answer to a person
	greetTokens = 16  // the same for one that is only greeted
)

// SideCall returns the name of the rule by which a request is a client's own
// housekeeping, or "". It looks at the request alone.
func (r *Rules) SideCall(req *dialect.Request, h http.Header, app string) string {
	switch {
	case said(h.Get("Hindsight-Task")):
		return SideTask
	case codexKind(req, h):
		return SideKind
	case nobodyAddressed(req):
		return SideNoUser
	case r.probe(req, app):
		return SideProbe
	case r.schema(req):
		return SideSchema
	case r.phrase(req):
		return SidePhrase
	}
	return ""
}

// said says whether a header has a value: an unexpanded template has none.
func said(v string) bool {
	v = strings.TrimSpace(v)
	switch strings.ToLower(v) {
	case "", "undefined", "null", "none":
		return false
	}
	return !strings.Contains(v, "{{") && !strings.Contains(v, "}}") && !strings.Contains(v, "${")
}

// codexKind says whether Codex marks the request as something but a turn.
func codexKind(req *dialect.Request, h http.Header) bool {
	for _, v := range []string{h.Get("X-Codex-Turn-Metadata"), req.ClientMetadata["x-codex-turn-metadata"]} {
		var meta struct {
			Kind string `json:"request_kind"`
		}
		if v != "" && json.Unmarshal([]byte(v), &meta) == nil && meta.Kind != "" {
			return meta.Kind != "turn"
		}
	}
	for _, name := range []string{"X-Openai-Subagent", "Codex-Task-Type"} {
		switch strings.ToLower(h.Get(name)) {
		case "compact", "review", "memory_consolidation":
			return true
		}
	}
	return false
}

// nobodyAddressed says whether there is nothing to answer: no user message, no
// tool's output, and no state at the provider that could hold one.
func nobodyAddressed(req *dialect.Request) bool {
	if req.PreviousResponseID != "" || req.Conversation != "" {
		return false
	}
	for _, m := range req.Messages {
		if m.Role == dialect.User || m.Role == dialect.Tool {
			return false
		}
	}
	return true
}

func (r *Rules) probe(req *dialect.Request, app string) bool {
	if req.MaxTokens <= 0 || req.MaxTokens > greetTokens {
		return false
	}
	if req.MaxTokens <= probeTokens {
		return true
	}
	if req.HasTools || len(req.Messages) != 1 || req.Messages[0].Role != dialect.User {
		return false
	}
	words, _ := r.Words(req.Messages[0], app)
	return len(words) <= 64 && r.greetings[greetingKey(words)]
}

// greetingKey is a greeting without case, punctuation and white space.
func greetingKey(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, s)
}

func (r *Rules) schema(req *dialect.Request) bool {
	if req.HasTools || len(req.SchemaKeys) == 0 {
		return false
	}
	for _, k := range req.SchemaKeys {
		if !r.schemaKeys[strings.ToLower(k)] {
			return false
		}
	}
	return true
}
