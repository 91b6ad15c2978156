package main

import (
	"testing"
	"time"

	"hindsight/store"
)

// What a user says in the next session takes the place of what was true
// before, whoever reflects, in either language; of standing wishes one of a
// kind is left.
func TestWhatHoldsNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, then string }{
		"the other way round": {"I prefer tabs over spaces.", "I prefer spaces over tabs."},
		"a correction":        {"My badge is B4411.", "Sorry, my badge is B4412, not B4411."},
		"a move":              {"I live in Lisbon.", "I moved to Oslo."},
		"an end":              {"I live in Lisbon.", "I no longer live in Lisbon."},
		"a standing wish":     {"From now on, answer in French.", "From now on, answer in German."},
		"反过来":                 {"比起空格我更喜欢制表符。", "比起制表符我更喜欢空格。"},
		"更正":                  {"我的工牌号是4411。", "说错了，我的工牌号是4412。"},
		"改了":                  {"我的工牌号是4411。", "我的工牌号改成4412了。"},
		"搬家":                  {"我住在杭州。", "我上个月搬到成都了。"},
		"不再":                  {"我喜欢咖啡。", "我不喜欢咖啡了。"},
		"长期要求":                {"以后请用中文回答。", "以后请用英文回答。"},
	} {
		t.Run(name, func(t *testing.T) {
			oneInThree(t)
			t.Parallel()
			w := newWorld(t, "HINDSIGHT_REFLECT_MODEL=rules")
			before, dropped := w.learn(c.first)
			if len(before) != 1 {
				t.Fatalf("kept %q, dropped %+v", texts(before), dropped)
			}
			after, dropped := w.learn(c.then)
			active, retired := w.memories("local"), w.memoriesIn(store.Superseded)
			if len(after) != 1 || len(active) != 1 || active[0].ID != after[0].ID {
				t.Fatalf("active %q, dropped %+v", texts(active), dropped)
			}
			if len(retired) != 1 || retired[0].ID != before[0].ID || retired[0].SupersededBy != active[0].ID || retired[0].ValidTo.IsZero() {
				t.Errorf("retired: %+v", retired)
			}
		})
	}
}

// A model that drops a denial is not believed: the user's sentence stands.
func TestALostDenialIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.learn("我喜欢咖啡。")
	// The table of the fake model reads 喜欢 in both.
	if kept, dropped := w.learn("我不喜欢咖啡了。"); len(kept) != 1 || kept[0].Text != "我不喜欢咖啡了。" {
		t.Errorf("kept %q, dropped %+v", texts(kept), dropped)
	}
	if got := texts(w.memories("local")); len(got) != 1 || got[0] != "我不喜欢咖啡了。" {
		t.Errorf("memories: %q", got)
	}
}

// A session that its client ended is reflected at once, not at the next tick.
func TestAnEndedSessionIsReflectedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conversation().say("My name is Ann.")
	began := time.Now()
	w.conversation("Hindsight-Session-End: true").say("My badge is B4411.")
	w.until("the ended session is reflected", func() bool { return w.reflections("done") == 1 })
	if took := time.Since(began); took > 3*time.Second { // a tick is 5 s
		t.Errorf("it took %s", took)
	}
	if n := w.reflections("queued") + w.reflections("running"); n != 0 || len(w.memories("local")) != 1 {
		t.Errorf("%d more, memories %q", n, texts(w.memories("local")))
	}
}
