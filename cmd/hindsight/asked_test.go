package main

import (
	"strings"
	"testing"
)

// What the user asks to be remembered is kept, whatever the thresholds and
// whoever reflects, and the next session knows it.
func TestAskedToRemember(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ words, question, want string }{
		"English":             {"remember this: my badge is 4411", "What is my badge?", "4411"},
		"at the end":          {"My locker code is 7720, please remember that.", "What is my locker code?", "7720"},
		"Chinese":             {"记住：我的工牌号是4411", "我的工牌号是多少？", "4411"},
		"Chinese, a request":  {"请记住，我的车牌是沪A88888。", "我的车牌是多少？", "沪A88888"},
		"of no other pattern": {"Remember: the wifi at the cabin is slow after nine.", "How is the wifi at the cabin?", "slow after nine"},
	} {
		for _, model := range []string{"", "rules"} {
			t.Run(strings.TrimSpace(name+" "+model), func(t *testing.T) {
				oneInThree(t)
				w := newWorld(t)
				if model != "" {
					w.env["HINDSIGHT_REFLECT_MODEL"] = model
					w.restart()
				}
				kept, dropped := w.learn(c.words)
				if len(kept) != 1 || !strings.Contains(kept[0].Text, c.want) {
					t.Fatalf("kept %q, dropped %+v", texts(kept), dropped)
				}
				if all := w.memories("local"); len(all) != 1 {
					t.Errorf("memories: %q", texts(all))
				}
				if r := w.conversation().say(c.question); r.memory() != "injected" || !strings.Contains(r.text(), c.want) {
					t.Errorf("%s: %s", r.memory(), r.text())
				}
			})
		}
	}
}

// What the user asks to be left out is left out, and so is a key.
func TestAskedNotToRemember(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for _, words := range []string{
		"My name is Ann. Don't remember this.", "别记住这个。我叫小明。", "Remember this: my api key is sk-proj-abcdefghij0123456789ABCDEFGHIJ",
	} {
		w := newWorld(t)
		if kept, dropped := w.learn(words); len(kept) != 0 || len(dropped) == 0 {
			t.Errorf("%s: kept %q, dropped %+v", words, texts(kept), dropped)
		}
	}
}
