package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The marks between which the list of settings stands in a page.
const (
	settingsOpen = "<!-- settings: begin -->\n"
	settingsShut = "<!-- settings: end -->\n"
)

// TestConfigurationDocuments holds the two pages against the list of settings.
// After a change: go test ./cmd/hindsight -run ConfigurationDocuments -update
func TestConfigurationDocuments(t *testing.T) {
	for page, words := range map[string]configWords{"configuration.md": english(), "configuration.zh-CN.md": chinese()} {
		path := "../../docs/" + page
		list := settingsTable(t, words)
		if *update {
			if err := between(path, settingsOpen, settingsShut, list); err != nil {
				t.Error(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fresh := filepath.Join(t.TempDir(), page)
		if err := os.WriteFile(fresh, got, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := between(fresh, settingsOpen, settingsShut, list); err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(fresh); err != nil || string(got) != string(want) {
			t.Errorf("docs/%s doesn't say what the settings are (%v); run this test with -update", page, err)
		}
	}
}

// configWords is what the table says in a language.
type configWords struct {
	head   string
	groups map[string]string
	forms  map[string]string // by placeholder
	// meaning is that of a key; help is what the program itself says.
	meaning func(key, help string) string
}

func english() configWords {
	return configWords{
		head:   "| setting | variable | default | form | meaning | refused, because it |\n| --- | --- | --- | --- | --- | --- |\n",
		groups: groups(),
		forms: map[string]string{
			"URL": "URL", "KEY": "secret", "TOKEN": "secret", "SECRET": "secret", "PATH": "path", "WORD": "word", "SIZE": "size", "TIME": "time",
			"ADDRESS": "address", "NAMES": "list", "NAME": "name", "BOOL": "true, false", "JSON": "structure", "N": "number", "SHARE": "share",
			"MODEL": "name", "TEXT": "text", "ZONE": "time zone",
		},
		meaning: func(_, help string) string { return help },
	}
}

// settingsTable lists every setting, group by group.
func settingsTable(t *testing.T, w configWords) string {
	t.Helper()
	var b strings.Builder
	group := ""
	fields := reflect.TypeFor[settings]()
	var s settings
	i := 0
	for e := range s.entries() {
		tag := fields.Field(i).Tag
		i++
		if tag.Get("group") != group {
			group = tag.Get("group")
			title := w.groups[group]
			if title == "" {
				t.Errorf("the group %q has no title in this language", group)
			}
			fmt.Fprintf(&b, "### %s\n\n%s", title, w.head)
		}
		if want := strings.NewReplacer(".", "-", "_", "-").Replace(e.key); tag.Get("name") != want {
			t.Errorf("the flag of %s is --%s, and the page says that it is --%s", e.key, tag.Get("name"), want)
		}
		form, meaning := w.forms[tag.Get("placeholder")], w.meaning(e.key, tag.Get("help"))
		if form == "" || meaning == "" {
			t.Errorf("%s has no form (%s) or no meaning in this language", e.key, tag.Get("placeholder"))
		}
		def := ""
		if e.def != "" {
			def = "`" + e.def + "`"
		}
		names := e.env()
		slices.Reverse(names) // the short name is what people write
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s |\n", e.key, strings.Join(names, "`, `"), def, form,
			strings.ReplaceAll(meaning, "|", "\\|"), strings.Join(refusals()[i-1], "; "))
		if next := i; next < fields.NumField() && fields.Field(next).Tag.Get("group") != group {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// probes are values that a setting can't take, by its placeholder: one of a wrong
// form, one out of bounds.
var probes = map[string][]string{
	"NAME": {"{{USER}}", "?"}, "JSON": {"1"}, "TIME": {"?", "1000000h"}, "SIZE": {"?", "1"},
	"KEY": {"a b"}, "TOKEN": {"?", "a b"}, "SECRET": {"a b"}, "NAMES": {"a b"},
}

// refusals is what the program says of such values, setting by setting.
var refusals = sync.OnceValue(func() [][]string {
	var out [][]string
	fields := reflect.TypeFor[settings]()
	for field := range fields.NumField() {
		tag := fields.Field(field).Tag
		name := "--" + tag.Get("name")
		bad := probes[tag.Get("placeholder")]
		if bad == nil {
			bad = []string{"?"}
		}
		var said []string
		for _, value := range bad {
			var s settings
			given := setting{raw: value, from: name}
			switch f := reflect.ValueOf(&s).Elem().Field(field).Addr().Interface().(type) {
			case *setting:
				*f = given
			case *toggle:
				f.setting = given
			}
			env := fakeEnv(map[string]string{"VECTOR_DB_URL": "http://weaviate:8080"}) // some are looked at with it alone
			var ps problems
			s.resolve(setting{}, env.get, &ps)
			decode(&s, env, false, &ps)
			for _, p := range ps {
				if p.Field == name && !slices.Contains(said, p.Wrong) {
					said = append(said, p.Wrong)
				}
			}
		}
		out = append(out, said)
	}
	return out
})

// TestBadSettingIsNamed keeps the last column from being empty by accident: only
// these take any value.
func TestBadSettingIsNamed(t *testing.T) {
	free := []string{"data_dir", "reflect.model", "reflect.instructions"}
	var s settings
	i := 0
	for e := range s.entries() {
		if got := refusals()[i]; (len(got) == 0) != slices.Contains(free, e.key) {
			t.Errorf("%s refuses %q", e.key, got)
		}
		i++
	}
}
