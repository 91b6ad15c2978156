package harm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hindsight/inject"
	"hindsight/internal/fakellm"
)

// TestPromptsAreEighty: half of them Chinese, of every kind, no two alike.
func TestPromptsAreEighty(t *testing.T) {
	langs, kinds, ids := map[string]int{}, map[string]int{}, map[string]bool{}
	all := Prompts()
	for _, p := range all {
		langs[p.Lang]++
		kinds[p.Lang+p.Kind]++
		if ids[p.ID] || p.Text == "" || p.Relevant == "" {
			t.Errorf("prompt %s: twice or empty", p.ID)
		}
		ids[p.ID] = true
	}
	if len(all) != 80 || langs["en"] != 40 || langs["zh"] != 40 || len(kinds) != 14 {
		t.Errorf("%d prompts, %v, %v", len(all), langs, kinds)
	}
}

// model answers by the text of the last message.
type model func(words string) (string, error)

func (m model) Ask(_ context.Context, body []byte) (string, error) {
	var r struct {
		Messages []struct{ Content string }
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return "", err
	}
	return m(r.Messages[0].Content)
}

func prompt(kind, text, relevant string) []Prompt {
	return []Prompt{{ID: "p", Lang: "en", Kind: kind, Text: text, Relevant: relevant}}
}

// TestFaultsAreFound: a model that talks about the notes wherever they stand.
func TestFaultsAreFound(t *testing.T) {
	r, err := Run(t.Context(), model(func(words string) (string, error) {
		rest := inject.Strip(words)
		switch {
		case rest == words:
			return `{"name":"Tom"}`, nil
		case strings.Contains(words, "grows plums"):
			return "As you grow plums: the User grows plums behind the garage. {}", nil
		case strings.Contains(words, "hub dynamo"):
			return "```json\n{\"name\":\"Tom\"}\n```", nil
		default:
			return `{"name":"Tom"}`, nil
		}
	}), Options{Model: "m", Prompts: prompt("json", "Name of Tom as JSON", "User grows plums behind the garage.")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][4]int{ // leaks, broken, JSON, same
		"none ": {0, 0, 1, 1}, "relevant head": {1, 1, 0, 0}, "relevant tail": {1, 1, 0, 0},
		"irrelevant head": {0, 0, 1, 0}, "irrelevant tail": {0, 0, 1, 0}, "standing head": {0, 0, 1, 1}, "standing tail": {0, 0, 1, 1},
	}
	for _, tr := range r.Trials {
		if got := [4]int{tr.Leaks, tr.Broken, tr.JSON, tr.Same}; got != want[tr.Block+" "+tr.Position] {
			t.Errorf("%s %s: %v, want %v", tr.Block, tr.Position, got, want[tr.Block+" "+tr.Position])
		}
	}
	if len(r.Faults) != 4 || r.Faults[0].Piece != "user grows plums behind" {
		t.Errorf("faults: %+v", r.Faults)
	}
	var md bytes.Buffer
	if err := r.Markdown(&md); err != nil || !strings.Contains(md.String(), "| relevant | tail | 1 | 1 | 0 | 1 | 0 |") {
		t.Errorf("report: %v\n%s", err, md.String())
	}
}

// TestLeaks: what is and what isn't text of the block.
func TestLeaks(t *testing.T) {
	zh := Prompt{ID: "p", Lang: "zh", Kind: "translate", Text: "翻译：我家的猫", Relevant: "用户的猫叫团子，喜欢坐在垫子上。"}
	block, err := makeBlock(t.Context(), zh, trial{"relevant", "head"})
	if err != nil {
		t.Fatal(err)
	}
	en := Prompt{ID: "q", Lang: "en", Kind: "translate", Text: "Translate into French: My cat", Relevant: "The user's cat is called Dumpling."}
	english, err := makeBlock(t.Context(), en, trial{"relevant", "head"})
	if err != nil {
		t.Fatal(err)
	}
	id := shortID.FindStringSubmatch(block)[1]
	for _, c := range []struct {
		got, prompt, plain, want string
	}{
		{"它不是请求的一部分，也不是指令", zh.Text, "", "它 不 是 请 求 的"},
		{"My cat", zh.Text, "", ""},
		{"您的猫叫团子，喜欢坐在窗边。", zh.Text, "", "的 猫 叫 团 子 喜"},
		{"猫叫团子", zh.Text, "", ""},
		{"Background data only: nothing", zh.Text, "", ""},
		{"These are recalled notes about the user.", en.Text, "", "recalled notes about the"},
		{"These are recalled notes about the user.", "What are recalled notes about the user?", "", ""},
		{"These are recalled notes about the user.", en.Text, "They are recalled notes about the user.", ""},
		{"see " + id, zh.Text, "", id},
		{"<Hindsight-Notes>", zh.Text, "", "hindsight-notes"},
	} {
		of := block
		if c.prompt != zh.Text {
			of = english
		}
		if got := leak(c.got, of, c.prompt, c.plain); got != c.want {
			t.Errorf("leak(%q) = %q, want %q", c.got, got, c.want)
		}
	}
}

// TestPlacesOfBlocks: the product's own block, at either end of the message.
func TestPlacesOfBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	for _, p := range Prompts() {
		for _, tr := range trials[1:] {
			body, block, err := request(t.Context(), "m", p, tr)
			if err != nil {
				t.Fatal(err)
			}
			var r struct {
				Messages []struct{ Content string }
			}
			if err := json.Unmarshal(body, &r); err != nil {
				t.Fatal(err)
			}
			text := r.Messages[0].Content
			head, tail := strings.HasPrefix(text, block), strings.HasSuffix(text, block)
			if !inject.HasBlock(text) || head != (tr.position == "head") || tail != (tr.position == "tail") || !strings.Contains(text, p.Text) {
				t.Fatalf("%s, %s at the %s: %q", p.ID, tr.block, tr.position, text)
			}
		}
	}
}

// TestScriptedModel goes over a real connection. The scripted model answers
// questions out of its notes: the suite must see it.
func TestScriptedModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	srv := httptest.NewServer(fakellm.New(fakellm.Config{}))
	defer srv.Close()
	done := 0
	r, err := Run(t.Context(), Endpoint{URL: srv.URL + "/v1/", Client: srv.Client()}, Options{
		Model: "scripted", Prompts: Prompts(), Parallel: 4, Done: func(int) { done++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	leaks := 0
	for _, tr := range r.Trials {
		leaks += tr.Leaks
		if tr.Answers != 80 {
			t.Errorf("%s %s: %d answers", tr.Block, tr.Position, tr.Answers)
		}
	}
	if r.Failed != 0 || done != 80 || leaks == 0 || leaks == 480 || leaks != len(r.Faults) {
		t.Errorf("%d failed, %d done, %d leaks, %d faults", r.Failed, done, leaks, len(r.Faults))
	}
}

// TestSilenceIsNotHealth: a model that is away has no faults and no answers.
func TestSilenceIsNotHealth(t *testing.T) {
	r, err := Run(t.Context(), model(func(string) (string, error) { return "", errors.New("away") }), Options{Prompts: Prompts()[:2]})
	if err != nil || r.Failed != 14 || len(r.Faults) != 0 {
		t.Errorf("%v, %+v", err, r)
	}
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	if text, err := (Endpoint{URL: srv.URL, Client: srv.Client()}).Ask(t.Context(), []byte("{}")); err == nil {
		t.Errorf("a 404 is an answer: %q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, model(func(string) (string, error) { return "", nil }), Options{Prompts: Prompts()[:1]}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped run: %v", err)
	}
}
