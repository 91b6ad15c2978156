package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
)

// resolve fills in what no flag gave: from the environment, else from the file,
// else the default. Whatever is given decides alone: a flag's --x-file beats the
// environment's X.
func (s *settings) resolve(config setting, env func(string) string, ps *problems) {
	for e := range s.entries() {
		if !e.value.given() && !s.twinGiven(e.value) {
			fromEnv(e, env)
		}
	}
	// The environment is settled, so that a twin there also keeps out the file.
	if !config.given() {
		config = setting{raw: env(envPrefix + "CONFIG"), from: envPrefix + "CONFIG", key: "config"}
	}
	if config.raw != "" {
		s.readFile(config, ps)
	}
	s.readSecrets(ps)
	for e := range s.entries() {
		if !e.value.given() {
			e.value.raw = e.def
		}
	}
}

// fromEnv takes a value from the environment; an empty variable is an absent
// one, as templates of deployments often leave it.
func fromEnv(e entry, env func(string) string) {
	for _, name := range e.env() {
		if v := env(name); v != "" {
			e.value.raw, e.value.from = v, name
			return
		}
	}
}

// twinGiven says whether the other form of a secret (value or file) was given
// by a flag: then neither form is looked for in the environment.
func (s *settings) twinGiven(v *setting) bool {
	for _, pair := range s.secrets() {
		if pair[0] == v && strings.HasPrefix(pair[1].from, "--") || pair[1] == v && strings.HasPrefix(pair[0].from, "--") {
			return true
		}
	}
	return false
}

// readSecrets replaces the path of each secret's twin by what the file holds.
func (s *settings) readSecrets(ps *problems) {
	for _, pair := range s.secrets() {
		value, file := pair[0], pair[1]
		if !file.given() {
			continue
		}
		if value.given() {
			ps.add(*file, "is given together with "+value.label(), "Keep one of the two.")
			continue
		}
		b, err := os.ReadFile(file.raw)
		if err != nil {
			ps.add(*file, "can't be read ("+cause(err)+")", "Name a file that this user may read.")
			continue
		}
		secret := strings.TrimSpace(string(b))
		if secret == "" {
			ps.add(*file, "names an empty file", "Put the secret there, on one line.")
			continue
		}
		value.raw, value.from = secret, file.from
	}
}

// cause is an error of the system without the path or the address, which the
// message already shows.
func cause(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) {
		return file.Err.Error()
	}
	var address *net.OpError
	if errors.As(err, &address) {
		return address.Err.Error()
	}
	return err.Error()
}
