package inject

import "math"

// A scope of twenty memories can't say which words are rare: in it, every word
// that occurs is. So how much a word tells is judged against a background
// first, and by the scope more and more as it grows (pseudo memories).
const (
	pseudo     = 100   // the background weighs as much as this many memories
	rareRate   = 0.001 // share of texts that hold a word about which nothing is known
	charRate   = 0.02  // the same for a single character
	commonRate = 0.05  // for a word that people use whatever they talk about
)

// information is how much a term tells about what is asked, in nats, where it
// stands in df of n memories.
func information(term string, han bool, df, n int) float64 {
	rate := rareRate
	switch {
	case common(term):
		rate = commonRate
	case han && len(term) <= 4:
		rate = charRate
	}
	return -math.Log((float64(df) + pseudo*rate) / (float64(n) + pseudo))
}

// common says whether a term (as index.Terms gives it) is a word of requests
// and small talk: what one does with an answer, not what it is about.
func common(term string) bool {
	switch term {
	case "write", "make", "creat", "give", "show", "tell", "say", "said", "ask", "answer", "question", "explain", "describ", "list", "help", "find", "look", "see", "want", "need",
		"like", "know", "think", "thought", "mean", "use", "using", "get", "got", "go", "goe", "going", "come", "take", "put", "let", "try", "keep", "start", "stop", "chang", "add", "work",
		"mind", "rememb", "remind", "forget", "talk", "mention", "discuss", "thing", "someth", "anyth", "everyth", "noth", "way", "kind", "sort", "type", "part", "bit", "lot", "exampl",
		"good", "bad", "better", "best", "nice", "great", "new", "old", "big", "small", "long", "short", "right", "wrong", "sure", "easi", "hard", "simpl", "quick", "possibl",
		"day", "time", "today", "tomorrow", "yesterday", "now", "week", "month", "year", "morn", "night", "ago", "later", "soon", "recent", "current", "last", "next", "first", "second", "two", "three",
		"peopl", "person", "someon", "anyon", "everyon", "guy", "man", "woman", "thank", "hello", "hi", "pleas", "ok", "yes", "sorri", "problem", "issu", "idea", "reason", "result", "feel", "happen",
		"text", "sentenc", "word", "paragraph", "line", "summar", "summari", "translat", "rewrit", "function", "code", "file", "number", "detail", "inform", "step", "differ", "between",
		"suggest", "recommend", "advic", "plan", "choos", "pick", "decid", "check", "fix", "run", "set", "call", "handl", "read", "open", "close", "turn", "often", "usual", "alway", "never",
		"问题", "解决", "东西", "事情", "时候", "时间", "今天", "明天", "昨天", "现在", "上次", "下次", "最近", "之前", "以后", "后来", "开始", "知道", "觉得", "平时", "通常", "一般", "经常", "平常", "常常", "认为", "需要", "想要", "应该", "可能", "能够", "使用",
		"介绍", "解释", "说明", "写一", "一首", "一篇", "一段", "一份", "一种", "翻译", "总结", "推荐", "建议", "帮忙", "看看", "说说", "谢谢", "你好", "代码", "函数", "文件", "方法", "办法", "内容", "情况", "处理", "进行", "记得", "提到", "讨论", "说过", "方式", "安排", "计划", "准备",
		"首", "写", "说", "做", "看", "想", "要", "会", "能", "去", "来", "有", "没", "不", "用", "好", "大", "小", "多", "少", "个", "上", "下", "中", "年", "月", "日", "天", "人", "时", "次", "该", "得", "过", "再", "让", "从", "到", "对", "后", "前", "里", "些", "点", "种", "一", "二", "三", "几", "什":
		return true
	}
	return false
}
