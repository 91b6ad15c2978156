package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"the of and 的 了 吗", nil},
		{"The deployments were failing", []string{"deploy", "fail"}},
		{"User's preferences", []string{"prefer"}},
		{"error E1234", []string{"error", "e1234", "1234"}},
		{"call api.v2 now", []string{"call", "api.v2", "api", "v2", "now"}},
		{"port-8080", []string{"port-8080", "port", "8080"}},
		{"go 1.26.3, at 10:30.", []string{"go", "1.26.3", "26", "10:30", "10", "30"}},
		{"getUserName()", []string{"getusername", "get", "name"}},
		{"well-known café C++ c#", []string{"well", "known", "café", "c++", "c#"}},
		{"ＦＵＬＬ　ｗｉｄｔｈ１２", []string{"full", "width12", "width", "12"}},
		{"登录接口504超时", []string{"登", "登录", "录", "录接", "接", "接口", "口", "504", "超", "超时", "时"}},
		{"上次那个接口的问题解决了吗", []string{"上", "上次", "次", "接", "接口", "口", "问", "问题", "题", "题解", "解", "解决", "决"}},
		{"我了解", []string{"了", "了解", "解"}},
		{"コーヒーが好き", []string{"コ", "コー", "ー", "ーヒ", "ヒ", "ヒー", "ー", "ーが", "が好", "好", "好き"}},
		{"커피", []string{"커", "커피", "피"}},
		{"ไทย", []string{"ไ", "ไท", "ท", "ทย", "ย"}},
		{"don't O’Brien's", []string{"obrien"}},
		{"\xff\xfe a\x00b", []string{"b"}},
	} {
		if diff := cmp.Diff(c.want, Terms(c.text)); diff != "" {
			t.Errorf("Terms(%q) (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestTokensSayWhereTheyStand(t *testing.T) {
	got := Tokens("port-8080 接口 down")
	want := []Token{{"port-8080", Word, 0}, {"port", Part, 0}, {"8080", Part, 0}, {"接", Char, 1}, {"接口", Bigram, 1}, {"口", Char, 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Tokens (-want +got):\n%s", diff)
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("User's port-8080, 上次那个接口 C++ \u0e01\u0e33 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, tok := range Tokens(s) {
			if tok.Text == "" {
				t.Fatalf("empty term in %q", s)
			}
			if tok.Unit < last {
				t.Fatalf("units go back in %q", s)
			}
			last = tok.Unit
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Terms("What was the error that the login endpoint gave us last Wednesday when we deployed api.v2?")
	}
}
