package wording

import "testing"

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		a, b                      string
		permuted, inverted, names bool
	}{
		{"I prefer tabs over spaces.", "I prefer spaces over tabs.", true, true, false},
		{"Anna manages Bob.", "Bob manages Anna.", true, true, false},
		{"我比你高", "你比我高", true, true, false},
		{"比起空格我更喜欢制表符", "比起制表符我更喜欢空格", true, true, false},
		{"The backup goes from disk to tape every night.", "The backup goes from tape to disk every single night.", false, true, false},
		{"小王把书给了小李", "小李把书给了小王", true, true, false},
		{"Copy it from port 80 to port 443.", "Copy it from port 443 to port 80.", true, true, true},
		{"I prefer short answers.", "i prefer  short answers!", false, false, false},
		{"I prefer short answers.", "I prefer short direct answers.", false, false, false},
		{"用户喜欢简短的回答", "用户喜欢简短回答", false, false, false},
	} {
		if got := Permuted(c.a, c.b); got != c.permuted {
			t.Errorf("%s / %s: permuted %v", c.a, c.b, got)
		}
		if got := Inverted(c.a, c.b); got != c.inverted {
			t.Errorf("%s / %s: inverted %v", c.a, c.b, got)
		}
		if got := NamesInverted(c.a, c.b); got != c.names {
			t.Errorf("%s / %s: names inverted %v", c.a, c.b, got)
		}
	}
}

func TestCompares(t *testing.T) {
	for text, want := range map[string]Comparison{
		"I prefer tabs over spaces.":                      {Over: "tabs", Under: "spaces"},
		"The user prefers to use tabs rather than spaces": {Over: "tabs", Under: "spaces"},
		"These days I like tea more than coffee.":         {Over: "tea", Under: "coffee"},
		"I'd rather use Vim than Emacs":                   {Over: "vim", Under: "emacs"},
		"We use Postgres instead of MySQL.":               {Over: "postgres", Under: "mysql"},
		"I prefer tabs over spaces in Go.":                {Over: "tabs", Under: "spaces", Where: "in go"},
		"I prefer tea.":                                   {Over: "tea"},
		"比起空格我更喜欢制表符。":                                    {Over: "制表符", Under: "空格"},
		"比起空格，我更喜欢用制表符":                                   {Over: "制表符", Under: "空格"},
		"和咖啡相比，我更喜欢喝茶":                                    {Over: "茶", Under: "咖啡"},
		"我更喜欢制表符而不是空格":                                    {Over: "制表符", Under: "空格"},
		"我喜欢茶胜过咖啡":                                        {Over: "茶", Under: "咖啡"},
		"我宁愿喝茶也不喝咖啡":                                      {Over: "茶", Under: "咖啡"},
		"我用 Vim 代替 Emacs":                                 {Over: "vim", Under: "emacs"},
	} {
		got, ok := Compares(text)
		if !ok || got.Over != want.Over || got.Under != want.Under || got.Where != want.Where {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{"I live in Lisbon.", "My badge is over there.", "我住在杭州", "Do I prefer tabs over spaces?"} {
		if got, ok := Compares(text); ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestAgainst(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"I prefer tabs over spaces.", "I prefer spaces over tabs.", true},
		{"I prefer tabs over spaces.", "I like spaces more than tabs", true},
		{"I prefer tabs over spaces.", "I prefer spaces.", true},
		{"I prefer tabs over spaces.", "I prefer spaces over newlines.", false},
		{"I prefer tabs over spaces in Go.", "I prefer spaces over tabs in Python.", false},
		{"I prefer going to Rome.", "I prefer Rome.", false},
		{"比起空格我更喜欢制表符", "我更喜欢空格而不是制表符", true},
		{"比起空格我更喜欢制表符", "比起空格我更喜欢换行", false},
	} {
		x, _ := Compares(c.a)
		y, _ := Compares(c.b)
		if got := x.Against(y); got != c.want || y.Against(x) != got {
			t.Errorf("%s / %s: %v (%+v, %+v)", c.a, c.b, got, x, y)
		}
	}
}

func TestDenials(t *testing.T) {
	for text, want := range map[string]struct{ denies, ended bool }{
		"I no longer live in Lisbon.":        {true, true},
		"I am not allergic to nuts any more": {true, true},
		"I don't like coffee.":               {true, false},
		"I used to live in Lisbon.":          {true, true},
		"I'm used to coffee.":                {false, false},
		"My badge is B4412, not B4411.":      {false, false},
		"My badge is not B4411 but B4412.":   {false, false},
		"I moved away from Lisbon.":          {true, true},
		"我不喜欢咖啡了":                            {true, true},
		"我对花生不过敏了。":                          {true, true},
		"我从杭州搬走了。":                           {true, true},
		"我的工牌号是4412，不是4411。":                 {false, false},
		"我喜欢咖啡，不过更喜欢茶":                       {false, false},
		"我搬到成都了":                             {false, false},
	} {
		if got := Denies(text); got != want.denies {
			t.Errorf("%s: denies %v", text, got)
		}
		if got := Denies(text) && Ended(text); got != want.ended {
			t.Errorf("%s: ended %v", text, got)
		}
	}
	for text, not := range map[string]string{
		"My badge is B4412, not B4411.": "B4411", "My badge is B4412 (not B4411)": "B4411", "My badge is not B4411 but B4412.": "B4411",
		"我的工牌号是4412，不是4411。": "4411", "我的工牌号不是4411，是4412": "4411", "我住在杭州": "",
	} {
		if got := Contrast(text); got != not {
			t.Errorf("%s: not %q, want %q", text, got, not)
		}
	}
}

func TestLostDenial(t *testing.T) {
	for _, c := range []struct {
		quote, text string
		want        bool
	}{
		{"I can't stand mushrooms and I'm vegetarian.", "The user is vegetarian and dislikes mushrooms.", false},
		{"I can't stand mushrooms and I'm vegetarian.", "The user is vegetarian and likes mushrooms.", true},
		{"我右膝做过手术，不能跑步", "用户右膝做过手术，可以跑步。", true},
		{"我们组用飞书不用钉钉了", "用户小组使用飞书，不再使用钉钉。", false},
		{"我不喜欢咖啡了", "用户喜欢咖啡", true},
		{"我不喜欢咖啡了", "用户不再喜欢咖啡", false},
		{"我不喜欢咖啡了，但喜欢茶", "用户喜欢茶", false},
		{"I no longer live in Lisbon", "The user lives in Lisbon.", true},
		{"I don't eat meat, but I eat fish", "The user eats fish.", false},
		{"my badge is B4412, not B4411", "The user's badge is B4412.", false},
		{"I live in Oslo", "The user lives in Oslo.", false},
	} {
		if got := LostDenial(c.quote, c.text, c.quote); got != c.want {
			t.Errorf("%s / %s: %v", c.quote, c.text, got)
		}
	}
}

func TestRearranged(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"In the mornings I walk.", "I walk in the mornings.", true},
		{"When it rains, the user takes the bus.", "The user takes the bus when it rains.", true},
		{"The user speaks German, Polish and English.", "The user speaks English, German and Polish.", true},
		{"The user has a son and a daughter.", "The user has a daughter and a son.", true},
		{"晚饭家里多半煮米饭。", "家里晚饭多半煮米饭。", true},
		{"用户会说德语、波兰语和英语。", "用户会说英语、德语和波兰语。", true},
		{"Anna manages Bob.", "Bob manages Anna.", false},
		{"Anna and Bob manage Carl.", "Carl and Bob manage Anna.", false},
		{"I prefer tabs over spaces.", "I prefer spaces over tabs.", false},
		{"I lock the door before I set the alarm.", "I set the alarm before I lock the door.", false},
		{"小王把书给了小李", "小李把书给了小王", false},
		{"我比你高", "你比我高", false},
		{"每天晚上由仓库把货物送到商店门口", "每天晚上由商店把货物送到仓库门口", false},
	} {
		if got := Rearranged(c.a, c.b); got != c.want {
			t.Errorf("%s / %s: %v", c.a, c.b, got)
		}
	}
}
