package clients

import (
	"strings"

	"hindsight/proxy/dialect"
)

// SessionFacts are what the session knows of a request's place in it.
type SessionFacts struct {
	Explicit    bool // the request names the session itself
	HadTools    bool // the session's last turn offered tools
	OtherSystem bool // the system text isn't that of the session's turns
}

// SideCallInSession finds side calls of clients that no table knows: they
// carry the session's id, offer no tools where its turns do, bring a system
// text of their own, and either don't stream and hold no answer yet or hold
// the whole history flattened into one user message. It returns [SideSession]
// or "".
func (r *Rules) SideCallInSession(req *dialect.Request, f SessionFacts) string {
	if !f.Explicit || !f.HadTools || !f.OtherSystem || req.HasTools {
		return ""
	}
	if !req.Stream && !answered(req.Messages) || flattened(req) {
		return SideSession
	}
	return ""
}

// flattened says whether the only user message is a transcript.
func flattened(req *dialect.Request) bool {
	text, users := "", 0
	for _, m := range req.Messages {
		switch m.Role {
		case dialect.User:
			text = m.Text()
			users++
		case dialect.Assistant, dialect.Tool:
			return false
		}
	}
	if users != 1 {
		return false
	}
	return strings.Contains(text, "<chat_history>") || strings.Contains(text, "<conversation>") ||
		speakers(text, "USER:", "ASSISTANT:") || speakers(text, "[User]:", "[Assistant]:")
}

// speakers says whether both marks stand at the beginning of a line.
func speakers(s string, marks ...string) bool {
	for _, m := range marks {
		if !strings.HasPrefix(s, m) && !strings.Contains(s, "\n"+m) {
			return false
		}
	}
	return true
}
