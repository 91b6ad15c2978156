package embedding

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T) *Builtin {
	t.Helper()
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func embed(t *testing.T, b *Builtin, texts ...string) [][]float32 {
	t.Helper()
	out, err := b.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestMeaningIsNearAcrossLanguages(t *testing.T) {
	b := open(t)
	v := embed(t, b,
		"My daughter is allergic to peanuts.",
		"我女儿对花生过敏。",
		"The deployment runs on port 8080.")
	if same, other := dot(v[0], v[1]), dot(v[0], v[2]); same < 0.6 || other > 0.3 {
		t.Errorf("the translation is at %.2f, another subject at %.2f", same, other)
	}
	if b.Dim() != len(v[0]) || b.Name() == "" {
		t.Errorf("%q has %d dimensions, the vector %d", b.Name(), b.Dim(), len(v[0]))
	}
}

func TestWarmDisturbsNobody(t *testing.T) {
	b := open(t)
	want := embed(t, b, "steady")
	var wg sync.WaitGroup
	wg.Go(func() { b.Warm(t.Context()) })
	for range 3 {
		if !cmp.Equal(want, embed(t, b, "steady")) {
			t.Error("another vector while it warms")
		}
	}
	wg.Wait()
}

func TestLongTextsAreReadInPart(t *testing.T) {
	b := open(t)
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 16)
	doc := embed(t, b, filler+"START", filler+"OTHER", "START "+filler)
	if diff := cmp.Diff(doc[0], doc[1]); diff != "" {
		t.Error("the end of a long document was read")
	}
	if cmp.Equal(doc[0], doc[2]) {
		t.Error("the beginning of a long document wasn't read")
	}
	question := func(text string) []float32 {
		v, err := b.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	plain := question(filler + filler)
	if cmp.Equal(plain, question("where? "+filler+filler)) || cmp.Equal(plain, question(filler+filler+"where?")) {
		t.Error("an end of a long question wasn't read")
	}
	if !cmp.Equal(question(filler+" one "+filler), question(filler+" two "+filler)) {
		t.Error("the middle of a long question was read")
	}
}

func TestManyTextsAreAsEachAlone(t *testing.T) {
	b := open(t)
	var texts []string
	for i := range 5 {
		texts = append(texts, strings.Repeat("word ", 30*i)+"end")
	}
	for i, v := range embed(t, b, texts...) {
		if c := dot(v, embed(t, b, texts[i])[0]); c < 0.99999 {
			t.Errorf("text %d: cosine %.6f", i, c)
		}
	}
	if v := embed(t, b); len(v) != 0 {
		t.Errorf("%d vectors of nothing", len(v))
	}
}

func TestCallersLeave(t *testing.T) {
	b := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed: %v", err)
	}
	if _, err := b.EmbedQuery(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("EmbedQuery: %v", err)
	}
	b.Warm(ctx)
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text       string
		head, tail int
		want       string
	}{
		{"short", 3, 2, "short"},
		{"abcdef", 2, 1, "ab f"},
		{"abcdef", 2, 0, "ab"},
		{"日本語日本語", 4, 4, "日 語"},
		{"\x80\x80\x80\x80", 1, 1, " "},
	} {
		if got := clip(c.text, c.head, c.tail); got != c.want {
			t.Errorf("clip(%q, %d, %d) is %q, not %q", c.text, c.head, c.tail, got, c.want)
		}
	}
}

func BenchmarkEmbedQuery(b *testing.B) {
	e, err := Open()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.EmbedQuery(b.Context(), "what did I tell you about my sister's allergy?"); err != nil {
			b.Fatal(err)
		}
	}
}
