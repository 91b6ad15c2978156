package extract

import "testing"

func TestReplaces(t *testing.T) {
	for _, c := range []struct {
		earlier, later string
		want           bool
	}{
		// One at a time.
		{"I live in Lisbon.", "I moved to Oslo.", true},
		{"I live in Lisbon with my wife.", "I've recently moved from Lisbon to Oslo.", true},
		{"I'm based in Lisbon.", "I live in Oslo.", true},
		{"I live in Lisbon.", "i now live in oslo", true},
		{"I live in Lisbon.", "I moved to Postgres 16.", false},
		{"I live in Lisbon.", "I moved to Linux.", false},
		{"I live in Lisbon.", "My wife moved to Oslo.", false},
		{"我住在杭州。", "我上个月搬到了成都。", true},
		{"我住在杭州。", "我刚搬到成都", true},
		{"我住在杭州。", "我想搬到成都", false},
		{"我住在杭州。", "我老婆住在成都。", false},
		{"Call me Bo.", "Please call me Al.", true},
		{"叫我阿林就好。", "叫我小林吧", true},

		// Corrections.
		{"My badge is B4411.", "Sorry, my badge is B4412.", true},
		{"My badge is B4411.", "My badge is B4412, not B4411.", true},
		{"My badge is B4411.", "My badge is not B4411 but B4412.", true},
		{"My badge is B4411.", "My badge changed to B4412.", true},
		{"我的工牌号是4411。", "我的工牌号改成4412了", true},
		{"我的工牌号是4411。", "说错了，我的工牌号是4412。", true},
		{"我的工牌号是B4411。", "我的工牌号不是B4411，是C4412。", true},
		{"我的车位是蓝区。", "我的车位换成红区了", true},
		{"My locker is blue.", "My locker is now green.", true},
		{"My locker is blue.", "My locker is green, not blue.", true},
		{"My locker is blue.", "My locker is heavy, not light.", false},
		{"My locker is blue.", "My locker is heavy.", false},
		{"My locker is blue.", "My desk is now green.", false},
		{"My badge is B4411.", "My badge isn't B4412.", false},

		// In whichever person it was written down, and whoever speaks for it.
		{"The user's metrics port is 9090.", "our metrics port is now 9191", true},
		{"The user's badge is B4411.", "Sorry, our badge is B4412, not B4411.", true},
		{"The user lives in Lisbon.", "I moved to Oslo.", true},
		{"The user currently lives in Lisbon.", "I've moved from Lisbon to Oslo.", true},
		{"The user's wife lives in Lisbon.", "I moved to Oslo.", false},
		{"The metrics port is 9090.", "my metrics port is 9191", false},
		{"用户住在杭州。", "我上个月从杭州搬到成都了", true},
		{"用户的工牌号是4411。", "我的工牌号现在是4412", true},
		{"用户的老婆住在杭州。", "我从杭州搬到成都了", false},
		{"我住在杭州。", "我想从杭州搬到成都", false},
		{"测试库的端口是 5432。", "不对，测试库的端口是 5433，不是 5432。", true},
		{"用户的 metrics 端口是 9090。", "我们的 metrics 端口改成 9191 了", true},
		{"测试库的端口是 5432。", "生产库的端口是 5433，不是 5432。", false},
		{"测试库的端口是 5432。", "测试库的端口是 5433。", false},
		{"这是蓝色的。", "不对，这是红色的，不是蓝色的。", false},

		// From one tool to another.
		{"I use Neovim for everything.", "I switched from Neovim to Helix.", true},
		{"The user uses Neovim.", "We've recently switched from Neovim to Helix", true},
		{"I use an iPhone 12.", "I now use a Pixel 9, my old iPhone went to my mom.", true},
		{"I drive a Volvo.", "I replaced the Volvo with a bike.", true},
		{"I use Neovim.", "I switched from Emacs to Helix.", false},
		{"I use Neovim.", "I switched to Helix.", false},
		{"My wife uses Neovim.", "I switched from Neovim to Helix.", false},
		{"I like Neovim.", "My wife switched from Neovim to Helix.", false},
		{"I use Neovim.", "I have thought about going from Neovim to Helix.", false},
		{"我用的是小米手机。", "我现在改用一加 13 了，原来那台小米给我妈了", true},
		{"用户用的是小米手机。", "我把小米换成了一加", true},
		{"我用 Vim 写代码。", "我从 Vim 换到 Helix 了", true},
		{"我用的是小米手机。", "我现在改用一加 13 了，原来那台华为给我妈了", false},
		{"我用的是小米手机。", "我想把小米换成一加", false},
		{"我老婆用的是小米手机。", "我把小米换成了一加", false},

		// Endings.
		{"用户每天早上喝两杯咖啡。", "我不再喝咖啡了", true},
		{"我早上喝咖啡。", "我晚上不喝咖啡", false},
		{"我每天早上喝咖啡。", "我每天晚上不喝咖啡了", false},
		{"用户使用 Windows 电脑。", "我不再用 Windows 了，换成了 Mac", true},
		{"I live in Lisbon.", "I no longer live in Lisbon.", true},
		{"I live in Lisbon with my wife.", "I don't live in Lisbon any more.", true},
		{"I live in Lisbon.", "I moved away from Lisbon.", true},
		{"I live in Lisbon.", "I used to live in Lisbon.", true},
		{"I'm allergic to nuts.", "I am not allergic to nuts any more", true},
		{"I love coffee.", "I don't like coffee anymore.", true},
		{"I don't eat meat.", "I eat meat again.", true},
		{"I drink coffee.", "I stopped drinking coffee.", true},
		{"The user lives in Lisbon.", "I no longer live in Lisbon, I live in Oslo now.", true},
		{"I live in Oslo.", "I no longer live in Lisbon.", false},
		{"My wife lives in Lisbon.", "I no longer live in Lisbon.", false},
		{"I live in Lisbon.", "My wife no longer lives in Lisbon.", false},
		{"I like coffee with milk.", "I don't like coffee.", false},
		{"I no longer live in Lisbon.", "I don't live in Lisbon any more.", false},
		{"我喜欢咖啡。", "我不喜欢咖啡了", true},
		{"我喜欢喝咖啡。", "我现在不喜欢咖啡了", true},
		{"我对花生过敏。", "我对花生不过敏了。", true},
		{"我住在杭州西湖区。", "我不住在杭州了。", true},
		{"我住在杭州。", "我从杭州搬走了。", true},
		{"我喜欢茶。", "我不喜欢咖啡了", false},
		{"我老婆喜欢咖啡。", "我不喜欢咖啡了", false},
		{"我不吃香菜。", "我又吃香菜了", true},

		// The other way round.
		{"I prefer tabs over spaces.", "I prefer spaces over tabs.", true},
		{"I prefer tabs over spaces.", "Sorry, I prefer spaces to tabs.", true},
		{"比起空格我更喜欢制表符", "比起制表符，我更喜欢空格。", true},
		{"I prefer tabs over spaces.", "I prefer tea over coffee.", false},
	} {
		if got := State(c.later, false).Replaces(c.earlier); got != c.want {
			t.Errorf("%s / %s: %v", c.earlier, c.later, got)
		}
	}
	if !State("my locker is green", true).Replaces("My locker is blue.") || State("my locker is green", false).Replaces("My locker is blue.") {
		t.Error("a correction of what isn't one by its own words")
	}
}

func TestCorrectionsAreStatements(t *testing.T) {
	for say, want := range map[string]string{
		"Sorry, my badge is B4412.":                      "my badge is B4412.",
		"Wait, my badge is B4412.":                       "my badge is B4412.",
		"No, my badge is B4412.":                         "my badge is B4412.",
		"No my badge is B4412.":                          "my badge is B4412.",
		"Correction: my badge is B4412.":                 "my badge is B4412.",
		"Oh no, sorry - I was wrong. My badge is B4412.": "My badge is B4412.",
		"Scratch that, I live in Oslo.":                  "I live in Oslo.",
		"My badge is B4412, not B4411.":                  "My badge is B4412, not B4411.",
		"My badge is B4412 (not B4411).":                 "My badge is B4412 (not B4411).",
		"I moved to Oslo.":                               "I moved to Oslo.",
		"I no longer live in Lisbon.":                    "I no longer live in Lisbon.",
		"I am not allergic to nuts any more":             "I am not allergic to nuts any more",
		"I don't work at Initech anymore.":               "I don't work at Initech anymore.",
		"抱歉，我的工牌号是4412。":                                 "我的工牌号是4412。",
		"不对，我住在成都。":                                      "我住在成都。",
		"不是，我住在成都。":                                      "我住在成都。",
		"更正：我的工号是4412":                                   "我的工号是4412",
		"更正一下，我的工号是4412":                                 "我的工号是4412",
		"说错了，我的工号是4412":                                  "我的工号是4412",
		"我刚才说错了，我的工号是4412":                               "我的工号是4412",
		"等等，我的工号是4412":                                   "我的工号是4412",
		"我的工号是4412，不是4411。":                              "我的工号是4412，不是4411。",
		"我的工牌号改成4412了":                                   "我的工牌号改成4412了",
		"我不喜欢咖啡了":                                        "我不喜欢咖啡了",
		"我不住在杭州了。":                                       "我不住在杭州了。",
		"我上个月搬到成都了。":                                     "我上个月搬到成都了。",
		"比起空格我更喜欢制表符。":                                   "比起空格我更喜欢制表符。",
		"和咖啡相比，我更喜欢茶。":                                   "和咖啡相比，我更喜欢茶。",
		"我宁愿喝茶也不喝咖啡。":                                    "我宁愿喝茶也不喝咖啡。",
		"I'd rather use Vim than Emacs.":                 "I'd rather use Vim than Emacs.",
	} {
		res := Rules(talk("user: " + say))
		if len(res.Candidates) != 1 || res.Candidates[0].Quote != want {
			t.Errorf("%s: %+v", say, res.Candidates)
		}
	}
	for _, say := range []string{
		"No meat in my soup please.", "Sorry for the delay.", "Wait for the build.", "No, thanks.", "Sorry, what is my badge?", "不是我的错。", "抱歉，打扰了。",
		"My build isn't green.", "My tests don't pass any more.", "不对，这个答案有问题。", "No problem.", "I don't know.", "I'm not sure I live in Oslo.",
		"I don't use it for now.", "I stopped working on it.", "I don't live in the past.", "My code changed to recursion.", "我的代码改成递归了",
		"I moved the file to Oslo.", "No meetings before ten.", "I no longer get the error.", "Wait, what?", "No, use the other file.", "等等，先别动。", "我没有看懂了。",
	} {
		if res := Rules(talk("user: " + say)); len(res.Candidates) > 0 {
			t.Errorf("%s: found %q", say, res.Candidates[0].Text)
		}
	}
}

func TestCorrects(t *testing.T) {
	for text, want := range map[string]bool{
		"Sorry, my locker is green.": true, "No. my locker is green.": true, "Hello! Wait, my locker is green.": true,
		"I was wrong. my locker is green.": true, "my locker is green.": false, "I have no idea, my locker is green.": false,
		"You said that, and I know: my locker is green.": false,
	} {
		if got := corrects(text, "my locker is green."); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]bool{"不对，我的车位是红区": true, "我说错了。我的车位是红区": true, "你好，我的车位是红区": false, "我的车位是红区": false} {
		if got := corrects(text, "我的车位是红区"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestWishes(t *testing.T) {
	for _, c := range []struct {
		earlier, later string
		want           bool
	}{
		{"From now on, answer in French.", "From now on, answer in German.", true},
		{"From now on: answer in French.", "Always reply in plain English.", true},
		{"以后请用中文回答。", "以后请用英文回答。", true},
		{"From now on, answer in French.", "以后请用中文回答。", true},
		{"From now on use metric units.", "From now on, imperial units please.", true},
		{"请始终使用公制单位。", "以后都用英制单位", true},
		{"From now on, keep it short.", "From now on give detailed answers.", true},
		{"以后回答简短一点。", "以后请详细回答。", true},
		{"Never use emojis.", "From now on use emojis.", true},
		{"不要再用表情符号了。", "以后多用表情符号。", true},
		{"From now on be formal.", "From now on be casual with me.", true},
		{"以后用正式的语气。", "以后说话随意一点", true},

		{"From now on, answer in French.", "From now on, keep it short.", false},
		{"From now on, answer in French and keep it short.", "From now on, answer in German.", false},
		{"From now on, answer in French.", "Never answer in German.", false},
		{"From now on, answer in French.", "From now on, answer in German when I write about cooking.", false},
		{"From now on, write comments in English.", "From now on, answer in German.", false},
		{"From now on use short variable names.", "From now on give detailed answers.", false},
		{"Never use emojis.", "Never use tables.", false},
		{"以后请用中文回答。", "以后代码注释用英文写。", false},
		{"以后请用中文回答。", "如果我问菜谱，以后用英文回答。", false},
		{"Always use tabs.", "From now on answer in German.", false},
	} {
		if got := Displaces(Wishes(c.later), Wishes(c.earlier)); got != c.want {
			t.Errorf("%s / %s: %v (%q, %q)", c.earlier, c.later, got, Wishes(c.earlier), Wishes(c.later))
		}
	}
}
