package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"hindsight/store"
)

// Question is what somebody asks, and in which scope.
type Question struct {
	Scope store.Scope
	Text  string
}

// template is a kind of statement in one language, and how one asks for it. Each
// has who it is about, a thing and a value.
type template struct{ says, asks, scenario string }

var english = []template{
	{"%[1]s's %[2]s is %[3]s", "What is the %[2]s of %[1]s?", "when the %[2]s is needed"},
	{"%[1]s prefers %[3]s for the %[2]s", "Which %[2]s does %[1]s like best?", "when choosing a %[2]s"},
	{"The %[2]s of the project %[1]s failed because of %[3]s", "Why did the %[2]s of %[1]s break?", "when the %[2]s fails again"},
	{"%[1]s moved the %[2]s to %[3]s last spring", "Where did %[1]s put the %[2]s?", "when looking for the %[2]s"},
	{"To repair the %[2]s, %[1]s used %[3]s", "How was the %[2]s mended by %[1]s?", "when the %[2]s is broken"},
	{"%[1]s will never again buy %[3]s as a %[2]s", "What should %[1]s not get as %[2]s?", "before buying a %[2]s"},
}

var chinese = []template{
	{"%[1]s的%[2]s是%[3]s", "%[1]s的%[2]s是什么？", "需要%[2]s的时候"},
	{"%[1]s最喜欢的%[2]s是%[3]s", "%[1]s喜欢哪一种%[2]s？", "选择%[2]s的时候"},
	{"项目%[1]s的%[2]s失败了，原因是%[3]s", "%[1]s的%[2]s为什么失败？", "%[2]s再次失败的时候"},
	{"去年春天%[1]s把%[2]s搬到了%[3]s", "%[1]s把%[2]s放在哪里？", "寻找%[2]s的时候"},
	{"%[1]s用%[3]s修好了%[2]s", "%[1]s怎么修好%[2]s的？", "%[2]s坏了的时候"},
	{"%[1]s再也不买%[3]s当%[2]s了", "%[1]s不应该买什么样的%[2]s？", "购买%[2]s之前"},
}

var words = [2]struct{ who, what, value []string }{
	{
		strings.Fields("Ann Bob Chloe Dmitri Elena Farid Greta Hugo Ines Jonas Kira Liam Mara Nils Olga Pablo Quinn Rosa Sven Tara"),
		strings.Split("kitchen door,backup server,bicycle,coffee machine,deployment script,office chair,garden fence,database index,router password,winter jacket,train ticket,tax form,piano,washing machine,camera lens,test suite,parking place,bookshelf,rain barrel,phone contract", ","),
		strings.Split("dark oak,port 8443,a cheap copy,the second floor,version 2.7,green paint,an expired certificate,Hamburg,a wrong time zone,four screws,the blue box,too little memory,a rubber seal,Tuesday evening,number 4711,a missing comma,his neighbour's ladder,the old cellar,strong glue,fifty euros", ","),
	},
	{
		strings.Fields("小明 小红 王芳 李雷 韩梅 张伟 刘洋 陈静 赵强 孙丽 周杰 吴敏 郑凯 冯雪 何涛 高洁 林浩 罗兰 宋佳 唐宁"),
		strings.Split("厨房门,备份服务器,自行车,咖啡机,部署脚本,办公椅,花园围栏,数据库索引,路由器密码,冬天外套,火车票,税务表格,钢琴,洗衣机,相机镜头,测试用例,停车位,书架,雨水桶,电话套餐", ","),
		strings.Split("深色橡木,端口8443,便宜的仿制品,二楼,2.7版本,绿色油漆,过期的证书,汉堡,错误的时区,四颗螺丝,蓝色盒子,内存不足,橡胶垫圈,星期二晚上,号码4711,少了一个逗号,邻居的梯子,旧地下室,强力胶水,五十欧元", ","),
	},
}

// Corpus makes n memories of a scope, half of them English and half Chinese, said
// in sessions of eight turns, and 200 questions that they answer. The same n gives
// the same.
func Corpus(tenant string, sc store.Scope, n int) (ms []store.Memory, qs []Question) {
	rnd := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // the same each time is what is wanted
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	var before string
	seen := map[string]bool{}
	for len(ms) < n {
		language, list := 0, english
		if len(ms)/8%2 == 1 {
			language, list = 1, chinese
		}
		w, t := words[language], list[rnd.IntN(len(list))]
		who, what, value := pick(w.who), pick(w.what), pick(w.value)
		text := fmt.Sprintf(t.says, who, what, value)
		if seen[text] {
			text += fmt.Sprintf(" (%d)", len(ms))
		}
		seen[text] = true
		m := memory(tenant, sc, text)
		m.Type = store.Types()[rnd.IntN(len(store.Types()))]
		m.Layer = store.LayerOf(m.Type)
		m.Subject, m.Scenario = what, strings.NewReplacer("%[2]s", what).Replace(t.scenario)
		m.Importance = float64(rnd.IntN(100)) / 100
		m.CreatedAt = now.Add(-time.Duration(n-len(ms)) * time.Hour)
		m.UpdatedAt = m.CreatedAt
		m.Evidence = []store.Evidence{{
			Session: fmt.Sprint("s", len(ms)/8), Turn: len(ms)%8 + 1, Quote: text, Time: m.CreatedAt, Context: before + "\n" + text,
		}}
		if len(ms)%17 == 5 {
			m.State = store.Archived
		}
		before = text
		ms = append(ms, m)
		if len(qs) < 200 && rnd.IntN(n) < 260 {
			qs = append(qs, Question{sc, strings.TrimSpace(fmt.Sprintf(t.asks+"%.0[3]s", who, what, value))})
		}
	}
	return ms, qs
}
