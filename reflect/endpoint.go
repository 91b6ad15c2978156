package hreflect

import (
	"errors"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// errNoKey says that nobody's credential is at hand.
var errNoKey = errors.New("no credential: waiting for the caller's next request")

// endpoint says where a session's reflection is asked: in its own dialect at
// that dialect's upstream, unless reflection has an endpoint of its own. An
// empty one means nowhere: rules.
func (r *Runner) endpoint(s store.Session) (llm.Endpoint, error) {
	e := llm.Endpoint{Base: r.cfg.Base, Dialect: llm.Chat, Model: or(r.cfg.ModelName, s.Model)}
	if r.cfg.ModelName == RulesModel || e.Model == "" {
		return llm.Endpoint{}, nil
	}
	if e.Base != "" {
		if r.cfg.Key != "" {
			e.Header, e.Value = "Authorization", "Bearer "+r.cfg.Key
		}
		return e, nil
	}
	e.Base, e.Dialect = r.cfg.Upstream, llm.Dialect(or(s.Dialect, string(llm.Chat)))
	if e.Dialect == llm.Messages {
		e.Base = r.cfg.Anthropic
	}
	// A key is for the upstream that it was configured for.
	if r.cfg.Key == "" || e.Base != r.cfg.Upstream {
		if header, value, ok := r.creds.Credential(s.ID); ok {
			e.Header, e.Value = header, value
			return e, nil
		}
	}
	switch {
	case r.cfg.Key == "":
		return llm.Endpoint{}, errNoKey
	case e.Dialect == llm.Messages:
		e.Header, e.Value = "X-Api-Key", r.cfg.Key
	default:
		e.Header, e.Value = "Authorization", "Bearer "+r.cfg.Key
	}
	return e, nil
}
