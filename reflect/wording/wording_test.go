package wording

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNumbers(t *testing.T) {
	for text, want := range map[string][]string{
		"port 8091, version 1.25.0":       {"1.25.0", "8091"},
		"8,000 tokens and 12,500.5 euros": {"12500.5", "8000"},
		"two cats, twenty-five dogs":      {"2", "25"},
		"three hundred and four":          {"304"},
		"one of these, 10:30":             {"10:30"},
		"三百元":                             {"300"},
		"一百二十个":                           {"120"},
		"两个孩子":                            {"2"},
		"两万三千五百元":                         {"23500"},
		"二〇二六年":                           {"2026"},
		"上周三开会":                           {"3"},
		"十五岁":                             {"15"},
		"端口８０９１":                          {"8091"},
		"一直十分喜欢三明治，万一，千万别": nil,
	} {
		if diff := cmp.Diff(want, Numbers(text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		text, evidence string
		numbers, names []string
	}{
		{"the user has 2 cats", "I have two cats", nil, nil},
		{"用户有2只猫", "我有两只猫", nil, nil},
		{"the user has three cats", "我有三只猫", nil, nil},
		{"one cat", "a cat", nil, nil},
		{"port 8091", "port 8090", []string{"8091"}, nil},
		{"The user works with Anna in Berlin.", "i work with anna in Munich", nil, []string{"berlin"}},
		{"Anna is the boss.", "Bella is the boss", nil, []string{"anna"}},
		{"edit /etc/hosts with sudo", "edit /etc/hosts", nil, nil},
		{"set max_conn to 4", "set max_pool to 4", nil, []string{"max_conn"}},
		{"use zlib 1.3.1", "use zlib 1.3.2", []string{"1.3.1"}, nil},
		{"用户叫王小红", "我叫王小明", nil, []string{"王小红"}},
		{"用户住在苏州", "我住在杭州", nil, []string{"苏州"}},
	} {
		if diff := cmp.Diff(c.numbers, nilled(MissingNumbers(c.text, c.evidence))); diff != "" {
			t.Errorf("%s / %s: numbers %s", c.text, c.evidence, diff)
		}
		if diff := cmp.Diff(c.names, nilled(MissingNames(c.text, c.evidence))); diff != "" {
			t.Errorf("%s / %s: names %s", c.text, c.evidence, diff)
		}
	}
}

func nilled(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}

func TestSameClaims(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"The port is 8090.", "the port is 8090", true},
		{"The port is 8090.", "The port is 8091.", false},
		{"I eat meat.", "I don't eat meat.", false},
		{"我吃香菜", "我不吃香菜", false},
		{"我特别喜欢茶", "我喜欢茶", true},
		{"I met Anna today.", "I met Bella today.", false},
		{"两个女儿", "2个女儿", true},
		{"用户住在杭州", "用户住在苏州", false},
	} {
		if got := SameClaims(c.a, c.b); got != c.same {
			t.Errorf("%s / %s: %v", c.a, c.b, got)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		least float64
		most  float64
	}{
		{"I prefer short answers.", "I  prefer short answers", 1, 1},
		{"The user prefers short answers.", "The user prefers short answers!", 1, 1},
		{"The user lives in Lisbon.", "The user owns a red bike.", 0, 0.4},
		{"用户喜欢简短的回答", "用户喜欢简短的回答。", 1, 1},
		{"用户喜欢简短的回答", "用户住在杭州", 0, 0.3},
	} {
		if got := Near(c.a, c.b); got < c.least || got > c.most {
			t.Errorf("%s / %s: %.2f", c.a, c.b, got)
		}
	}
	if Masked("The port is 8090.") != Masked("the port is 8091") || Masked("the port is 1") == Masked("the host is 1") {
		t.Error("masks")
	}
}

func TestContainsFoldsOnlyTheForm(t *testing.T) {
	if !Contains("He said: “Port ８０９１ 端口”", `port 8091端口`) {
		t.Error("width, quotes and spaces aren't folded")
	}
	if Contains("port 8091", "port 8092") || Contains("anything", "") {
		t.Error("contains too much")
	}
}

func TestLanguage(t *testing.T) {
	for text, want := range map[string]bool{"我用 PostgreSQL 和 Redis": true, "The word 茶 means tea in Chinese": false, "你好": true, "hello": false, "42": false} {
		if Han(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
