package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hindsight/store"
)

// The annotations of a pod.
const (
	annotationInject   = store.Product + "/inject"       // "true": put Hindsight in
	annotationUpstream = store.Product + "/llm-api-base" // its model API
	annotationTenant   = store.Product + "/tenant"       // whose memories they are
	annotationVolume   = store.Product + "/volume"       // a volume of the pod for the data, instead of one that ends with it
	annotationOnly     = store.Product + "/containers"   // which containers are pointed at it; all where left out
)

// labelSidecar marks a pod that has a sidecar, for network policies and monitors.
const labelSidecar = store.Product + "/sidecar"

// admissionReview is what of the API server's document matters here; see
// k8s.io/api/admission/v1.
type admissionReview struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Request    *admissionRequest  `json:"request,omitempty"`
	Response   *admissionResponse `json:"response,omitempty"`
}

type admissionRequest struct {
	UID       string          `json:"uid"`
	Kind      groupKind       `json:"kind"`
	Namespace string          `json:"namespace"`
	Object    json.RawMessage `json:"object"`
}

type groupKind struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
}

type admissionResponse struct {
	UID       string   `json:"uid"`
	Allowed   bool     `json:"allowed"`
	PatchType string   `json:"patchType,omitempty"`
	Patch     []byte   `json:"patch,omitempty"` // in base64 on the wire
	Warnings  []string `json:"warnings,omitempty"`
}

// podName is a pod's name, or the beginning of the one that it will get.
func (r *admissionRequest) podName() string {
	var p pod
	if json.Unmarshal(r.Object, &p) != nil {
		return ""
	}
	return p.Metadata.Name + p.Metadata.GenerateName
}

// pod is what of a pod is looked at.
type pod struct {
	Metadata struct {
		Name         string            `json:"name"`
		GenerateName string            `json:"generateName"`
		Annotations  map[string]string `json:"annotations"`
		Labels       map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Containers     []podContainer `json:"containers"`
		InitContainers []podContainer `json:"initContainers"`
		Volumes        []struct {
			Name string `json:"name"`
		} `json:"volumes"`
		Grace *int64 `json:"terminationGracePeriodSeconds"`
	} `json:"spec"`
}

type podContainer struct {
	Name string   `json:"name"`
	Env  []envVar `json:"env"`
}

// envVar is a variable of a container, given as a value or by where it stands.
type envVar struct {
	Name      string          `json:"name"`
	Value     string          `json:"value,omitempty"`
	ValueFrom json.RawMessage `json:"valueFrom,omitempty"`
}

// patchOp is a step of a JSON patch (RFC 6902).
type patchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// review answers a request. Every pod is let in: one that can't get its
// sidecar runs without memory, and the answer warns.
func (in injector) review(r *admissionRequest) *admissionResponse {
	out := &admissionResponse{UID: r.UID, Allowed: true}
	if r.Kind != (groupKind{Kind: "Pod"}) {
		return out
	}
	ops, err := in.patch(r.Object)
	if err == nil && ops != nil {
		out.Patch, err = json.Marshal(ops)
		out.PatchType = "JSONPatch"
	}
	if err != nil {
		out.Patch, out.PatchType = nil, ""
		out.Warnings = []string{"no " + store.Product + " sidecar: " + err.Error()}
	}
	return out
}

// patch makes the steps that put the sidecar into a pod; nil where it asks for
// none or has it. The error is for who made the pod.
func (in injector) patch(raw json.RawMessage) ([]patchOp, error) {
	var p pod
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("read the pod: %w", err)
	}
	if want, ok := p.Metadata.Annotations[annotationInject]; !ok || want == "false" {
		return nil, nil
	} else if want != "true" {
		return nil, fmt.Errorf("annotation %s is %q; set it to \"true\"", annotationInject, want)
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if c.Name == store.Product {
			return nil, nil
		}
	}
	chosen, err := p.chosen()
	if err != nil {
		return nil, err
	}
	side, volumes, err := in.container(&p, chosen)
	if err != nil {
		return nil, err
	}
	ops := []patchOp{{"add", "/metadata/labels/" + strings.ReplaceAll(labelSidecar, "/", "~1"), "true"}}
	if p.Metadata.Labels == nil {
		ops = []patchOp{{"add", "/metadata/labels", map[string]string{labelSidecar: "true"}}}
	}
	ops = appended(ops, "/spec/initContainers", len(p.Spec.InitContainers), side)
	for i, v := range volumes {
		ops = appended(ops, "/spec/volumes", len(p.Spec.Volumes)+i, v)
	}
	for _, i := range chosen {
		ops = pointed(ops, i, p.Spec.Containers[i].Env)
	}
	return ops, nil
}

// chosen are the indexes of the containers that are pointed at the sidecar.
func (p *pod) chosen() ([]int, error) {
	var only []string
	for name := range strings.SplitSeq(p.Metadata.Annotations[annotationOnly], ",") {
		if name = strings.TrimSpace(name); name != "" {
			only = append(only, name)
		}
	}
	var out []int
	for i, c := range p.Spec.Containers {
		if at := slices.Index(only, c.Name); at >= 0 {
			only = slices.Delete(only, at, at+1)
			out = append(out, i)
		} else if p.Metadata.Annotations[annotationOnly] == "" {
			out = append(out, i)
		}
	}
	if len(only) > 0 {
		return nil, fmt.Errorf("annotation %s names %q, and the pod has no such container", annotationOnly, only[0])
	}
	return out, nil
}

// appended adds a step that appends to a list of a length.
func appended(ops []patchOp, list string, length int, value any) []patchOp {
	if length == 0 {
		return append(ops, patchOp{"add", list, []any{value}})
	}
	return append(ops, patchOp{"add", list + "/-", value})
}

// pointed adds the steps that set a container's base URLs, whatever they were.
func pointed(ops []patchOp, container int, env []envVar) []patchOp {
	list := "/spec/containers/" + strconv.Itoa(container) + "/env"
	length := len(env)
	for _, v := range baseURLs() {
		if at := slices.IndexFunc(env, func(e envVar) bool { return e.Name == v.Name }); at >= 0 {
			ops = append(ops, patchOp{"replace", list + "/" + strconv.Itoa(at), v})
			continue
		}
		ops = appended(ops, list, length, v)
		length++
	}
	return ops
}
