package hreflect

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// errNoKey says that nobody's credential is at hand.
var errNoKey = errors.New("no credential: waiting for the caller's next request")

// endpoint says where a session's reflection is asked: in its own dialect at
// that dialect's upstream, on the path that its caller used where that is
// Azure's, unless reflection has an endpoint of its own. An empty one means
// nowhere: rules.
func (r *Runner) endpoint(s store.Session) (llm.Endpoint, error) {
	e := llm.Endpoint{Base: r.cfg.Base, Dialect: llm.Chat, Model: or(r.cfg.ModelName, or(s.Model, deploymentOf(s.Path)))}
	if r.cfg.ModelName == RulesModel || e.Model == "" {
		return llm.Endpoint{}, nil
	}
	if e.Base != "" {
		if r.cfg.Key != "" {
			e.Header, e.Value = keyHeader(e, r.cfg.Key)
		}
		return e, nil
	}
	e.Base, e.Dialect = r.cfg.Upstream, llm.Dialect(or(s.Dialect, string(llm.Chat)))
	if e.Dialect == llm.Messages {
		e.Base = r.cfg.Anthropic
	}
	// A key is for the upstream that it was configured for.
	own := r.cfg.Key != "" && e.Base == r.cfg.Upstream
	if s.Path != "" && r.cfg.Target != nil {
		e.Base = r.cfg.Target(e.Base, redeployed(s.Path, r.cfg.ModelName))
	}
	if !own {
		if header, value, ok := r.creds.Credential(s.ID); ok {
			e.Header, e.Value = header, value
			return e, nil
		}
	}
	if r.cfg.Key == "" {
		return llm.Endpoint{}, errNoKey
	}
	e.Header, e.Value = keyHeader(e, r.cfg.Key)
	return e, nil
}

// keyHeader is how a key of ours is shown at an endpoint.
func keyHeader(e llm.Endpoint, key string) (header, value string) {
	switch {
	case e.Dialect == llm.Messages:
		return "X-Api-Key", key
	case isAzure(e.Base):
		return "Api-Key", key
	}
	return "Authorization", "Bearer " + key
}

// isAzure says whether an address is Azure's: by its host, or where a gateway
// stands in front of it by its path.
func isAzure(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (strings.HasSuffix(u.Hostname(), ".azure.com") || deploymentOf(u.Path) != "")
}

// deployment is the part of Azure's paths that names the model which answers,
// whatever the body says.
var deployment = regexp.MustCompile(`/deployments/([^/?]+)`)

func deploymentOf(path string) string {
	if m := deployment.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

// redeployed is a path with another deployment in it, where a model is named and
// the path has one.
func redeployed(path, model string) string {
	if model == "" {
		return path
	}
	return deployment.ReplaceAllLiteralString(path, "/deployments/"+url.PathEscape(model))
}
