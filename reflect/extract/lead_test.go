package extract

import (
	"testing"

	"hindsight/store"
)

// What stands before a question states something; the question itself, a thought
// and the state of the moment don't.
func TestRulesBeforeAQuestion(t *testing.T) {
	for say, want := range map[string]string{
		"I live in Oslo, where do I vote?":                      "I live in Oslo",
		"I'm Nadia Brandt, I tune organs, which felt is best?":  "I'm Nadia Brandt, I tune organs",
		"My brother Kofi works at Lumen, what could I ask him?": "My brother Kofi works at Lumen",
		"Our broker listens on port 1883, how do I secure it?":  "Our broker listens on port 1883",
		"我住在昆明，去大理坐什么车？":                                        "我住在昆明",
		"我住在昆明，去大理怎么走，要几个小时？":                                   "我住在昆明",
		"我们的网关端口是８４４３，怎么续证书？":                                   "我们的网关端口是８４４３",
		"我儿子乐乐对牛奶过敏，早餐吃什么好？":                                    "我儿子乐乐对牛奶过敏",
		"我叫许诺，在苏州做古籍修复，浆糊怎么调？":                                  "我叫许诺，在苏州做古籍修复",

		"My server is down, what should I do?":           "",
		"If I live in Oslo, where do I vote?":            "",
		"Say I live in Oslo, where would I vote?":        "",
		"What do I do, I live in Oslo?":                  "",
		"Is it true that I live in Oslo, or is it not?":  "",
		"I left the oven on today, is that bad?":         "",
		"I switched the light off yesterday, who cares?": "",
		"我的程序报错了，怎么办？":                                   "",
		"我们的服务器是不是挂了？":                                   "",
		"假如我住在昆明，去大理坐什么车？":                               "",
		"今天天气怎么样？":                                       "",
		"今天去吃火锅，点什么好？":                                   "",
	} {
		res := Rules(talk("user: " + say))
		got := ""
		for _, c := range res.Candidates {
			got += c.Quote
		}
		if got != want {
			t.Errorf("%s: %q, want %q", say, got, want)
		}
	}
}

// What happened on a named day is an event, word for word with its date.
func TestRulesFindEvents(t *testing.T) {
	for say, want := range map[string]string{
		"Yesterday we switched the payroll system to Odoo, finally.": "Yesterday (2026-11-26) we switched the payroll system to Odoo, finally.",
		"We migrated to Talos last Friday.":                          "We migrated to Talos last Friday (2026-11-20).",
		"下周三我要去厦门做膝盖手术。":                                             "下周三（2026-12-02）我要去厦门做膝盖手术。",
		"我们上周五上线了新版结算。":                                              "我们上周五（2026-11-20）上线了新版结算。",
	} {
		m := talk("user: " + say)
		res := Rules(m)
		if len(res.Candidates) != 1 || res.Candidates[0].Type != store.EventType || res.Candidates[0].Text != want || res.Candidates[0].Confidence > 0.6 {
			t.Errorf("%s: %+v", say, res.Candidates)
		}
	}
}
