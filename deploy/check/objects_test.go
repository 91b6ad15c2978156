package check

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// kinds are the types of what ships.
func kinds() map[string]any {
	return map[string]any{
		"v1/ConfigMap":                            &core.ConfigMap{},
		"v1/Secret":                               &core.Secret{},
		"v1/Service":                              &core.Service{},
		"apps/v1/Deployment":                      &apps.Deployment{},
		"apps/v1/StatefulSet":                     &apps.StatefulSet{},
		"networking.k8s.io/v1/NetworkPolicy":      &networking.NetworkPolicy{},
		"policy/v1/PodDisruptionBudget":           &policy.PodDisruptionBudget{},
		"monitoring.coreos.com/v1/PodMonitor":     &monitoring.PodMonitor{},
		"monitoring.coreos.com/v1/ServiceMonitor": &monitoring.ServiceMonitor{},
		"admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": &admissionregistration.MutatingWebhookConfiguration{},
	}
}

// decode reads a document into the API's own type; a field that the type
// doesn't have, or has twice, is an error.
func decode(doc []byte) (any, error) {
	raw, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, err
	}
	var kind meta.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &kind); err != nil {
		return nil, err
	}
	into, ok := kinds()[kind.APIVersion+"/"+kind.Kind]
	if !ok {
		return nil, fmt.Errorf("there is no type for %s %s", kind.APIVersion, kind.Kind)
	}
	strict, err := kjson.UnmarshalStrict(raw, into)
	if err != nil || len(strict) > 0 {
		return nil, fmt.Errorf("%s: %v %v", kind.Kind, err, strict)
	}
	return into, nil
}

// decodeAll reads all documents of a file.
func decodeAll(t *testing.T, name string, file []byte) []any {
	t.Helper()
	var out []any
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	for {
		doc, err := r.Read()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(bytes.TrimSpace(stripComments(doc))) == 0 {
			continue
		}
		o, err := decode(doc)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out = append(out, o)
	}
}

func stripComments(doc []byte) []byte {
	var out []byte
	for line := range bytes.Lines(doc) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			out = append(out, line...)
		}
	}
	return out
}

// templates are the pods that objects make, by the name of what makes them.
func templates(objects []any) map[string]core.PodTemplateSpec {
	out := map[string]core.PodTemplateSpec{}
	for _, o := range objects {
		switch o := o.(type) {
		case *apps.Deployment:
			out[o.Name] = o.Spec.Template
		case *apps.StatefulSet:
			pod := *o.Spec.Template.DeepCopy()
			for _, c := range o.Spec.VolumeClaimTemplates {
				pod.Spec.Volumes = append(pod.Spec.Volumes, core.Volume{Name: c.Name})
			}
			out[o.Name] = pod
		}
	}
	return out
}

// hang checks that objects hang together: what a name or a label refers to is
// there.
func hang(t *testing.T, objects []any) {
	t.Helper()
	pods := templates(objects)
	selected := func(who string, selector map[string]string) []core.PodTemplateSpec {
		t.Helper()
		var out []core.PodTemplateSpec
		for _, p := range pods {
			if labels.SelectorFromSet(selector).Matches(labels.Set(p.Labels)) {
				out = append(out, p)
			}
		}
		if len(out) == 0 || len(selector) == 0 {
			t.Errorf("%s selects no pod", who)
		}
		return out
	}
	services := map[string]map[string]string{}
	for _, o := range objects {
		switch o := o.(type) {
		case *core.Service:
			services[o.Name] = o.Labels
			for _, p := range selected("the service "+o.Name, o.Spec.Selector) {
				for _, port := range o.Spec.Ports {
					if !hasPort(p, port.TargetPort) {
						t.Errorf("the service %s leads to the port %s, which its pods don't have", o.Name, port.TargetPort.String())
					}
				}
			}
		case *apps.Deployment:
			selected("the deployment "+o.Name, o.Spec.Selector.MatchLabels)
		case *apps.StatefulSet:
			selected("the stateful set "+o.Name, o.Spec.Selector.MatchLabels)
		case *policy.PodDisruptionBudget:
			selected("the budget "+o.Name, o.Spec.Selector.MatchLabels)
		case *networking.NetworkPolicy:
			for _, p := range selected("the policy "+o.Name, o.Spec.PodSelector.MatchLabels) {
				for _, rule := range o.Spec.Ingress {
					for _, port := range rule.Ports {
						if !hasPort(p, *port.Port) {
							t.Errorf("the policy %s opens the port %s, which its pods don't have", o.Name, port.Port)
						}
					}
				}
			}
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *apps.StatefulSet:
			if services[o.Spec.ServiceName] == nil {
				t.Errorf("%s wants the service %s", o.Name, o.Spec.ServiceName)
			}
		case *monitoring.ServiceMonitor:
			found := false
			for _, l := range services {
				found = found || labels.SelectorFromSet(o.Spec.Selector.MatchLabels).Matches(labels.Set(l))
			}
			if !found {
				t.Errorf("the monitor %s finds no service", o.Name)
			}
		}
	}
	for name, p := range pods {
		volumes := map[string]bool{}
		for _, v := range p.Spec.Volumes {
			volumes[v.Name] = true
		}
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			for _, m := range c.VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("%s mounts %s, which isn't a volume", name, m.Name)
				}
			}
		}
	}
}

func hasPort(p core.PodTemplateSpec, port intstr.IntOrString) bool {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, have := range c.Ports {
			if port.Type == intstr.String && have.Name == port.StrVal || port.Type == intstr.Int && have.ContainerPort == port.IntVal {
				return true
			}
		}
	}
	return false
}

// runs checks every container that is Hindsight: its settings exist, it can't
// do more than it must, and its pod waits for streams.
func runs(t *testing.T, objects []any) (found int) {
	t.Helper()
	known := settings(t)
	for name, p := range templates(objects) {
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			if !strings.Contains(c.Image, "hindsight") {
				continue
			}
			found++
			for _, e := range c.Env {
				if ours(e.Name) && !known[e.Name] {
					t.Errorf("%s sets %s, which is no setting", name, e.Name)
				}
			}
			if s := c.SecurityContext; s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
				t.Errorf("%s may do too much: %+v", name, s)
			}
			if c.ReadinessProbe == nil || c.LivenessProbe == nil || c.Lifecycle.PreStop.Sleep == nil || c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() {
				t.Errorf("%s has no probe, no preStop or no bounds", name)
			}
			if slices.Equal(c.Args, []string{"serve"}) {
				if p.Spec.TerminationGracePeriodSeconds == nil || *p.Spec.TerminationGracePeriodSeconds <= 600 {
					t.Errorf("%s cuts streams after %v s", name, p.Spec.TerminationGracePeriodSeconds)
				}
				for _, probe := range []*core.Probe{c.StartupProbe, c.ReadinessProbe} {
					forward := probe != nil && (probe.HTTPGet != nil && probe.HTTPGet.Path == "/hindsight/readyz" ||
						probe.Exec != nil && slices.Equal(probe.Exec.Command, []string{"/hindsight", "health"}))
					if !forward {
						t.Errorf("%s has a probe that doesn't ask whether it can forward: %+v", name, probe)
					}
				}
			}
		}
	}
	return found
}

// closed checks that only Weaviate reaches the ports on which its nodes talk.
func closed(t *testing.T, objects []any) {
	t.Helper()
	found := 0
	for _, o := range objects {
		n, ok := o.(*networking.NetworkPolicy)
		if !ok || n.Spec.PodSelector.MatchLabels["app.kubernetes.io/name"] != "weaviate" {
			continue
		}
		found++
		if !slices.Equal(n.Spec.PolicyTypes, []networking.PolicyType{networking.PolicyTypeIngress}) || len(n.Spec.Ingress) == 0 {
			t.Errorf("%s doesn't close what it doesn't open", n.Name)
		}
		for _, rule := range n.Spec.Ingress {
			own := true
			for _, from := range rule.From {
				own = own && from.PodSelector != nil && from.PodSelector.MatchLabels["app.kubernetes.io/name"] == "weaviate" && from.NamespaceSelector == nil
				if from.PodSelector == nil || len(from.PodSelector.MatchLabels) == 0 {
					t.Errorf("%s lets anybody in", n.Name)
				}
			}
			if len(rule.Ports) == 0 || len(rule.From) == 0 {
				t.Errorf("%s has a rule without ports or without origins", n.Name)
			}
			for _, p := range rule.Ports {
				if client := p.Port.String() == "http" || p.Port.String() == "grpc"; !client && !own {
					t.Errorf("%s opens %s to %v", n.Name, p.Port, rule.From)
				}
			}
		}
	}
	if found == 0 {
		t.Error("there is no policy for Weaviate")
	}
}

func TestManifests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "deploy/kubernetes/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all []any
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, decodeAll(t, f, b)...)
	}
	if len(all) < 18 {
		t.Errorf("only %d objects", len(all))
	}
	hang(t, all)
	if n := runs(t, all); n != 3 {
		t.Errorf("%d containers are Hindsight", n)
	}
	closed(t, all)
	promised(t, all)
	known := settings(t)
	for _, o := range all {
		if c, ok := o.(*core.ConfigMap); ok {
			for name := range c.Data {
				if !known[name] {
					t.Errorf("the ConfigMap %s sets %s, which is no setting", c.Name, name)
				}
			}
		}
	}
}

// TestDecodingIsStrict guards the tests above.
func TestDecodingIsStrict(t *testing.T) {
	for _, doc := range []string{
		"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {port: 1}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a}, Spec: {}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a, name: b}}",
		"{apiVersion: v2, kind: Service}",
	} {
		if _, err := decode([]byte(doc)); err == nil {
			t.Errorf("%s passes", doc)
		}
	}
}
