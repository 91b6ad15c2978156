package check

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// hand runs a Dockerfile's steps in order in a folder that stands for the build
// stage's root. The host stands in for its base image: it has Go, make and
// certificates too. Only /src and /image are paths of the stage.
type hand struct {
	t     *testing.T
	root  string // of the build stage
	dir   string // WORKDIR
	image string // root of the last stage
	env   []string
	args  map[string]string

	entry, cmd, health []string
	labels             map[string]string
	volumes, ports     []string
	user               string
}

func (h *hand) stagePath(p string) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(h.dir, p)
	}
	return filepath.Join(h.root, p)
}

func (h *hand) expand(word string) (string, error) {
	return os.Expand(word, func(name string) string { return h.args[name] }), nil
}

func (h *hand) build(c instructions.Command) {
	h.t.Helper()
	switch c := c.(type) {
	case *instructions.WorkdirCommand:
		h.dir = c.Path
		h.check(os.MkdirAll(h.stagePath(""), 0o755))
	case *instructions.ArgCommand:
		for _, a := range c.Args {
			if _, given := h.args[a.Key]; !given {
				h.args[a.Key] = a.ValueString()
			}
		}
	case *instructions.CopyCommand:
		if c.SourcePaths[0] == "." {
			h.context(h.stagePath(c.DestPath))
			return
		}
		for _, p := range c.SourcePaths {
			h.check(os.WriteFile(filepath.Join(h.stagePath(c.DestPath), p), read(h.t, p), 0o644))
		}
	case *instructions.RunCommand:
		line := strings.ReplaceAll(strings.Join(c.CmdLine, " "), "/image", h.root+"/image")
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = h.stagePath("")
		cmd.Env = os.Environ()
		for k, v := range h.args {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			h.t.Fatalf("RUN %s: %v\n%s", strings.Join(c.CmdLine, " "), err, out)
		}
	default:
		h.t.Fatalf("the build stage has a step that nobody plays: %s", c.Name())
	}
}

func (h *hand) final(c instructions.Command) {
	h.t.Helper()
	if e, ok := c.(instructions.SupportsSingleWordExpansion); ok {
		h.check(e.Expand(h.expand))
	}
	switch c := c.(type) {
	case *instructions.ArgCommand:
	case *instructions.CopyCommand:
		if c.From != "build" || c.DestPath != "/" || !slices.Equal(c.SourcePaths, []string{"/image"}) {
			h.t.Fatalf("COPY %+v", c)
		}
		h.image = h.root + "/image"
	case *instructions.EnvCommand:
		for _, kv := range c.Env {
			h.env = append(h.env, kv.Key+"="+kv.Value)
		}
	case *instructions.LabelCommand:
		for _, kv := range c.Labels {
			h.labels[kv.Key] = kv.Value
		}
	case *instructions.UserCommand:
		h.user = c.User
	case *instructions.VolumeCommand:
		h.volumes = append(h.volumes, c.Volumes...)
	case *instructions.ExposeCommand:
		h.ports = append(h.ports, c.Ports...)
	case *instructions.StopSignalCommand:
		if c.Signal != "SIGTERM" {
			h.t.Errorf("it is stopped with %s", c.Signal)
		}
	case *instructions.HealthCheckCommand:
		if len(c.Health.Test) < 2 || c.Health.Test[0] != "CMD" {
			h.t.Fatalf("the health check needs a shell, and there is none: %v", c.Health.Test)
		}
		h.health = c.Health.Test[1:]
	case *instructions.EntrypointCommand:
		h.entry = c.CmdLine
	case *instructions.CmdCommand:
		h.cmd = c.CmdLine
	default:
		h.t.Fatalf("the last stage has a step that nobody plays: %s", c.Name())
	}
}

// context copies what the build context holds: the tree without what
// .dockerignore names.
func (h *hand) context(to string) {
	h.t.Helper()
	patterns, err := ignorefile.ReadAll(bytes.NewReader(read(h.t, ".dockerignore")))
	h.check(err)
	ignored, err := patternmatcher.New(patterns)
	h.check(err)
	h.check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		skip, err := ignored.MatchesOrParentMatches(filepath.ToSlash(rel))
		switch {
		case err != nil:
			return err
		case skip && d.IsDir():
			return fs.SkipDir
		case skip || !d.IsDir() && !d.Type().IsRegular():
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	}))
	for _, p := range []string{".git", ".env", "bin", "data"} {
		if _, err := os.Stat(filepath.Join(to, p)); err == nil {
			h.t.Errorf("%s is sent to the builder", p)
		}
	}
}

func (h *hand) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestDockerfile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the image is entered with chroot, which wants root")
	}
	parsed, err := parser.Parse(bytes.NewReader(read(t, "Dockerfile")))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Errorf("a warning: %v", w)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) != 2 || stages[1].BaseName != "scratch" {
		t.Fatalf("the stages are %+v", stages)
	}
	h := &hand{t: t, root: t.TempDir(), labels: map[string]string{}, args: map[string]string{
		"TARGETOS": "linux", "TARGETARCH": "amd64", "VERSION": "v9.8.7",
	}}
	h.check(os.Chmod(h.root, 0o755))
	for _, c := range stages[0].Commands {
		h.build(c)
	}
	for _, c := range stages[1].Commands {
		h.final(c)
	}
	t.Run("holds", func(t *testing.T) { h.t = t; h.holds() })
	t.Run("runs", func(t *testing.T) { h.t = t; h.runs() })
}

// holds looks at the finished image.
func (h *hand) holds() {
	t := h.t
	var size int64
	var open []string
	h.check(filepath.WalkDir(h.image, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if fi.Mode().IsRegular() {
			size += fi.Size()
		}
		if st := fi.Sys().(*syscall.Stat_t); st.Uid != 0 || fi.Mode().Perm()&0o022 != 0 {
			open = append(open, strings.TrimPrefix(path, h.image))
		}
		return nil
	}))
	t.Logf("the image holds %.1f MB", float64(size)/1e6)
	if size > 90e6 {
		t.Errorf("the image holds %d bytes", size)
	}
	// Read-only but for its volume, and what is mounted as memory where the root
	// is read-only.
	if !slices.Equal(open, []string{"/data", "/tmp"}) {
		t.Errorf("its user may write to %v", open)
	}
	if h.user != "65532:65532" || !slices.Equal(h.volumes, []string{"/data"}) || !slices.Equal(h.ports, []string{"8080"}) {
		t.Errorf("user %s, volumes %v, ports %v", h.user, h.volumes, h.ports)
	}
	for _, label := range []string{"title", "description", "version", "licenses"} {
		if h.labels["org.opencontainers.image."+label] == "" {
			t.Errorf("no label %s: %v", label, h.labels)
		}
	}
	if h.labels["org.opencontainers.image.version"] != "v9.8.7" {
		t.Errorf("labels: %v", h.labels)
	}
	if want := []string{"HINDSIGHT_LISTEN=0.0.0.0:8080", "HINDSIGHT_DATA_DIR=/data", "HINDSIGHT_LOG_FORMAT=json"}; !slices.Equal(h.env, want) || !slices.Equal(h.health, []string{"/hindsight", "health"}) {
		t.Errorf("environment %v, health check %v", h.env, h.health)
	}
	f, err := elf.Open(h.image + "/hindsight")
	h.check(err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary isn't static")
		}
	}
	known := settings(t)
	for _, kv := range h.env {
		if name, _, _ := strings.Cut(kv, "="); !known[name] {
			t.Errorf("ENV %s is no setting", name)
		}
	}
}

// inside is a command in the image, as its user.
func (h *hand) inside(env []string, line ...string) *exec.Cmd {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = "/"
	cmd.Env = append(slices.Clone(h.env), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     h.image,
		Credential: &syscall.Credential{Uid: 65532, Gid: 65532},
	}
	return cmd
}

// runs starts the image's own command in the image.
func (h *hand) runs() {
	t := h.t
	if out, err := h.inside(nil, h.entry[0], "version").CombinedOutput(); err != nil || !strings.Contains(string(out), "hindsight v9.8.7 ") {
		t.Fatalf("version: %v %s", err, out)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[]}`)
	}))
	defer up.Close()
	at := freeAddress(t)
	env := []string{"LLM_API_BASE=" + up.URL, "HINDSIGHT_LISTEN=" + at, "HINDSIGHT_ADMIN_LISTEN=" + freeAddress(t)}
	if out, err := h.inside(env, h.health...).CombinedOutput(); err == nil {
		t.Errorf("the health check passes before the start: %s", out)
	}
	p := start(t, h.inside(env, append(slices.Clone(h.entry), h.cmd...)...))
	healthy := func() bool { return h.inside(env, h.health...).Run() == nil }
	until(t, "healthy", healthy)
	until(t, "memory is on", func() bool {
		out, err := h.inside(env, h.health...).CombinedOutput()
		return err == nil && strings.Contains(string(out), "memory on")
	})
	if code, body := get(t, "http://"+at+"/v1/models"); code != http.StatusOK || !strings.Contains(string(body), "list") {
		t.Errorf("forwarding: %d %s\n%s", code, body, p.output())
	}
	line, _, _ := strings.Cut(p.output(), "\n")
	if !strings.HasPrefix(line, "{") {
		t.Errorf("its log isn't JSON: %s", line)
	}
}
