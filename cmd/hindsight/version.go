package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCmd is `hindsight version`.
type versionCmd struct{}

// version is stamped by the linker (see the Makefile); empty: what the compiler
// knows.
var version string

// build says what this binary was made from.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild reads what the compiler wrote into the binary.
func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	switch {
	case version != "":
		b.Version = version
	case info.Main.Version != "":
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Run prints it.
func (versionCmd) Run(a *app) error {
	b := thisBuild()
	if a.json {
		return a.printJSON(b)
	}
	_, err := fmt.Fprintf(a.out, "hindsight %s (%s, %s)\n", b.Version, b.Go, b.Platform)
	return err
}
