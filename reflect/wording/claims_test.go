package wording

import "testing"

func TestClaims(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"The backup runs at 2 pm.", "The backup runs at 14:00.", true},
		{"The gym opens at half past six.", "The gym opens at 6:30.", true},
		{"Due on 2026-04-07.", "Due on April 7th, 2026.", true},
		{"He runs 5 km.", "He runs five kilometres.", true},
		{"It takes half an hour.", "It takes 30 minutes.", true},
		{"She is thirty-four.", "She is 34 years old.", true},
		{"We meet twice a week.", "We meet two times each week.", true},
		{"I used to smoke.", "I stopped smoking.", true},
		{"I am used to smoke.", "I used to smoke.", false},
		{"He swims 2 km twice a week.", "He swims 2 miles twice a week.", false},
		{"In May we go.", "In June we go.", false},
		{"Due on 5 March.", "Due on 3 May.", false},
		{"It opens at 9 am.", "It opens at 9 pm.", false},
		{"Weekly on Monday.", "Monthly on Monday.", false},
		{"It costs 12 euros.", "It costs 12 dollars.", false},
		{"It is safe.", "It is unsafe.", false},
		{"The module is called ledger.", "The module ledger was renamed to journal.", false},
		{"备份下午两点跑", "备份14:00跑", true},
		{"每天九点一刻开会", "每天9:15开会", true},
		{"两斤苹果", "一公斤苹果", true},
		{"发票有150万行", "发票有一百五十万行", true},
		{"四月七号看牙", "4月7日看牙", true},
		{"周日不开门", "礼拜天不开门", true},
		{"每周一次", "每周一", false},
		{"下周一考试", "下周五考试", false},
		{"重三公斤", "重三斤", false},
		{"30秒超时", "30分钟超时", false},
		{"他住在杭州", "他以前住在杭州", false},
		{"配置在main.yaml", "配置在local.yaml", false},
	} {
		if got := SameClaims(c.a, c.b); got != c.same {
			t.Errorf("%s / %s: %v\n%+v\n%+v", c.a, c.b, got, ClaimsOf(c.a), ClaimsOf(c.b))
		}
	}
}

func TestReplaced(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"The bicycle in the yard is green.", "The bicycle in the yard is blue.", true},
		{"The price went up.", "The price went down.", true},
		{"我的领导是张敏。", "我的领导是李敏。", true},
		{"方向盘在左边", "方向盘在右边", true},
		{"The user lives in an old flat.", "The user lives in an old apartment.", false},
		{"I have two cats.", "I have 2 cats.", false},
		{"I commute by bike.", "The user cycles to work.", false},
		{"用户住在老城区", "用户住在老城区里", false},
	} {
		if got := Replaced(c.a, c.b); got != c.want {
			t.Errorf("%s / %s: %v", c.a, c.b, got)
		}
	}
}
