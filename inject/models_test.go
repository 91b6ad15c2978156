package inject

import (
	"strings"
	"testing"

	"hindsight/store"
)

func TestWhatAModelsNameTells(t *testing.T) {
	m := newModels(nil)
	for _, c := range []struct {
		name    string
		small   bool
		context int
	}{
		{"gpt-4", false, 8192},
		{"gpt-4o", false, 0},
		{"gpt-4-32k", false, 32 << 10},
		{"gpt-4.1-mini", false, 0},
		{"gpt-3.5-turbo", false, 16385},
		{"claude-sonnet-4-5", false, 0},
		{"llama3.2:3b", true, 0},
		{"meta-llama/Meta-Llama-3-8B-Instruct", false, 8192},
		{"llama3.1:8b", false, 0},
		{"Qwen/Qwen2.5-0.5B-Instruct", true, 32768},
		{"qwen3-30b-a3b", false, 0},
		{"qwen3:4b", true, 0},
		{"gemma3n:e2b", true, 0},
		{"gemma-2-2b-it", true, 8192},
		{"phi-3-mini-4k-instruct", false, 4 << 10},
		{"moonshot-v1-8k", false, 8 << 10},
		{"model-v2.5k", false, 0},
		{"scripted-1", false, 0},
		{"", false, 0},
	} {
		name := strings.ToLower(c.name)
		if small, context := m.small(name), m.context(name); small != c.small || context != c.context {
			t.Errorf("%q: small %v, context %d; want %v, %d", c.name, small, context, c.small, c.context)
		}
	}
}

func TestProfileOfTheMostSpecificPattern(t *testing.T) {
	m := newModels(map[string]Profile{"*": {TopK: 9}, "*:3b": {TopK: 1}, "llama*:3b": {TopK: 2, Carried: 500, Gate: 2}, "Exact": {Context: 4000}})
	cfg := Config{TopK: 5, Tokens: 800, Carried: 2400, Gate: 1.5}
	for _, c := range []struct {
		model string
		want  Config
	}{
		{"anything", Config{TopK: 9, Tokens: 800, Carried: 2400, Gate: 1.5}},
		{"gpt-4", Config{TopK: 9, Tokens: 800, Carried: 409, Gate: 1.5}},
		{"phi:3b", Config{TopK: 1, Tokens: 800, Carried: 2400, Gate: 1.5}},
		{"llama3.2:3B", Config{TopK: 2, Tokens: 800, Carried: 500, Gate: 3}},
		{"exact", Config{TopK: 5, Tokens: 800, Carried: 200, Gate: 1.5}},
	} {
		got := m.bounds(cfg, c.model)
		if got.TopK != c.want.TopK || got.Tokens != c.want.Tokens || got.Carried != c.want.Carried || got.Gate != c.want.Gate {
			t.Errorf("%s: %+v, want %+v", c.model, got, c.want)
		}
	}
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"a*b*c", "aXbYc", true}, {"a*b*c", "abc", true}, {"a*b*c", "acb", false}, {"*mini*", "gpt-mini", true}, {"a", "ab", false}, {"ab*b", "ab", false}} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q fits %q: %v", c.pattern, c.name, got)
		}
	}
}

// The label is the block's own when nothing asks for ids: prompt caches of
// running conversations hold it.
func TestLabelWithoutCitation(t *testing.T) {
	d := &disk{}
	facts(d)
	c := talk("s", "what is my dog called?")
	plain := d.engine(t, Config{}).Plan(t.Context(), c)
	if !strings.Contains(plain.Blocks[0].Text, "\n"+label) {
		t.Errorf("the label changed:\n%s", plain.Blocks[0].Text)
	}
	cites := d.engine(t, Config{Cite: true}).Plan(t.Context(), c)
	if got, want := cites.Blocks[0].Text, plain.Blocks[0].Text; strings.Contains(got, "Don't mention") || len(got) == len(want) {
		t.Errorf("with citation:\n%s", got)
	}
	if n := store.Tokens(citeLabel); n > store.Tokens(label)+10 {
		t.Errorf("the label that asks for ids has %d tokens", n)
	}
}

// A label speaks the language of the words that it stands beside.
func TestLabelsLanguage(t *testing.T) {
	for words, want := range map[string]string{
		"what is my dog called?": label, "我的狗叫什么名字？": labelZh, "我的 dog 叫什么？": labelZh, "what does 狗 mean in English": label, "": label,
	} {
		if got := labelFor(words, false); got != want {
			t.Errorf("%q: %s", words, got)
		}
	}
	d := &disk{}
	facts(d)
	d.put(fact("zh", "用户的狗叫团团。"))
	plan := d.engine(t, Config{}).Plan(t.Context(), talk("s", "我的狗叫什么名字？"))
	if len(plan.Blocks) != 1 || !strings.Contains(plan.Blocks[0].Text, "\n"+labelZh) {
		t.Errorf("%+v", plan.Blocks)
	}
}
