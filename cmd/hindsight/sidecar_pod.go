package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"hindsight/store"
)

// injector knows what every sidecar has in common.
type injector struct {
	image    string
	upstream string // the model API of pods that name none; may be empty
}

//go:embed sidecar.yaml
var sidecarYAML []byte

// The sidecar's address as the pod's other containers see it. Its ports are
// unusual because a pod's containers share them.
const sidecarURL = "http://127.0.0.1:18080"

// baseURLs are the variables by which clients find their model API. Anthropic's
// add /v1 themselves.
func baseURLs() []envVar {
	return []envVar{
		{Name: "LLM_API_BASE", Value: sidecarURL + "/v1"},
		{Name: "OPENAI_BASE_URL", Value: sidecarURL + "/v1"},
		{Name: "ANTHROPIC_BASE_URL", Value: sidecarURL},
	}
}

// container is the sidecar of a pod, and the volumes that it needs beside the
// pod's own. The error says what the pod lacks.
func (in injector) container(p *pod, chosen []int) (side map[string]any, volumes []any, err error) {
	if err := yaml.Unmarshal(sidecarYAML, &side); err != nil {
		return nil, nil, fmt.Errorf("read the sidecar: %w", err)
	}
	side["image"] = in.image
	env := side["env"].([]any)
	env = append(env, envVar{Name: "HINDSIGHT_DRAIN_GRACE", Value: p.drain()})
	if tenant := p.Metadata.Annotations[annotationTenant]; tenant != "" {
		env = append(env, envVar{Name: "HINDSIGHT_TENANT", Value: tenant})
	}
	base, err := in.base(p, chosen)
	if err != nil {
		return nil, nil, err
	}
	env = append(env, base)
	anthropic, ok, err := p.said(chosen, "ANTHROPIC_BASE_URL")
	if err != nil {
		return nil, nil, err
	}
	if ok {
		env = append(env, renamed(anthropic, "LLM_API_BASE_ANTHROPIC"))
	}
	side["env"] = env

	data := p.Metadata.Annotations[annotationVolume]
	for _, m := range side["volumeMounts"].([]any) {
		if mount := m.(map[string]any); data != "" && mount["name"] == dataVolume {
			mount["name"] = data
		}
	}
	if data == "" {
		volumes = append(volumes, map[string]any{"name": dataVolume, "emptyDir": map[string]any{}})
	} else if !p.hasVolume(data) {
		return nil, nil, fmt.Errorf("annotation %s names %q, and the pod has no such volume", annotationVolume, data)
	}
	volumes = append(volumes, map[string]any{
		"name": identityVolume, "secret": map[string]any{"secretName": identityVolume, "optional": true},
	})
	return side, volumes, nil
}

// The names of volumes; the identity key's is that of its secret too.
const (
	dataVolume     = store.Product + "-data"
	identityVolume = store.Product + "-identity"
)

func (p *pod) hasVolume(name string) bool {
	for _, v := range p.Spec.Volumes {
		if v.Name == name {
			return true
		}
	}
	return false
}

// base is the sidecar's upstream: what the annotation says, else what the
// application was going to call, else what the webhook was told.
func (in injector) base(p *pod, chosen []int) (envVar, error) {
	const name = "LLM_API_BASE"
	if url := p.Metadata.Annotations[annotationUpstream]; url != "" {
		return envVar{Name: name, Value: url}, nil
	}
	for _, from := range []string{name, "OPENAI_BASE_URL"} {
		if v, ok, err := p.said(chosen, from); ok || err != nil {
			return renamed(v, name), err
		}
	}
	if in.upstream == "" {
		return envVar{}, fmt.Errorf("no model API is known: set the annotation %s, LLM_API_BASE of the container, or the webhook's --llm-api-base", annotationUpstream)
	}
	return envVar{Name: name, Value: in.upstream}, nil
}

// said is a variable of the chosen containers, the first that has it. One that
// is put together from others of its container means nothing elsewhere.
func (p *pod) said(chosen []int, name string) (envVar, bool, error) {
	for _, i := range chosen {
		c := p.Spec.Containers[i]
		for _, e := range c.Env {
			switch {
			case e.Name != name || e.Value == "" && e.ValueFrom == nil:
			case strings.Contains(e.Value, "$("):
				return envVar{}, false, fmt.Errorf("%s of the container %s refers to other variables: write it out, or set the annotation %s", name, c.Name, annotationUpstream)
			default:
				return e, true, nil
			}
		}
	}
	return envVar{}, false, nil
}

func renamed(v envVar, name string) envVar {
	v.Name = name
	return v
}

// drain is how long streams may go on after SIGTERM, so that the journal is
// written before the pod is killed.
func (p *pod) drain() string {
	grace := int64(30) // Kubernetes' default
	if p.Spec.Grace != nil {
		grace = *p.Spec.Grace
	}
	return strconv.FormatInt(min(max(grace-10, 5), 600), 10) + "s"
}
