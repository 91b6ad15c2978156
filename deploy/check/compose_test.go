package check

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/graph"
	"github.com/compose-spec/compose-go/v2/types"
)

// compose loads the compose file beside the .env that is given.
func compose(t *testing.T, env string, profiles ...string) (*types.Project, error) {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{"docker-compose.yml": read(t, "docker-compose.yml"), ".env": []byte(env)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := cli.NewProjectOptions([]string{filepath.Join(dir, "docker-compose.yml")},
		cli.WithWorkingDirectory(dir), cli.WithEnvFiles(), cli.WithDotEnv, cli.WithProfiles(profiles))
	if err != nil {
		t.Fatal(err)
	}
	return o.LoadProject(t.Context())
}

func mustCompose(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	p, err := compose(t, string(read(t, ".env.example")), profiles...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeWantsAnUpstream(t *testing.T) {
	_, err := compose(t, "LLM_API_KEY=x\n")
	if err == nil || !strings.Contains(err.Error(), "LLM_API_BASE") || !strings.Contains(err.Error(), ".env.example") {
		t.Errorf("without LLM_API_BASE: %v", err)
	}
}

func TestComposeProfiles(t *testing.T) {
	for name, c := range map[string]struct {
		profiles, selected, want []string
	}{
		"plain":                 {nil, nil, []string{"hindsight", "prepare", "weaviate"}},
		"monitoring":            {[]string{"monitoring"}, nil, []string{"grafana", "hindsight", "prepare", "prometheus", "weaviate"}},
		"without Weaviate":      {[]string{"embedded"}, []string{"embedded"}, []string{"embedded", "prepare"}},
		"watched, and embedded": {[]string{"embedded", "monitoring"}, []string{"embedded", "grafana"}, []string{"embedded", "grafana", "prepare", "prometheus"}},
	} {
		p := mustCompose(t, c.profiles...)
		if c.selected != nil {
			var err error
			if p, err = p.WithSelectedServices(c.selected); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := p.ServiceNames(); !slices.Equal(got, c.want) {
			t.Errorf("%s starts %v, want %v", name, got, c.want)
		}
	}
}

// TestComposeConditions walks the services in the library's own order, and lets
// each be what the next ones wait for.
func TestComposeConditions(t *testing.T) {
	p := mustCompose(t, "embedded", "monitoring")
	for name, s := range p.Services {
		for on, dep := range s.DependsOn {
			other := p.Services[on]
			switch dep.Condition {
			case types.ServiceConditionHealthy:
				if other.HealthCheck == nil || len(other.HealthCheck.Test) < 2 {
					t.Errorf("%s waits until %s is healthy, which has no health check", name, on)
				}
			case types.ServiceConditionCompletedSuccessfully:
				if other.Restart != "no" {
					t.Errorf("%s waits for the end of %s, which is restarted", name, on)
				}
			default:
				t.Errorf("%s waits for %s: %s", name, on, dep.Condition)
			}
		}
	}
	var mu sync.Mutex
	done := map[string]bool{}
	err := graph.InDependencyOrder(t.Context(), p, func(_ context.Context, name string, s types.ServiceConfig) error {
		mu.Lock()
		defer mu.Unlock()
		for on := range s.DependsOn {
			if !done[on] {
				t.Errorf("%s starts before %s", name, on)
			}
		}
		done[name] = true
		return nil
	})
	if err != nil || len(done) != len(p.Services) {
		t.Errorf("started %v: %v", slices.Collect(maps.Keys(done)), err)
	}
	for name, want := range map[string]map[string]string{
		"hindsight": {"weaviate": types.ServiceConditionHealthy, "prepare": types.ServiceConditionCompletedSuccessfully},
		"embedded":  {"prepare": types.ServiceConditionCompletedSuccessfully},
		"grafana":   {"prometheus": types.ServiceConditionHealthy},
	} {
		for on, condition := range want {
			if got := p.Services[name].DependsOn[on].Condition; got != condition {
				t.Errorf("%s waits for %s: %q", name, on, got)
			}
		}
	}
}

func TestComposeServices(t *testing.T) {
	p := mustCompose(t, "embedded", "monitoring")
	known := settings(t)
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s beyond loopback", name, port.Published)
			}
		}
		for _, v := range s.Volumes {
			rel, err := filepath.Rel(p.WorkingDir, v.Source)
			under, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			if v.Type != types.VolumeTypeBind || err != nil || !(under == "data" || v.ReadOnly && (under == "config" || under == "deploy")) {
				t.Errorf("%s mounts %s %s", name, v.Type, rel)
			}
			if under != "data" {
				if _, err := os.Stat(filepath.Join(root, rel)); err != nil {
					t.Errorf("%s mounts %s, which isn't there", name, rel)
				}
			}
		}
		if name == "prepare" {
			continue
		}
		if s.Restart != "unless-stopped" || s.HealthCheck == nil || s.Ulimits["nofile"] == nil || s.Ulimits["nofile"].Soft < 65536 {
			t.Errorf("%s: restart %q, health check %v, limits %v", name, s.Restart, s.HealthCheck, s.Ulimits)
		}
		if r := s.Deploy.Resources; r.Limits.MemoryBytes != 2<<30 || r.Reservations.MemoryBytes != 512<<20 {
			t.Errorf("%s: limits %v, reservations %v", name, r.Limits, r.Reservations)
		}
		if _, ok := s.Networks["hindsight"]; !ok || len(s.Networks) != 1 {
			t.Errorf("%s is on %v", name, s.Networks)
		}
		for v := range s.Environment {
			if strings.HasPrefix(s.Image, "hindsight") && ours(v) && !known[v] && !composes(v) {
				t.Errorf("%s sets %s, which is no setting", name, v)
			}
		}
	}
	for _, name := range []string{"hindsight", "embedded"} {
		s := p.Services[name]
		if s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) <= 600*time.Second {
			t.Errorf("%s is killed after %v", name, s.StopGracePeriod)
		}
		if !slices.Equal(s.HealthCheck.Test, []string{"CMD", "/hindsight", "health"}) || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s: %v, read only %v, without %v", name, s.HealthCheck.Test, s.ReadOnly, s.CapDrop)
		}
		if v := s.Environment["HINDSIGHT_LISTEN"]; v == nil || *v != "0.0.0.0:8080" {
			t.Errorf("%s listens on %v", name, v)
		}
		mounts := map[string]string{}
		for _, v := range s.Volumes {
			rel, _ := filepath.Rel(p.WorkingDir, v.Source) // checked above
			mounts[v.Target] = fmt.Sprintf("%s %t", rel, v.ReadOnly)
		}
		if want := map[string]string{"/data": "data/hindsight false", "/keys": "data/keys true", "/config": "config true"}; !maps.Equal(mounts, want) {
			t.Errorf("%s mounts %v", name, mounts)
		}
	}
	if n := p.Networks["hindsight"]; len(p.Networks) != 1 || bool(n.External) || len(p.Services["weaviate"].Ports) != 0 {
		t.Errorf("networks %v; Weaviate publishes %v", p.Networks, p.Services["weaviate"].Ports)
	}
	if v := p.Services["hindsight"].Environment; *v["VECTOR_DB_URL"] != "http://weaviate:8080" || *v["MEMORY_COLLECTION"] != "AgentMemory" {
		t.Errorf("the store: %s %s", *v["VECTOR_DB_URL"], *v["MEMORY_COLLECTION"])
	}
	if v := p.Services["embedded"].Environment["VECTOR_DB_URL"]; v != nil {
		t.Errorf("embedded keeps its memories in %s", *v)
	}
}

// composes says whether a variable of .env is for the compose file itself.
func composes(name string) bool {
	return slices.Contains([]string{"HINDSIGHT_PORT", "HINDSIGHT_ADMIN_PORT", "HINDSIGHT_IMAGE", "HINDSIGHT_VERSION", "WEAVIATE_VERSION"}, name)
}

func TestEnvExample(t *testing.T) {
	known := settings(t)
	set, off := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(read(t, ".env.example"))) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "#"), "=")
		if !ok || strings.ContainsAny(name, " `") {
			continue
		}
		if strings.HasPrefix(line, "#") {
			off[name] = true
		} else {
			set[name] = true
		}
		if !known[name] && !composes(name) {
			t.Errorf("%s is no setting", name)
		}
	}
	if got := slices.Sorted(maps.Keys(set)); !slices.Equal(got, []string{"HINDSIGHT_TENANT", "LLM_API_BASE", "LLM_API_KEY", "MEMORY_COLLECTION"}) || !off["HINDSIGHT_DEFAULT_USER"] {
		t.Errorf("set: %v; commented out: %v", got, off)
	}
}

// TestComposePrepares runs the script of the service that makes the directories.
func TestComposePrepares(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it gives files away, which wants root")
	}
	s := mustCompose(t).Services["prepare"]
	data := t.TempDir()
	run := func() {
		t.Helper()
		line := slices.Clone([]string(s.Command))
		line[2] = strings.ReplaceAll(line[2], "/data/", data+"/")
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	key := filepath.Join(data, "keys", "identity.key")
	run()
	first, err := os.ReadFile(key)
	if err != nil || len(first) != 32 {
		t.Fatalf("the key has %d bytes, %v", len(first), err)
	}
	for _, name := range []string{"hindsight", "keys", "keys/identity.key"} {
		fi, err := os.Stat(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		if st := fi.Sys().(*syscall.Stat_t); st.Uid != 65532 || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s belongs to %d, mode %v", name, st.Uid, fi.Mode())
		}
	}
	run()
	if again, err := os.ReadFile(key); err != nil || string(again) != string(first) {
		t.Errorf("another start makes another key: %v", err)
	}
	// A directory that began without compose keeps its key.
	old := strings.Repeat("ab", 32) + "\n"
	if err := os.WriteFile(filepath.Join(data, "hindsight", "identity.key"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	run()
	if b, err := os.ReadFile(key); err != nil || string(b) != old {
		t.Errorf("the key of the data isn't taken: %q %v", b, err)
	}
}

// TestComposeEnvironmentServes starts the binary with the environment and the
// files of each service that is Hindsight. Weaviate isn't there, whatever compose
// has promised: requests can be forwarded all the same.
func TestComposeEnvironmentServes(t *testing.T) {
	for service, memory := range map[string]string{"embedded": `"memory":"on"`, "hindsight": `"memory":"degraded"`} {
		t.Run(service, func(t *testing.T) { composeServes(t, service, memory) })
	}
}

func composeServes(t *testing.T, service, memory string) {
	dir := t.TempDir()
	key := filepath.Join(dir, "identity.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := filepath.Abs(filepath.Join(root, "config", "hindsight.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	at := freeAddress(t)
	here := map[string]string{
		"HINDSIGHT_LISTEN": at, "HINDSIGHT_ADMIN_LISTEN": freeAddress(t), "HINDSIGHT_METRICS_LISTEN": freeAddress(t),
		"HINDSIGHT_DATA_DIR": filepath.Join(dir, "data"), "HINDSIGHT_CONFIG": config, "HINDSIGHT_IDENTITY_KEY_FILE": key,
		"LLM_API_BASE": scripted(t),
	}
	if service == "hindsight" {
		here["VECTOR_DB_URL"] = "http://127.0.0.1:1"
	}
	cmd := exec.Command(binary(t), "serve")
	for name, v := range mustCompose(t, "embedded").Services[service].Environment {
		value, replaced := here[name]
		if !replaced && v != nil {
			value = *v
		}
		cmd.Env = append(cmd.Env, name+"="+value)
		delete(here, name)
	}
	if len(here) > 0 {
		t.Errorf("compose doesn't set %v", here)
	}
	p := start(t, cmd)
	until(t, memory, func() bool {
		_, body := get(t, "http://"+at+"/hindsight/readyz")
		return strings.Contains(string(body), memory) && strings.Contains(string(body), `"ready":true`)
	})
	until(t, "its greeting", func() bool { return strings.Contains(p.output(), `tenant default`) })
	if code, body := get(t, "http://"+at+"/v1/models"); code != 200 {
		t.Errorf("forwarding: %d %s", code, body)
	}
}
