package clients

import (
	"net/http"
	"strings"
)

// App names the client that sent a request, to pick the entries that are for
// it alone. It is a hint, worthless as identity: anybody can send it. A client
// that the list knows counts first, whichever header gives it away; else the
// first header's own first word, in lower case; "" if there is none.
func App(h http.Header) string {
	other := ""
	for _, name := range []string{"Hindsight-Agent", "X-Title", "Originator", "X-App", "User-Agent"} {
		v := strings.ToLower(strings.TrimSpace(h.Get(name)))
		if v == "" {
			continue
		}
		if app := knownApp(name, v); app != "" {
			return app
		}
		if other == "" {
			other = v
			if name == "User-Agent" {
				other = product(v)
			}
		}
	}
	return other
}

// product is the first word of a User-Agent without its version.
func product(v string) string {
	word := strings.Fields(v)[0]
	if i := strings.LastIndexByte(word, '/'); i > 0 && i+1 < len(word) && word[i+1] >= '0' && word[i+1] <= '9' {
		return word[:i]
	}
	return word
}

// knownApp returns the name of a client by a header's lower-case value.
func knownApp(header, v string) string {
	if header == "X-App" {
		if v == "cli" {
			return "claude-code"
		}
		return ""
	}
	for _, a := range []struct{ begins, app string }{
		{"claude-cli/", "claude-code"},
		{"claude-code", "claude-code"},
		{"codex", "codex"}, // codex_exec, codex_cli_rs
		{"opencode", "opencode"},
		{"kilo-code", "kilo-code"},
		{"kilo code", "kilo-code"},
		{"roocode", "roo-code"},
		{"roo code", "roo-code"},
		{"cline", "cline"},
		{"qwencode/", "qwen-code"},
		{"agents/python", "openai-agents"},
		{"pydantic-ai/", "pydantic-ai"},
		{"ls/js", "continue"},
		{"continue", "continue"},
		{"cherry studio", "cherry-studio"},
		{"open webui", "open-webui"},
		{"aider", "aider"},
		{"smolagents", "smolagents"},
		{"crewai", "crewai"},
		{"autogen", "autogen"},
	} {
		if strings.HasPrefix(v, a.begins) {
			return a.app
		}
	}
	return ""
}
