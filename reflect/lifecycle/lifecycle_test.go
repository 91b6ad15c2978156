package lifecycle

import (
	"testing"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

var monday = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// bank plays the store: it keeps what outcomes hold.
type bank struct {
	byID map[string]store.Memory
	n    int
}

func (b *bank) all() []store.Memory {
	var out []store.Memory
	for _, m := range b.byID {
		out = append(out, m)
	}
	return out
}

func (b *bank) active() (texts []string) {
	for _, m := range b.byID {
		if m.State == store.Active {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// session fits candidates as one more session, a day later than the one before.
func (b *bank) session(t *testing.T, injected []store.Memory, found ...extract.Candidate) store.Outcome {
	t.Helper()
	if b.byID == nil {
		b.byID = map[string]store.Memory{}
	}
	b.n++
	at := monday.AddDate(0, 0, b.n)
	for i := range found {
		c := &found[i]
		if c.Time.IsZero() {
			c.Time = at
		}
		if c.Quote == "" {
			c.Quote = c.Text
		}
		if c.By == "" {
			c.By = store.ByUser
		}
		if c.Type == "" {
			c.Type = store.UserFact
		}
		if c.Relation == extract.Contradicts || c.Relation == extract.SameAs || c.Relation == extract.Refines {
			for id, m := range b.byID {
				if m.Text == c.RelationID { // tests name the other by its text
					c.RelationID = id
				}
			}
		}
	}
	out := Fit(Input{
		Job:      store.Job{Session: "s" + string(rune('0'+b.n)), To: 1, Owner: store.Owner{Tenant: "t", User: "u", Agent: "a"}},
		Found:    extract.Result{Candidates: found},
		Injected: injected, Existing: b.all(), Now: at.Add(time.Hour),
	})
	for _, m := range out.Memories {
		b.byID[m.ID] = m
	}
	return out
}

func say(text string) extract.Candidate { return extract.Candidate{Text: text} }

func TestTheSameFactTwice(t *testing.T) {
	for _, c := range [][2]string{
		{"I live in Lisbon.", "I live in Lisbon."},
		{"I live in Lisbon.", "i live in  Lisbon!"},
		{"The user prefers short and direct answers to questions.", "The user prefers short and direct answers to question."},
		{"用户喜欢简短的回答。", "用户喜欢简短的回答"},
	} {
		var b bank
		b.session(t, nil, say(c[0]))
		out := b.session(t, nil, say(c[1]))
		if got := b.active(); len(got) != 1 {
			t.Errorf("%s / %s: %q", c[0], c[1], got)
			continue
		}
		m := out.Memories[0]
		if len(m.Evidence) != 2 || !m.LastVerified.Equal(monday.AddDate(0, 0, 2)) || len(out.Kept) != 1 {
			t.Errorf("%s: evidence %d, verified %s, kept %v", c[1], len(m.Evidence), m.LastVerified, out.Kept)
		}
	}
}

func TestNeverTakenForTheSame(t *testing.T) {
	for _, c := range [][2]string{
		{"The staging server of the shop listens on port 8090.", "The staging server of the shop listens on port 8091."},
		{"The user went to see Anna in the hospital on Monday.", "The user went to see Bella in the hospital on Monday."},
		{"The user eats meat and fish at home every day.", "The user eats no meat and fish at home every day."},
		{"用户每天早上都会吃一点香菜", "用户每天早上都不会吃一点香菜"},
		{"用户的工位在三楼", "用户的工位在四楼"},
	} {
		var b bank
		b.session(t, nil, extract.Candidate{Text: c[0], Type: store.EventType})
		b.session(t, nil, extract.Candidate{Text: c[1], Type: store.EventType, Relation: extract.SameAs, RelationID: c[0]})
		if got := b.active(); len(got) != 2 {
			t.Errorf("%s / %s: %q", c[0], c[1], got)
		}
	}
}

func TestAFactThenItsContradiction(t *testing.T) {
	for name, c := range map[string]struct {
		first, then extract.Candidate
	}{
		"by the model": {
			extract.Candidate{Text: "The user works at a bakery.", Subject: "work"},
			extract.Candidate{Text: "The user now drives a taxi.", Subject: "Work", Relation: extract.Contradicts, RelationID: "The user works at a bakery."},
		},
		"by the words":         {say("My badge is 4411."), say("My badge is 4412.")},
		"by the slot":          {say("I live in Lisbon with my wife."), say("I now live in Oslo.")},
		"in Chinese":           {say("我的工号是4411。"), say("我的工号是4412。")},
		"in Chinese, the slot": {say("我住在杭州西湖区。"), say("我现在住在成都。")},
		"the model says same, the numbers don't": {
			extract.Candidate{Text: "The staging port is 8090.", Subject: "port"},
			extract.Candidate{Text: "The staging port is 8091.", Subject: "port", Relation: extract.SameAs, RelationID: "The staging port is 8090."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bank
			b.session(t, nil, c.first)
			out := b.session(t, nil, c.then)
			if got := b.active(); len(got) != 1 || got[0] != c.then.Text {
				t.Fatalf("active: %q", got)
			}
			if len(out.Memories) != 2 || out.Memories[0].State != store.Active {
				t.Fatalf("new before old: %+v", out.Memories)
			}
			old := out.Memories[1]
			if old.SupersededBy != out.Memories[0].ID || !old.ValidTo.Equal(monday.AddDate(0, 0, 2)) {
				t.Errorf("old: superseded by %q, valid to %s", old.SupersededBy, old.ValidTo)
			}
		})
	}
}

func TestContradictionNeedsTheUser(t *testing.T) {
	var b bank
	b.session(t, nil, extract.Candidate{Text: "The user's shop runs on port 80.", Subject: "port"})
	b.session(t, nil, extract.Candidate{Text: "The shop runs on port 81.", Subject: "port", Type: store.EventType, By: store.ByAssistant,
		Relation: extract.Contradicts, RelationID: "The user's shop runs on port 80."})
	if got := b.active(); len(got) != 2 {
		t.Errorf("the assistant retired the user's word: %q", got)
	}
	// An unrelated memory isn't retired on a model's word either.
	b.session(t, nil, extract.Candidate{Text: "I like tea.", Subject: "tea", Relation: extract.Contradicts, RelationID: "The user's shop runs on port 80."})
	if got := b.active(); len(got) != 3 {
		t.Errorf("an unrelated memory was retired: %q", got)
	}
}

// What is delivered late was true before: it is kept as that, and any order of
// deliveries leaves the same.
func TestLateDelivery(t *testing.T) {
	said := []string{"I live in Lisbon.", "I live in Oslo.", "I live in Turin."}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		var b bank
		for _, i := range order {
			c := say(said[i])
			c.Time = monday.AddDate(0, 0, i)
			b.session(t, nil, c)
		}
		byText := map[string]store.Memory{}
		for _, m := range b.byID {
			byText[m.Text] = m
		}
		if got := b.active(); len(got) != 1 || got[0] != said[2] || len(byText) != 3 {
			t.Errorf("%v: active %q of %d", order, got, len(byText))
			continue
		}
		for i := range 2 {
			if m := byText[said[i]]; m.SupersededBy != byText[said[i+1]].ID || !m.ValidTo.Equal(monday.AddDate(0, 0, i+1)) {
				t.Errorf("%v: %s is superseded by %s, valid to %s", order, m.Text, b.byID[m.SupersededBy].Text, m.ValidTo)
			}
		}
	}
	// Said again: the older time of the same words only moves its beginning.
	var b bank
	for _, day := range []int{0, 5, 3} {
		c := say([]string{"I live in Lisbon.", "I live in Oslo."}[min(day, 1)])
		c.Time = monday.AddDate(0, 0, day)
		b.session(t, nil, c)
	}
	for _, m := range b.byID {
		if m.Text == said[0] && !m.ValidTo.Equal(monday.AddDate(0, 0, 3)) || m.Text == said[1] && (!m.ValidFrom.Equal(monday.AddDate(0, 0, 3)) || len(m.Evidence) != 2) {
			t.Errorf("%+v", m)
		}
	}
}

func TestSaidTakenBackSaidAgain(t *testing.T) {
	var b bank
	at := monday
	var all []extract.Candidate
	for i, s := range []string{"My badge is 1.", "My badge is 2.", "My badge is 1."} {
		c := say(s)
		c.Turn, c.Time = i+1, at.Add(time.Duration(i)*time.Minute)
		all = append(all, c)
	}
	b.session(t, nil, all...)
	if got := b.active(); len(got) != 1 || got[0] != "My badge is 1." {
		t.Errorf("active: %q", got)
	}
}

func TestOneSessionFiveTimes(t *testing.T) {
	var b bank
	b.session(t, nil, say("我喜欢简短的回答。"), say("我喜欢简短的回答"), say("我喜欢简短的回答！"), say("我 喜欢 简短的回答"), say("我喜欢简短的回答。。"))
	if got := b.active(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestRepeatingAMemoryIsNoNews(t *testing.T) {
	var b bank
	b.session(t, nil, extract.Candidate{Text: "The fix for the login timeout was a pool of 40 connections.", Type: store.Solution})
	injected := b.all()
	for range 5 {
		out := b.session(t, injected, extract.Candidate{
			Text: "The login timeout was fixed with a pool of 40 connections.", Type: store.Solution, By: store.ByAssistant,
		})
		if len(out.Memories) != 0 || out.Dropped[0].Reason != OwnOutput {
			t.Fatalf("%+v", out)
		}
	}
	// Another number is news.
	if out := b.session(t, injected, extract.Candidate{
		Text: "The login timeout was fixed with a pool of 80 connections.", Type: store.Solution, By: store.ByAssistant,
	}); len(out.Memories) != 1 {
		t.Errorf("%+v", out)
	}
}

func TestReadingTheSameWordsAgain(t *testing.T) {
	var b bank
	b.session(t, nil, say("I live in Lisbon."))
	b.n--
	if out := b.session(t, nil, say("I live in Lisbon.")); len(out.Memories) != 0 || len(out.Kept) != 1 {
		t.Errorf("%+v", out)
	}
}

// A fuller form is another revision of the same memory.
func TestRefines(t *testing.T) {
	var b bank
	b.session(t, nil, extract.Candidate{Text: "The user has a dog.", Subject: "dog"})
	id := b.all()[0].ID
	out := b.session(t, nil, extract.Candidate{Text: "The user has a dog named Biscuit.", Subject: "dog", Relation: extract.Refines, RelationID: "The user has a dog."})
	if got := b.active(); len(got) != 1 || got[0] != "The user has a dog named Biscuit." {
		t.Errorf("%q", got)
	}
	if m := out.Memories[0]; len(out.Memories) != 1 || m.ID != id || len(m.Evidence) != 2 || out.Revised != 1 || len(out.Kept) != 1 {
		t.Errorf("%+v", out)
	}
	// The first form delivered again is known.
	again := extract.Candidate{Text: "The user has a dog.", Subject: "dog", Time: monday.AddDate(0, 0, 1)}
	b.n = 0
	if out := b.session(t, nil, again); len(out.Memories) != 0 || out.Merged != 1 {
		t.Errorf("again: %+v", out)
	}
	b.n = 9
	// Losing a number isn't refining.
	b = bank{}
	b.session(t, nil, extract.Candidate{Text: "The user has 3 dogs.", Subject: "dog"})
	b.session(t, nil, extract.Candidate{Text: "The user has dogs.", Subject: "dog", Relation: extract.Refines, RelationID: "The user has 3 dogs."})
	if got := b.active(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestScopes(t *testing.T) {
	var b bank
	out := b.session(t, nil, say("I live in Lisbon."), extract.Candidate{Text: "The fix was a restart.", Type: store.Solution})
	if out.Memories[0].Scope != "user:u" || out.Memories[1].Scope != "user:u/agent:a" || out.Memories[1].Layer != store.Skill {
		t.Errorf("%s, %s", out.Memories[0].Scope, out.Memories[1].Scope)
	}
	if out.Memories[0].Revision != 0 || out.Memories[0].ID == out.Memories[1].ID {
		t.Errorf("%+v", out.Memories)
	}
}

func TestConfirmedIsKept(t *testing.T) {
	var b bank
	b.session(t, nil, say("I live in Lisbon."))
	m := b.all()[0]
	out := Fit(Input{
		Existing: b.all(), Now: monday.AddDate(0, 1, 0),
		Found: extract.Result{Verdicts: []store.Verdict{{ID: m.ID, Verdict: "confirmed"}, {ID: "gone", Verdict: "confirmed"}}},
	})
	if len(out.Kept) != 1 || out.Kept[0] != m.ID || len(out.Verdicts) != 2 {
		t.Errorf("%+v", out)
	}
}

// The same words in another order are another statement; where the form tells
// that both can't hold, the later one does.
func TestTheOtherWayRound(t *testing.T) {
	for _, c := range [][2]string{
		{"I prefer tabs over spaces.", "I prefer spaces over tabs."},
		{"I prefer tabs over spaces in every Go file that I write for the shop and the office.", "I prefer spaces over tabs in every Go file that I write for the shop and the office."},
		{"比起空格我更喜欢制表符。", "比起制表符我更喜欢空格。"},
		{"比起空格我更喜欢制表符。", "我更喜欢空格而不是制表符。"},
	} {
		for _, relation := range []extract.Relation{extract.New, extract.SameAs} {
			var b bank
			b.session(t, nil, extract.Candidate{Text: c[0], Type: store.Preference, Subject: "indentation"})
			out := b.session(t, nil, extract.Candidate{Text: c[1], Type: store.Preference, Subject: "indentation", Relation: relation, RelationID: c[0]})
			if got := b.active(); len(got) != 1 || got[0] != c[1] || len(out.Memories) != 2 || out.Memories[1].SupersededBy != out.Memories[0].ID {
				t.Errorf("%s / %s (%s): %q", c[0], c[1], relation, got)
			}
		}
	}
	for _, c := range [][2]string{
		{"The backup of the shop goes from disk to tape every single night.", "The backup of the shop goes from tape to disk every single night."},
		{"Anna reports to Bob at the office.", "Bob reports to Anna at the office."},
		{"每天晚上由仓库把货物送到商店门口", "每天晚上由商店把货物送到仓库门口"},
	} {
		var b bank
		b.session(t, nil, say(c[0]))
		b.session(t, nil, extract.Candidate{Text: c[1], Relation: extract.SameAs, RelationID: c[0]})
		if got := b.active(); len(got) != 2 {
			t.Errorf("%s / %s: %q", c[0], c[1], got)
		}
	}
}

// What ended retires what held, and is itself what holds now.
func TestEndings(t *testing.T) {
	for _, c := range [][2]string{
		{"I live in Lisbon.", "I moved to Oslo."},
		{"I live in Lisbon.", "I no longer live in Lisbon."},
		{"I'm allergic to nuts.", "I am not allergic to nuts any more"},
		{"我喜欢咖啡。", "我不喜欢咖啡了"},
		{"我的工牌号是4411。", "我的工牌号改成4412了"},
		{"我住在杭州。", "我上个月搬到成都了。"},
	} {
		var b bank
		b.session(t, nil, say(c[0]))
		out := b.session(t, nil, say(c[1]))
		if got := b.active(); len(got) != 1 || got[0] != c[1] {
			t.Errorf("%s / %s: active %q", c[0], c[1], got)
			continue
		}
		old := out.Memories[1]
		if old.State != store.Superseded || old.SupersededBy != out.Memories[0].ID || !old.ValidTo.Equal(monday.AddDate(0, 0, 2)) {
			t.Errorf("%s: %+v", c[0], old)
		}
		// What comes late was true before.
		late := say(c[0])
		late.Time = monday.AddDate(0, 0, -30)
		if out := b.session(t, nil, late); len(b.active()) != 1 || len(out.Dropped) != 0 {
			t.Errorf("%s, late: %q, dropped %+v", c[0], b.active(), out.Dropped)
		}
		// And it may come back.
		if b.session(t, nil, say(c[0])); len(b.active()) != 1 || b.active()[0] != c[0] {
			t.Errorf("%s, again: %q", c[0], b.active())
		}
	}
	// Nobody else's word ends it, and no other thing is ended.
	var b bank
	b.session(t, nil, say("I live in Lisbon."))
	b.session(t, nil, extract.Candidate{Text: "I no longer live in Lisbon.", By: store.ByAssistant, Type: store.Solution})
	b.session(t, nil, say("I no longer work in Lisbon."), say("My wife no longer lives in Lisbon."))
	if got := b.active(); len(got) != 4 {
		t.Errorf("%q", got)
	}
}

func TestACorrectionByItsOpener(t *testing.T) {
	var b bank
	b.session(t, nil, say("My locker is blue."))
	b.session(t, nil, say("My locker is heavy."))
	if got := b.active(); len(got) != 2 {
		t.Errorf("%q", got)
	}
	b = bank{}
	b.session(t, nil, say("My locker is blue."))
	fixed := say("My locker is green.")
	fixed.Corrects = true
	b.session(t, nil, fixed)
	if got := b.active(); len(got) != 1 || got[0] != "My locker is green." {
		t.Errorf("%q", got)
	}
}

func TestOneStandingWishOfAKind(t *testing.T) {
	wish := func(text string) extract.Candidate {
		return extract.Candidate{Text: text, Type: store.Preference, Standing: true}
	}
	var b bank
	for _, w := range []string{
		"From now on, answer in French.", "From now on, use metric units.", "From now on, answer in German.", "Never use emojis.",
		"以后请用中文回答。", "From now on, imperial units please.",
	} {
		b.session(t, nil, wish(w))
	}
	got := map[string]bool{}
	for _, text := range b.active() {
		got[text] = true
	}
	if len(got) != 3 || !got["以后请用中文回答。"] || !got["From now on, imperial units please."] || !got["Never use emojis."] {
		t.Errorf("%v", got)
	}
	// A wish of the moment settles nothing for good.
	once := wish("Answer in Dutch.")
	once.Standing = false
	if b.session(t, nil, once); len(b.active()) != 4 {
		t.Errorf("%q", b.active())
	}
}

// Of one session the later words hold, whatever was found to be more important.
func TestTheLaterWordOfASession(t *testing.T) {
	first, then := say("My badge is B4411."), say("My badge is B4412.")
	first.Time, first.Turn, first.Importance = monday, 1, 0.7
	then.Time, then.Turn, then.Importance = monday, 1, 0.9
	then.Offset = 40
	var b bank
	b.session(t, nil, then, first)
	if got := b.active(); len(got) != 1 || got[0] != "My badge is B4412." {
		t.Errorf("%q", got)
	}
}
