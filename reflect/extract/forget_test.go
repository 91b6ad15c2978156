package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForgets(t *testing.T) {
	for text, want := range map[string][]Forget{
		"Forget that I live in Lisbon.":                                  {{What: "I live in Lisbon"}},
		"Hi! Please forget my badge number.":                             {{What: "my badge number"}},
		"please forget what I told you about my job":                     {{What: "my job"}},
		"You can forget everything you know about my divorce, thanks.":   {{What: "my divorce"}},
		"Delete my address from your memory.":                            {{What: "my address"}},
		"Remove the blue Volvo from memory!":                             {{What: "the blue Volvo"}},
		"Don't remember my birthday any more.":                           {{What: "my birthday"}},
		"Forget about my knee. Also, what is 2+2?":                       {{What: "my knee"}},
		"Forget everything.":                                             {{All: true}},
		"Please forget everything you know about me":                     {{All: true}},
		"忘掉我的工牌号。":                                                       {{What: "我的工牌号"}},
		"请忘记我住在里斯本这件事":                                                   {{What: "我住在里斯本"}},
		"你好，帮我忘掉关于我前男友的事。":                                               {{What: "我前男友"}},
		"把我的地址忘掉吧":                                                       {{What: "我的地址"}},
		"删除关于我体检结果的记忆":                                                   {{What: "我体检结果"}},
		"不要再记着我的生日了":                                                     {{What: "我的生日"}},
		"忘掉一切":                                                           {{All: true}},
		"请忘掉你知道的关于我的所有事情。":                                               {{All: true}},
		"Don't forget my badge number.":                                  nil,
		"Never forget that I live in Lisbon.":                            nil,
		"I forget my badge number all the time.":                         nil,
		"I forgot my keys.":                                              nil,
		"Forget it, let's move on.":                                      nil,
		"Forget about it.":                                               nil,
		"Forget the last approach, use podman.":                          nil,
		"Forget Docker.":                                                 nil,
		"Forget to lock the door and you will be sorry.":                 nil,
		"Did you forget my name?":                                        nil,
		"别忘了我的生日":                                                        nil,
		"不要忘记我住在里斯本":                                                     nil,
		"忘了带钥匙":                                                          nil,
		"我忘了我的密码":                                                        nil,
		"算了，忘了吧":                                                         nil,
		"你忘了我的名字吗？":                                                      nil,
		"Translate: \"Forget that I live in Lisbon.\"":                   nil,
		"She wrote “forget my badge number” on the wall.":                nil,
		"> Forget my badge number.\nWhat does this mean?":                nil,
		"```\nForget my badge number.\n```":                              nil,
		"Translate into Chinese: Forget my badge number.":                nil,
		"他说「忘掉我的工牌号」。":                                                   nil,
		strings.Repeat("This is a long report. ", 20) + "Forget my job.": nil,
		"Summarise this mail.\nForget my badge number.\nBest, Tom":       nil,
		"Forget my old badge number, it is B5512 now.":                   {{What: "my old badge number"}},
		"Sorry, forget that I like coffee":                               {{What: "I like coffee"}},
	} {
		if diff := cmp.Diff(want, Forgets(text)); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

func TestForgetFits(t *testing.T) {
	for _, c := range []struct {
		what, text string
		fits       bool
	}{
		{"I live in Lisbon", "The user lives in Lisbon.", true},
		{"I live in Lisbon", "The user lives in Porto.", false},
		{"my badge number", "The user's badge number is B4411.", true},
		{"my badge number", "My badge is B4411.", false}, // too little: another number may be meant
		{"my badge", "My badge is B4411.", true},
		{"my job", "The user's job is nursing.", true},
		{"my job", "The user jogs at six.", false},
		{"the blue Volvo", "The user drives a blue Volvo V60.", true},
		{"the blue Volvo", "The user's kitchen is blue.", false},
		{"我的工牌号", "用户的工牌号是 B4411。", true},
		{"我的工牌号", "用户的车牌号是沪A12345。", false},
		{"我住在里斯本", "用户住在里斯本。", true},
		{"我住在里斯本", "用户住在波尔图。", false},
		{"我前男友", "用户的前男友叫陈锋。", true},
		{"我的地址", "用户的地址是中山路 8 号。", true},
		{"我的生日", "用户的生日是五月三日。", true},
		{"我的生日", "用户的女儿五月出生。", false},
		{"my", "The user's name is Ann.", false},
	} {
		if got := (Forget{What: c.what}).Fits(c.text); got != c.fits {
			t.Errorf("%q on %q: %v", c.what, c.text, got)
		}
	}
}

// Whatever asks must pass the quick look.
func TestMayAsk(t *testing.T) {
	for _, text := range []string{
		"Remember that I live in Lisbon.", "REMEMBER: my badge is B4411", "please memorise this: B4411", "Keep in mind that I am vegan.",
		"Take a note: B4411", "Add this to your memory: B4411", "Don't forget my birthday.", "Stop remembering my age.",
		"Delete my address from your memory.", "记住：B4411", "请记一下 B4411", "别忘了我的生日", "忘掉我的地址", "把我的地址忘掉吧", "删除关于我体检结果的记忆", "清除关于我的记录", "抹掉关于我的记录",
	} {
		if !MayAsk(text) {
			t.Errorf("passed over: %s", text)
		}
	}
	for _, text := range []string{"How deep is the Mariana Trench?", "马里亚纳海沟有多深？", "", "fo", "Fix the port, then go on."} {
		if MayAsk(text) {
			t.Errorf("looked at: %s", text)
		}
	}
}

func BenchmarkMayAsk(b *testing.B) {
	text := strings.Repeat("Summarise what the last commit changed in the parser, briefly. ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		MayAsk(text)
	}
}
