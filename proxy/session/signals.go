package session

import (
	"net/http"
	"strings"

	"hindsight/proxy/dialect"
)

const (
	headerSession  = "Hindsight-Session"
	headerSubAgent = "X-Openai-Subagent" // Codex: what kind of one asks
	clientThread   = "client_metadata.thread_id"
)

// signals are what a request itself says of its conversation.
type signals struct {
	external  string // the client's name of the session
	parent    string // the client's name of its parent, if it is a sub-agent's
	child     bool
	temporary bool
	response  string   // previous_response_id
	cacheKey  string   // prompt_cache_key, where it looks unique
	values    []string // every value that names a session
}

// named says whether anything in the request names its conversation.
func (s signals) named() bool {
	return s.external != "" || s.parent != "" || s.response != "" || s.cacheKey != ""
}

// signalsOf reads the ranked signals of clients.md, section 2: the first that
// is present and not refused names the session.
func (k *Tracker) signalsOf(h http.Header, req *dialect.Request) signals {
	var s signals
	if v := k.signal(headerSession, h.Get(headerSession), 1); v != "" {
		s.external = v
		s.values = append(s.values, v)
		s.temporary = strings.HasPrefix(v, "local:")
	}
	for _, t := range k.sessionHeaders {
		own := k.signal(t.Name, h.Get(t.Name), 8)
		if own == "" {
			continue
		}
		s.values = append(s.values, own)
		if t.Temporary != "" && strings.HasPrefix(own, t.Temporary) {
			s.temporary = true
		}
		first := s.external == ""
		if first {
			s.external = own
		}
		if !s.child {
			s.subAgent(first, own, k.signal(t.Child, header(h, t.Child), 1), k.signal(t.Parent, header(h, t.Parent), 1))
		}
	}
	if req == nil {
		return s
	}
	_, claude, _ := claudeUser(req.Metadata["user_id"])
	for _, b := range []struct{ name, value string }{
		{"metadata.user_id", claude},
		{"conversation", req.Conversation},
		{"session_id", req.SessionID},
		{"metadata.session_id", req.Metadata["session_id"]},
		{"metadata.thread_id", req.Metadata["thread_id"]},
		{"metadata.conversation_id", req.Metadata["conversation_id"]},
		{"metadata.chat_id", req.Metadata["chat_id"]},
		{"client_metadata.session_id", req.ClientMetadata["session_id"]},
		{clientThread, req.ClientMetadata["thread_id"]},
	} {
		v := k.signal(b.name, b.value, 8)
		if v == "" {
			continue
		}
		s.values = append(s.values, v)
		switch {
		case s.external == "":
			s.external = v
		case b.name == clientThread && !s.child && s.external == req.ClientMetadata["session_id"]:
			s.subAgent(true, s.external, v, "") // the headers that say so are gone
		}
	}
	if v := k.signal(headerSubAgent, h.Get(headerSubAgent), 1); v != "" && !s.child && s.external != "" {
		s.subAgent(true, s.external, v, "") // it has no thread of its own
	}
	if claude != "" && !s.child && s.external != "" {
		s.subAgent(true, s.external, k.signal("billing line", claudeAgent(req), 1), "")
	}
	s.response = req.PreviousResponseID
	if v := k.signal("prompt_cache_key", req.PromptCacheKey, 8); v != "" && isRandom(v) {
		s.cacheKey = v
	}
	return s
}

// subAgent notes that the request is a sub-agent's: own is the value of a
// session header, child and parent those of the headers that go with it. first
// says that own names the session; else what is above it does, and the
// sub-agent is one of that.
func (s *signals) subAgent(first bool, own, child, parent string) {
	if child == own {
		child = ""
	}
	main := s.external
	switch {
	case child != "": // agents and threads share the session's own id
		s.external = main + "/" + child
		s.parent = main
		if parent != "" && parent != own {
			s.parent = main + "/" + parent
		}
	case parent != "" && parent != own && first: // the agent has an id of its own
		s.parent = parent
	case parent != "" && parent != own:
		s.external, s.parent = main+"/"+own, main
	default:
		return
	}
	s.child = true
}

// signal returns a value that may name a session, or "". What is refused is
// counted and named, never its value.
func (k *Tracker) signal(name, value string, least int) string {
	value = strings.TrimSpace(value)
	if value == "" {
		return ""
	}
	if isTemplate(value) || !validSignal(value, least) {
		k.refuse(strings.ToLower(name))
		return ""
	}
	return strings.Clone(value) // it outlives the request
}

func header(h http.Header, name string) string {
	if name == "" {
		return ""
	}
	return h.Get(name)
}
