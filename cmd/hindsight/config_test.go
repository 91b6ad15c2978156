package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the configuration corpus should say")

// TestConfigCorpus reads every case of testdata/config as serve would: a file,
// an environment, and what comes of it. The want of a bad one is the whole
// message; that of a good one the fields that matter.
func TestConfigCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/config/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			env, want := map[string]string{}, ""
			for i, f := range ar.Files {
				text := strings.ReplaceAll(string(f.Data), "$DIR", dir)
				switch f.Name {
				case "env":
					for line := range strings.Lines(text) {
						name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
						env[name] = value
					}
				case "want":
					want = text
					if i != len(ar.Files)-1 {
						t.Fatal("want must be the last file")
					}
				default:
					if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					if f.Name == "hindsight.yaml" {
						env["HINDSIGHT_CONFIG"] = filepath.Join(dir, f.Name)
					}
				}
			}
			cfg, err := load(settings{}, setting{}, fakeEnv(env), true)
			if bad := strings.HasPrefix(filepath.Base(file), "bad-"); !bad {
				if err != nil {
					t.Fatal(err)
				}
				got := dump(cfg)
				for line := range strings.Lines(want) {
					if !strings.Contains("\n"+got, "\n"+line) {
						t.Errorf("no line %q in\n%s", line, got)
					}
				}
				return
			}
			if err == nil {
				t.Fatal("no problem was found")
			}
			got := strings.ReplaceAll(err.Error()+"\n", dir, "$DIR")
			if *update {
				ar.Files[len(ar.Files)-1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.ReplaceAll(want, dir, "$DIR"), got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "swordfish") {
				t.Error("the message repeats a secret")
			}
			var ps problems
			if !errors.As(err, &ps) || ps.ExitCode() != 2 {
				t.Error("the exit code isn't 2")
			}
		})
	}
}

// fakeEnv is a person's machine with the given variables.
func fakeEnv(vars map[string]string) environ {
	return environ{get: func(name string) string { return vars[name] }, pid: 4711, home: "/home/ann"}
}

// dump writes a configuration as lines of field and value.
func dump(c Config) string {
	var b strings.Builder
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch x := v.Interface().(type) {
		case *url.URL, fmt.Stringer:
			fmt.Fprintf(&b, "%s = %v\n", path, x)
			return
		}
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		switch {
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if path != "" {
					name = path + "." + name
				}
				walk(name, v.Field(i))
			}
		default:
			fmt.Fprintf(&b, "%s = %v\n", path, v.Interface())
		}
	}
	walk("", reflect.ValueOf(c))
	return b.String()
}
