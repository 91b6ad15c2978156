package explain

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestEveryTextIsInBothLanguages(t *testing.T) {
	c, err := Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	han := regexp.MustCompile(`\p{Han}`)
	for key, pair := range c {
		if strings.TrimSpace(pair[0]) == "" || han.MatchString(pair[0]) {
			t.Errorf("%s: English is %q", key, pair[0])
		}
		if !han.MatchString(pair[1]) {
			t.Errorf("%s: Chinese is %q", key, pair[1])
		}
	}
}

// The reasons for dropping a statement are reflection's; none is left unsaid.
func TestEveryReasonOfReflectionIsSaid(t *testing.T) {
	source, err := os.ReadFile("../../../reflect/extract/extract.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(source), "Noise ")
	block, _, _ = strings.Cut(block, "\n)")
	words := regexp.MustCompile(`= "([a-z_]+)"`).FindAllStringSubmatch("Noise "+block, -1)
	if len(words) < 15 {
		t.Fatalf("found %d reasons in reflection's source", len(words))
	}
	for _, w := range words {
		if English.Dropped(w[1]) == w[1] || Chinese.Dropped(w[1]) == w[1] {
			t.Errorf("nothing says what %q means", w[1])
		}
	}
}

func TestTell(t *testing.T) {
	w := &store.Why{Exchange: "x1", Status: "injected", Degraded: "words", Considered: []store.Candidate{
		{ID: "a", Verdict: "gate", Parts: map[string]float64{"final": 0.9, "gate": 0.1}},
		{ID: "b", Verdict: "chosen", Parts: map[string]float64{"final": 0.5, "zest": 1, "words": 0.4}},
		{ID: "c", Verdict: "a new word", Parts: map[string]float64{"final": 0.95}},
	}}
	s := Tell(w, English)
	var got []string
	for _, l := range s.Lines {
		got = append(got, l.ID+": "+l.Because)
	}
	want := []string{"b: Given to the model.", "c: a new word", "a: It doesn't fit the turn's words well enough."}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.Header != "injected;degraded=words" || !strings.HasSuffix(s.Headline, "The search went by words alone.") {
		t.Errorf("header %q, headline %q", s.Header, s.Headline)
	}
	var names []string
	for _, p := range s.Lines[0].Parts {
		names = append(names, p.Name)
	}
	if d := cmp.Diff([]string{"final", "words", "zest"}, names); d != "" {
		t.Error(d)
	}
	if zh := Tell(w, Chinese); zh.Headline != "已在这一轮的话前面加入记忆。这次只按词语检索。" {
		t.Errorf("in Chinese: %q", zh.Headline)
	}
}

func TestPreferred(t *testing.T) {
	for header, want := range map[string]Lang{
		"": English, "zh-CN,zh;q=0.9,en;q=0.8": Chinese, "en-GB,zh;q=0.5": English, "fr,zh-TW;q=0.8,en;q=0.2": Chinese,
		"de": English, "zh-Hant-HK": Chinese, ";;;": English,
	} {
		if got := Preferred(header); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
	for locale, want := range map[string]Lang{"zh_CN.UTF-8": Chinese, "zh": Chinese, "C": English, "en_US.UTF-8": English, "": English} {
		if got := Locale(locale); got != want {
			t.Errorf("locale %q: %s, want %s", locale, got, want)
		}
	}
}
