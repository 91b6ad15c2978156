package session

import (
	"strings"

	"hindsight/proxy/dialect"
)

// claudeAgent names the sub-agent of Claude Code that a request is of, "" for
// none, where its own header was lost on the way: the system prompt begins with
// a line for the bill that says so, and whose version differs from one
// sub-agent to the next.
func claudeAgent(req *dialect.Request) string {
	if len(req.Messages) == 0 || req.Messages[0].Role != dialect.System || len(req.Messages[0].Parts) == 0 {
		return ""
	}
	line, ok := strings.CutPrefix(req.Messages[0].Parts[0].Text(), billLine)
	if !ok {
		return ""
	}
	version, agent := "", false
	for field := range strings.SplitSeq(line, ";") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(field), "="); name {
		case "cc_version":
			version = value
		case "cc_is_subagent":
			agent = value == "true"
		}
	}
	if !agent {
		return ""
	}
	return version
}

// billLine opens the first part of Claude Code's system prompt, which changes
// within a session.
const billLine = "x-anthropic-billing-header:"
