package inject

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

func TestDuplicatesAndTheirGuards(t *testing.T) {
	c := newComparer()
	for _, p := range []struct {
		a, b string
		same bool
	}{
		{"The staging server runs nightly backups to the Lisbon bucket", "The staging server runs nightly backups to the Lisbon bucket.", true},
		{"User deploys the billing service from the main branch on the cluster", "User deploys the billing service from the main branch of the cluster", true},
		{"The api gateway of the shop listens for plain http on port 8090", "The api gateway of the shop listens for plain http on port 8091", false},
		{"User wants code comments in the generated files of every project here", "User wants no code comments in the generated files of every project here", false},
		{"The weekly call with the team of the vendor about rollout is with Anna", "The weekly call with the team of the vendor about rollout is with Boris", false},
		{"The weekly review meeting of the platform group takes place on Monday", "The weekly review meeting of the platform group takes place on Friday", false},
		{"用户每天早上在公司楼下的咖啡店买一杯热拿铁", "用户每天早上在公司楼下的咖啡店买一杯热拿铁。", true},
		{"项目负责人张伟每周三下午在二号会议室组织后端评审并记录结论", "项目负责人张玮每周三下午在二号会议室组织后端评审并记录结论", false},
		{"用户在部署之前总是先运行全部的单元测试和集成测试再发布", "用户在部署之前总是不先运行全部的单元测试和集成测试再发布", false},
		{"completely different words", "nothing in common at all", false},
	} {
		if got := c.fingerprint(p.a).same(c.fingerprint(p.b)); got != p.same {
			t.Errorf("same(%q, %q) = %v", p.a, p.b, got)
		}
	}
}

// Whatever the sentence: one number, date, negation or name that differs makes two
// memories of it, and nothing but its end none.
func TestOneChangeIsNeverADuplicate(t *testing.T) {
	t.Parallel()
	c := newComparer()
	english := strings.Fields("billing service cluster nightly backup bucket harbour crane brake vendor rollout review platform meeting garden window invoice printer kitchen folder")
	chinese := strings.Fields("部署 备份 集群 计费 服务 起重机 港口 刹车 供应商 评审 平台 会议 花园 窗户 发票 打印机 厨房 文件夹 仓库 列车")
	random := rand.New(rand.NewPCG(1, 2))
	n := 2000
	if testing.Short() {
		n = 400
	}
	for range n {
		words, gap := english, " "
		values := [][2]string{{"8090", "8091"}, {"Monday", "Friday"}, {"three", "four"}, {"Anna", "Boris"}, {"always", "never"}, {"the", "not"}, {"2026-03-01", "2026-03-02"}}
		if random.IntN(2) == 0 {
			words, gap = chinese, ""
			values = [][2]string{{"8090", "8091"}, {"周一", "周五"}, {"三", "四"}, {"张伟", "张玮"}, {"总是", "从不"}, {"", "不"}, {"三月一日", "三月二日"}}
		}
		var sentence []string
		for _, i := range random.Perm(len(words))[:12+random.IntN(8)] {
			sentence = append(sentence, words[i])
		}
		at, value := 1+random.IntN(len(sentence)-1), values[random.IntN(len(values))]
		with := func(v string) string {
			return "User " + strings.Join(slices.Insert(slices.Clone(sentence), at, v), gap)
		}
		a, b := with(value[0]), with(value[1])
		if c.fingerprint(a).same(c.fingerprint(b)) || c.fingerprint(b).same(c.fingerprint(a)) {
			t.Errorf("the same: %q and %q", a, b)
		}
		if !c.fingerprint(a).same(c.fingerprint(a+".")) || !c.fingerprint(a+"。").same(c.fingerprint(a)) {
			t.Errorf("not the same as with a full stop: %q", a)
		}
	}
}

func pass(mems ...store.Memory) []*candidate {
	var out []*candidate
	for i := range mems {
		out = append(out, &candidate{hit: index.Hit{Memory: &mems[i]}, verdict: chosen})
	}
	return out
}

func TestMergeKeepsTheImportantAndTheNewest(t *testing.T) {
	c := newComparer()
	in := pass(
		store.Memory{ID: "low", Text: "The shop's database runs on port 5433", Importance: 0.5},
		store.Memory{ID: "high", Text: "The shop's database runs on port 5433.", Importance: 0.9},
		store.Memory{ID: "old", Text: "User's car is a red Octavia", Subject: "car", CreatedAt: now.AddDate(0, -2, 0)},
		store.Memory{ID: "new", Text: "User's car is a blue Octavia", Subject: "Car", CreatedAt: now},
		store.Memory{ID: "older", Text: "User's car is a green Octavia", Subject: "car", CreatedAt: now.AddDate(0, -3, 0)},
		store.Memory{ID: "wide", Text: "Tyre pressure is two bar", Subject: "car", CreatedAt: now},
	)
	lines := c.merge(in)
	got := []string{}
	for _, l := range lines {
		got = append(got, fmt.Sprint(l.memory.ID, "+", l.earlier))
	}
	if want := []string{"high+0", "new+2", "wide+0"}; !slices.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
	verdicts := []string{}
	for _, c := range in {
		verdicts = append(verdicts, c.verdict)
	}
	if want := []string{"duplicate", chosen, "subject_merged", chosen, "subject_merged", chosen}; !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
	if s := renderLine(lines[1], "new", nil); !strings.Contains(s, "blue Octavia (+2 earlier)") {
		t.Errorf("line %q", s)
	}
}

// What an expression needs is in everything that it finds: the quick look
// before it changes nothing.
func TestTimeWordsAreLookedForQuickly(t *testing.T) {
	t.Parallel()
	tw := newTimeWords()
	all := []form{tw.month}
	for _, e := range tw.relative {
		all = append(all, e.form)
	}
	pieces := strings.Fields("in last during since january december 3 12 two few several day days week weeks month year years ago the before yesterday today this " +
		"morning recently lately other time previously earlier back then 前天 昨天 昨晚 今天 今早 三 十二 两 几 天 周 个 星期 礼拜 月 月份 年 之 以 前 上 上个 这 这个 本周 去年 最近 前几天 这几天 前些天 上次 上一次 上回 之前 以前 先前")
	rnd := rand.New(rand.NewPCG(3, 4))
	found := make([]int, len(all))
	for range 30_000 {
		s, gap := "", [...]string{" ", ""}[rnd.IntN(2)]
		for range 1 + rnd.IntN(5) {
			s += pieces[rnd.IntN(len(pieces))] + gap
		}
		for i, f := range all {
			if !f.MatchString(s) {
				continue
			}
			if found[i]++; !f.in(s) {
				t.Fatalf("%v finds something in %q, and %q isn't there", f, s, f.needs)
			}
		}
	}
	for i, n := range found {
		if n == 0 {
			t.Errorf("%v was never found", all[i])
		}
	}
}

func TestTimeWindows(t *testing.T) {
	tw := newTimeWords()
	day := func(s string) time.Time {
		d, err := time.Parse("2006-01-02", s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		ask, from, to, left string // now is Sunday 2026-11-29
		past                bool
	}{
		{"what broke yesterday?", "2026-11-28", "2026-11-29", "what broke  ?", false},
		{"昨天出了什么问题", "2026-11-28", "2026-11-29", " 出了什么问题", false},
		{"what did we decide last week", "2026-11-16", "2026-11-23", "what did we decide  ", false},
		{"上周三的会议", "2026-11-16", "2026-11-23", " 的会议", false},
		{"3 weeks ago", "2026-11-02", "2026-11-13", " ", false},
		{"two days ago", "2026-11-26", "2026-11-28", " ", false},
		{"三个月前的决定", "2026-08-06", "2026-09-20", " 的决定", false},
		{"last month", "2026-10-01", "2026-11-01", " ", false},
		{"in March we moved", "2026-03-01", "2026-04-01", "in March we moved", false},
		{"十二月的考试", "2025-12-01", "2026-01-01", "十二月的考试", false},
		{"去年的旅行", "2025-01-01", "2026-01-01", " 的旅行", false},
		{"上次那个接口", "", "", " 那个接口", true},
		{"as last time", "", "", "as  ", true},
		{"no time at all", "", "", "no time at all", false},
	} {
		left, w := tw.find(c.ask, now, time.UTC)
		if left != c.left || w.past != c.past {
			t.Errorf("%q: left %q past %v, want %q %v", c.ask, left, w.past, c.left, c.past)
		}
		if c.from == "" {
			if !w.from.IsZero() {
				t.Errorf("%q: window from %v", c.ask, w.from)
			}
			continue
		}
		if w.from.Sub(day(c.from)).Abs() > 24*time.Hour || w.to.Sub(day(c.to)).Abs() > 24*time.Hour {
			t.Errorf("%q: window %v to %v, want %s to %s", c.ask, w.from, w.to, c.from, c.to)
		}
	}
	w := window{from: day("2026-11-01"), to: day("2026-11-08")}
	in, near, far := w.factor(day("2026-11-03")), w.factor(day("2026-11-12")), w.factor(day("2020-01-01"))
	if in != 1+windowGain || near >= in || near <= far || far < 1 || far > 1.001 {
		t.Errorf("factors inside %v, near %v, far %v", in, near, far)
	}
}

func TestRankings(t *testing.T) {
	old := store.Memory{ID: "close", Importance: 0.1, CreatedAt: now.AddDate(-2, 0, 0)}
	young := store.Memory{ID: "young", Importance: 1, CreatedAt: now}
	hits := []index.Hit{{Memory: &old, Words: index.Words{Score: 0.9}}, {Memory: &young, Words: index.Words{Score: 0.7}}}
	order := func(r Ranking) string {
		c := rank(hits, r, query{}, now)
		return c[0].hit.Memory.ID
	}
	if order(Bounded) != "close" || order(Similarity) != "close" {
		t.Error("recency and importance outweigh a clear difference in similarity")
	}
	hits = append(hits, index.Hit{Memory: &store.Memory{ID: "far", CreatedAt: now.AddDate(-1, 0, 0)}, Words: index.Words{Score: 0.1}})
	c := rank(hits, Additive, query{}, now)
	for _, c := range c {
		var want float64
		switch c.hit.Memory.ID {
		case "close":
			want = 0.5*1 + 0.2*0.1
		case "young":
			want = 0.5*0.75 + 0.3 + 0.2
		}
		if d := c.final - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("additive score of %s = %v, want %v", c.hit.Memory.ID, c.final, want)
		}
	}
	verified := store.Memory{CreatedAt: now.AddDate(-1, 0, 0), LastVerified: now.Add(-36 * time.Hour)}
	if a := age(&verified, now); a != 1.5 {
		t.Errorf("age = %v days, want 1.5 since the last verification", a)
	}
}

func TestQueryReadsTheEndsOfALongMessage(t *testing.T) {
	words := "zebra first " + strings.Repeat("filler ", 200) + "middlemost " + strings.Repeat("filler ", 200) + " giraffe last"
	q := newQuery(newTimeWords(), words, nil, now, nil)
	has := func(term string) bool {
		return slices.ContainsFunc(q.terms, func(t index.Term) bool { return t.Text == index.Terms(term)[0] })
	}
	if !has("zebra") || !has("giraffe") || has("middlemost") {
		t.Errorf("terms %v", q.terms)
	}
}

func TestContextFades(t *testing.T) {
	q := newQuery(newTimeWords(), "which harbour?", []string{"oldest walrus", "penguin", "latest otter"}, now, nil)
	w := map[string]float64{}
	for _, t := range q.terms {
		w[t.Text] = t.Weight
	}
	if !(w["harbour"] == 1 && w["otter"] < 1 && w["penguin"] < w["otter"] && w["walrus"] < w["penguin"] && w["walrus"] > 0) {
		t.Errorf("weights %v", w)
	}
	if len(q.units) != 1 {
		t.Errorf("%d units: context counts for the gate although the message asks something", len(q.units))
	}
}

// TestFollowUpIsAskedByItsContext: "and that?" means nothing alone.
func TestFollowUpIsAskedByItsContext(t *testing.T) {
	d := &disk{}
	d.put(fact("crane", "The harbour crane needs grease in March"))
	e := d.engine(t, Config{})
	c := talk("s", "and what about that?")
	if p := e.Plan(t.Context(), c); p.Status != None {
		t.Errorf("without context: %+v", p)
	}
	c.Context = []string{"which harbour crane needs grease?"}
	if p := e.Plan(t.Context(), c); p.Status != Injected {
		t.Errorf("with context: %+v", p)
	}
	c.Words = "thanks!"
	if p := e.Plan(t.Context(), c); p.Status != None {
		t.Errorf("thanks after the same context: %+v", p)
	}
}
