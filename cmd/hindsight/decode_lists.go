package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"hindsight/inject"
	"hindsight/store"
)

// strings reads a list of strings: JSON, or plain words between commas.
func (d decoder) strings(s setting) []string {
	if s.raw == "" {
		return nil
	}
	var list []string
	if !strings.HasPrefix(strings.TrimSpace(s.raw), "[") {
		for w := range strings.SplitSeq(s.raw, ",") {
			list = append(list, strings.TrimSpace(w))
		}
		return list
	}
	d.strict(s, &list, `Write a list of texts, such as ["memory.example.com"].`)
	return list
}

// strict decodes JSON into v; unknown fields and trailing text are problems.
func (d decoder) strict(s setting, v any, next string) bool {
	dec := json.NewDecoder(bytes.NewReader([]byte(s.raw)))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = fmt.Errorf("something follows the value")
		}
	}
	if err != nil {
		d.ps.add(s, "doesn't read: "+jsonCause(err), next)
		return false
	}
	return true
}

// jsonCause says what is wrong with a value, without Go's names for types.
func jsonCause(err error) string {
	var te *json.UnmarshalTypeError
	if !errors.As(err, &te) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	want := "something else"
	switch te.Type.Kind() {
	case reflect.Slice:
		want = "a list"
	case reflect.Struct, reflect.Map:
		want = "a map"
	case reflect.String:
		want = "a text"
	case reflect.Int:
		want = "a whole number"
	case reflect.Float64:
		want = "a number"
	}
	at := ""
	if te.Field != "" {
		at = " at " + te.Field
	}
	return fmt.Sprintf("%s stands where %s is expected%s", te.Value, want, at)
}

// keys reads and checks auth.keys.
func (d decoder) keys(s setting) []AuthKey {
	var keys []AuthKey
	s.secret = true // who writes a key's entry wrong may have written the key
	if s.raw == "" || !d.strict(s, &keys, "Each key is {name, sha256, tenant, user?, agent?, read, write, role}.") {
		return nil
	}
	seen := map[string]string{}
	for i := range keys {
		k := &keys[i]
		k.SHA256 = strings.ToLower(k.SHA256)
		at := s
		at.raw, at.key = "", fmt.Sprintf("%s, key %d", s.label(), i+1)
		if k.Name != "" {
			at.key += fmt.Sprintf(" (%s)", short(k.Name, 40))
		}
		at.from = ""
		if k.Name == "" {
			d.ps.add(at, "has no name", "Add name; logs and doctor call the key by it.")
		}
		if b, err := hex.DecodeString(k.SHA256); err != nil || len(b) != 32 {
			d.ps.add(at, "has no sha256 of 64 hexadecimal digits", "Make it with: printf %s \"$KEY\" | sha256sum.")
		} else if other, twice := seen[k.SHA256]; twice {
			d.ps.add(at, "has the same sha256 as "+other, "Give each caller a key of its own.")
		}
		if k.Tenant == "" {
			d.ps.add(at, "has no tenant", "Add tenant: the key's callers live in it.")
		}
		for field, v := range map[string]string{"tenant": k.Tenant, "user": k.User, "agent": k.Agent} {
			if len(v) > maxName {
				d.ps.add(at, "has a "+field+" of more than 200 bytes", "Choose a shorter name.")
			}
		}
		switch k.Role {
		case "":
			k.Role = "proxy"
		case "proxy", "mcp", "admin":
		default:
			d.ps.add(at, fmt.Sprintf("has the unknown role %q", k.Role), "Choose proxy, mcp or admin.")
		}
		for _, sc := range append(append([]store.Scope{}, k.Read...), k.Write...) {
			if _, err := store.ParseScope(string(sc)); err != nil {
				d.ps.add(at, "has a bad scope: "+err.Error(), "Correct it.")
			}
		}
		seen[k.SHA256] = fmt.Sprintf("key %d", i+1)
	}
	return keys
}

// grants reads and checks grants.
func (d decoder) grants(s setting) []Grant {
	var grants []Grant
	if s.raw == "" || !d.strict(s, &grants, "Each grant is {tenant, scope, to}.") {
		return nil
	}
	for i, g := range grants {
		at := s
		at.raw, at.key, at.from = "", fmt.Sprintf("%s, grant %d", s.label(), i+1), ""
		if g.Tenant == "" {
			d.ps.add(at, "has no tenant", "Add tenant: a grant never crosses one.")
		}
		if _, err := store.ParseScope(string(g.Scope)); err != nil {
			d.ps.add(at, "has a bad scope: "+err.Error(), "Correct it.")
		} else if _, own := g.Scope.UserOf(); own {
			d.ps.add(at, "grants a user's own scope", "Only shared and agent:<id> can be granted.")
		}
		if g.To != "users" && g.To != "agents" {
			d.ps.add(at, fmt.Sprintf("goes to %q", g.To), "Write to: users or to: agents.")
		}
	}
	return grants
}

// profiles reads and checks inject.profiles.
func (d decoder) profiles(s setting) map[string]inject.Profile {
	var profiles map[string]inject.Profile
	next := `Each is a model's name with what holds for it: {"*:3b": {"top_k": 3, "gate": 1.2, "tokens": 400, "carried": 1200, "context": 8192}}.`
	if s.raw == "" || !d.strict(s, &profiles, next) {
		return nil
	}
	if err := inject.CheckProfiles(profiles); err != nil {
		for line := range strings.Lines(err.Error()) {
			at := s
			at.raw, at.key, at.from = "", s.label(), ""
			d.ps.add(at, "has a bad "+strings.TrimSpace(line), "Correct it.")
		}
	}
	return profiles
}
