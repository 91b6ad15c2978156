package main

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/viper"

	"hindsight/internal/documents"
)

func readDocuments(t *testing.T) []documents.Document {
	t.Helper()
	docs, err := documents.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// TestDocumentBlocks reads every block that is for the program or a shell: the
// configuration by the real loader, commands by the real command line.
func TestDocumentBlocks(t *testing.T) {
	read := map[string]int{}
	parser, err := newParser(&commands{}, &app{out: t.Output(), err: t.Output()}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range readDocuments(t) {
		for _, b := range doc.Blocks {
			at := doc.Path + ":" + strconv.Itoa(b.Line)
			read[b.Language]++
			var err error
			switch b.Language {
			case "json":
				var v any
				err = json.Unmarshal([]byte(b.Text), &v)
			case "toml":
				v := viper.New()
				v.SetConfigType("toml")
				err = v.ReadConfig(strings.NewReader(b.Text))
			case "yaml":
				if !foreignYAML.MatchString(b.Text) {
					file := write(t, "hindsight.yaml", b.Text)
					_, err = load(settings{}, setting{}, fakeEnv(map[string]string{
						"HINDSIGHT_CONFIG": file, "LLM_API_BASE": "https://api.openai.com/v1", "LLM_API_KEY": "sk-test",
					}), true)
				}
			case "sh":
				for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
					if args := hindsightIn(line); args != nil {
						if _, wrong := parser.Parse(args); wrong != nil {
							t.Errorf("%s: hindsight %s: %v", at, strings.Join(args, " "), wrong)
						}
					}
				}
			case "":
				t.Errorf("%s: the block has no language", at)
			}
			if err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
	}
	for _, language := range []string{"json", "toml", "yaml", "sh"} {
		if read[language] == 0 {
			t.Errorf("no block of %s was read", language)
		}
	}
}

// foreignYAML is of other programs: deploy/check reads it.
var foreignYAML = regexp.MustCompile(`(?m)^ *(services|spec|apiVersion|metadata|lifecycle|endpoints|version):`)

var (
	shellWord   = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)
	substituted = regexp.MustCompile(`( )\$\([^)]*\)`)
)

// hindsightIn returns the arguments of the hindsight that a line calls, whatever
// stands before it: variables, a container, a pod; nil: it calls none.
func hindsightIn(line string) []string {
	words := shellWord.FindAllString(substituted.ReplaceAllString(line, "${1}VALUE"), -1)
	first := true // nothing but variables so far
	for i, w := range words {
		switch {
		case w == "#":
			return nil
		case w == "/hindsight", (first || words[i-1] == "--") && (w == "hindsight" || w == "bin/hindsight"):
			args := []string{}
			for _, a := range words[i+1:] {
				if strings.ContainsAny(a[:1], "#|>&;") || strings.HasPrefix(a, "2>") {
					break
				}
				args = append(args, strings.Trim(strings.TrimRight(a, ");&"), `"'`))
			}
			return args
		}
		first = first && strings.Contains(w, "=")
	}
	return nil
}
