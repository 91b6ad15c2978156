package check

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// promised checks what stands beside the pods: a budget for those that others
// call, a policy for those that hold memories, the key where memories are shared,
// monitors that lead to the metrics, and time enough to stop in.
func promised(t *testing.T, objects []any) {
	t.Helper()
	for name, p := range templates(objects) {
		serving, sidecar := hindsight(p)
		if serving != nil {
			stopsInTime(t, name, p, *serving)
			keyed(t, name, p, environment(*serving, objects), *serving)
		}
		if sidecar {
			continue // the application's own affair
		}
		if !selects(objects, p, func(o any) labels.Set {
			if b, ok := o.(*policy.PodDisruptionBudget); ok {
				return b.Spec.Selector.MatchLabels
			}
			return nil
		}) {
			t.Errorf("%s has no disruption budget", name)
		}
		if serving == nil && p.Labels["app.kubernetes.io/name"] != "weaviate" {
			continue // the webhook, which holds nothing
		}
		if !selects(objects, p, func(o any) labels.Set {
			if n, ok := o.(*networking.NetworkPolicy); ok {
				return n.Spec.PodSelector.MatchLabels
			}
			return nil
		}) {
			t.Errorf("%s has no network policy", name)
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *monitoring.ServiceMonitor:
			for _, e := range o.Spec.Endpoints {
				measured(t, "the service monitor "+o.Name, behind(objects, o.Spec.Selector.MatchLabels, e.Port), objects)
			}
		case *monitoring.PodMonitor:
			for _, e := range o.Spec.PodMetricsEndpoints {
				found := map[string]intstr.IntOrString{}
				for name, p := range templates(objects) {
					if labels.SelectorFromSet(o.Spec.Selector.MatchLabels).Matches(labels.Set(p.Labels)) {
						found[name] = intstr.FromString(*e.Port)
					}
				}
				measured(t, "the pod monitor "+o.Name, found, objects)
			}
		}
	}
}

// hindsight finds the container of a pod that serves, and says whether it stands
// beside an application.
func hindsight(p core.PodTemplateSpec) (serving *core.Container, sidecar bool) {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if slices.Equal(c.Args, []string{"serve"}) {
			return &c, len(p.Spec.InitContainers) > 0
		}
	}
	return nil, false
}

func selects(objects []any, p core.PodTemplateSpec, selector func(any) labels.Set) bool {
	return slices.ContainsFunc(objects, func(o any) bool {
		s := selector(o)
		return len(s) > 0 && labels.SelectorFromSet(s).Matches(labels.Set(p.Labels))
	})
}

// environment is what a container is started with, as far as the objects say it.
func environment(c core.Container, objects []any) map[string]string {
	out := map[string]string{}
	for _, from := range c.EnvFrom {
		for _, o := range objects {
			if m, ok := o.(*core.ConfigMap); ok && from.ConfigMapRef != nil && m.Name == from.ConfigMapRef.Name {
				for k, v := range m.Data {
					out[k] = v
				}
			}
		}
	}
	for _, e := range c.Env {
		out[e.Name] = e.Value
	}
	return out
}

// stopsInTime: what is slept before the signal and what streams may take after it
// end before the pod is killed.
func stopsInTime(t *testing.T, name string, p core.PodTemplateSpec, c core.Container) {
	t.Helper()
	drain := 600 * time.Second // the default
	if set := values(c)["HINDSIGHT_DRAIN_GRACE"]; set != "" {
		var err error
		if drain, err = time.ParseDuration(set); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	grace := time.Duration(*p.Spec.TerminationGracePeriodSeconds) * time.Second
	if slept := time.Duration(c.Lifecycle.PreStop.Sleep.Seconds) * time.Second; slept <= 0 || slept+drain >= grace {
		t.Errorf("%s sleeps %v and drains for %v, and is killed after %v", name, slept, drain, grace)
	}
}

// keyed: who shares memories has the identity key from a secret.
func keyed(t *testing.T, name string, p core.PodTemplateSpec, env map[string]string, c core.Container) {
	t.Helper()
	file := env["HINDSIGHT_IDENTITY_KEY_FILE"]
	if env["VECTOR_DB_URL"] == "" && file == "" {
		return
	}
	for _, m := range c.VolumeMounts {
		if path.Dir(file) != m.MountPath {
			continue
		}
		for _, v := range p.Spec.Volumes {
			if v.Name == m.Name && v.Secret != nil && m.ReadOnly {
				return
			}
		}
	}
	t.Errorf("%s shares memories, and its identity key %q is from no secret", name, file)
}

// behind are the pods that a port of the selected services leads to.
func behind(objects []any, selector map[string]string, port string) map[string]intstr.IntOrString {
	out := map[string]intstr.IntOrString{}
	for _, o := range objects {
		s, ok := o.(*core.Service)
		if !ok || !labels.SelectorFromSet(selector).Matches(labels.Set(s.Labels)) {
			continue
		}
		for name, p := range templates(objects) {
			for _, sp := range s.Spec.Ports {
				if sp.Name == port && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels)) {
					out[name] = sp.TargetPort
				}
			}
		}
	}
	return out
}

// measured: the port that is read in each pod is the one of the metrics listener.
func measured(t *testing.T, who string, ports map[string]intstr.IntOrString, objects []any) {
	t.Helper()
	if len(ports) == 0 {
		t.Errorf("%s reads nothing", who)
	}
	for name, port := range ports {
		serving, _ := hindsight(templates(objects)[name])
		if serving == nil {
			t.Errorf("%s reads %s, which isn't Hindsight", who, name)
			continue
		}
		_, listens, _ := strings.Cut(values(*serving)["HINDSIGHT_METRICS_LISTEN"], ":")
		if !slices.ContainsFunc(serving.Ports, func(p core.ContainerPort) bool {
			return p.Name == port.StrVal && strconv.Itoa(int(p.ContainerPort)) == listens
		}) {
			t.Errorf("%s reads the port %s of %s, whose metrics are on %q", who, port.String(), name, listens)
		}
	}
}
