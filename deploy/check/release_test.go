package check

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"
)

// TestRelease makes a release for this system and for Windows, checks it as who
// loads it would, and makes it once more.
func TestRelease(t *testing.T) {
	name := fmt.Sprintf("hindsight-v9.8.7-%s-%s", runtime.GOOS, runtime.GOARCH)
	const windows = "hindsight-v9.8.7-windows-amd64"
	release := func() string {
		t.Helper()
		out := t.TempDir()
		cmd := exec.Command(filepath.Join(root, "deploy/release.sh"), "v9.8.7", runtime.GOOS+"/"+runtime.GOARCH, "windows/amd64")
		cmd.Env = append(os.Environ(), "OUT="+out)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return out
	}
	out := release()
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = out
	if said, err := check.CombinedOutput(); err != nil || strings.Count(string(said), ": OK") != 4 {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := exec.Command("tar", "-C", out, "-xzf", filepath.Join(out, name+".tar.gz")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if said, err := exec.Command(filepath.Join(out, name, "hindsight"), "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(said), "hindsight v9.8.7 ") {
		t.Errorf("%v %s", err, said)
	}
	for _, f := range []string{"LICENSE", "README.md", "README.zh-CN.md", "docs/start.md", "hindsight.service", "hindsight.env"} {
		if _, err := os.Stat(filepath.Join(out, name, f)); err != nil {
			t.Error(err)
		}
	}
	z, err := zip.OpenReader(filepath.Join(out, windows+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range []string{"hindsight.exe", "README.md"} {
		if fi, err := fs.Stat(z, windows+"/"+f); err != nil || fi.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	var bom struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	b, err := os.ReadFile(filepath.Join(out, name+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Fatalf("%v %.200s", err, b)
	}
	mod := string(read(t, "go.mod"))
	badger := false
	for _, c := range bom.Components {
		badger = badger || c.Name == "github.com/dgraph-io/badger/v4" && strings.Contains(mod, c.Name+" "+c.Version) && strings.HasPrefix(c.PURL, "pkg:golang/")
	}
	if !badger || len(bom.Components) < 20 {
		t.Errorf("the list of what is in it has %d components, Badger: %v", len(bom.Components), badger)
	}
	first, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(release(), "SHA256SUMS")); err != nil || !bytes.Equal(again, first) {
		t.Errorf("the same commit gives other bytes: %v\n%s%s", err, first, again)
	}
}

func TestReleaseWantsAVersion(t *testing.T) {
	if out, err := exec.Command(filepath.Join(root, "deploy/release.sh"), "1.2").CombinedOutput(); err == nil || !strings.Contains(string(out), "v1.2.3") {
		t.Errorf("%v %s", err, out)
	}
}

// TestSystemdUnit starts what the unit starts, with the settings that ship.
func TestSystemdUnit(t *testing.T) {
	options, err := unit.DeserializeOptions(strings.NewReader(string(read(t, "deploy/systemd/hindsight.service"))))
	if err != nil {
		t.Fatal(err)
	}
	has := map[string][]string{}
	for _, o := range options {
		has[o.Section+"."+o.Name] = append(has[o.Section+"."+o.Name], o.Value)
	}
	known := settings(t)
	for _, e := range has["Service.Environment"] {
		if name, _, _ := strings.Cut(e, "="); ours(name) && !known[name] {
			t.Errorf("it sets %s, which is no setting", name)
		}
	}
	for line := range strings.Lines(string(read(t, "deploy/systemd/hindsight.env"))) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "#"), "=")
		if ok && !strings.Contains(name, " ") && !known[name] {
			t.Errorf("the environment sets %s, which is no setting", name)
		}
	}
	for option, want := range map[string]string{
		"Service.ExecStart": "/usr/local/bin/hindsight serve", "Service.DynamicUser": "yes", "Service.ProtectSystem": "strict",
		"Service.StateDirectory": "hindsight", "Service.TimeoutStopSec": "630s", "Service.RestartPreventExitStatus": "2", "Install.WantedBy": "multi-user.target",
	} {
		if !slices.Equal(has[option], []string{want}) {
			t.Errorf("%s is %v", option, has[option])
		}
	}
	// Whoever has systemd has its own judgement too. It wants the binary in place.
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		text := strings.ReplaceAll(string(read(t, "deploy/systemd/hindsight.service")), "/usr/local/bin/hindsight", binary(t))
		file := filepath.Join(t.TempDir(), "hindsight.service")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput(); err != nil || strings.Contains(string(out), "hindsight.service") {
			t.Errorf("systemd-analyze: %v\n%s", err, out)
		}
	}
}
