package index

// The tables are switches, not maps: they need no memory of their own and
// nobody can change them.

// stopWord says whether an English word (lower-cased, contractions as written)
// carries no meaning of its own.
func stopWord(w string) bool {
	switch w {
	case "a", "an", "the", "this", "that", "these", "those", "there", "here",
		"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves",
		"you", "your", "yours", "yourself", "he", "him", "his", "himself", "she", "her", "hers", "herself",
		"it", "its", "itself", "they", "them", "their", "theirs", "themselves", "one", "ones",
		"am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "done", "doing",
		"have", "has", "had", "having", "will", "would", "shall", "should", "can", "could", "may", "might", "must",
		"not", "no", "nor", "and", "or", "but", "if", "then", "else", "than", "so", "as", "because", "while", "though", "although",
		"of", "in", "on", "at", "by", "for", "with", "from", "to", "into", "onto", "about", "over", "under", "up", "down", "out", "off",
		"between", "through", "during", "without", "within", "upon", "per", "via",
		"what", "which", "who", "whom", "whose", "when", "where", "why", "how",
		"all", "any", "both", "each", "few", "more", "most", "other", "some", "such", "only", "own", "same", "too", "very", "just", "also",
		"again", "once", "ever", "yet", "still", "already", "really", "quite", "rather", "even", "much", "many",
		"i'm", "i've", "i'd", "i'll", "you're", "you've", "you'd", "you'll", "he's", "she's", "it's", "we're", "we've", "we'd", "we'll",
		"they're", "they've", "they'd", "they'll", "that's", "there's", "here's", "what's", "who's", "where's", "how's", "let's",
		"isn't", "aren't", "wasn't", "weren't", "don't", "doesn't", "didn't", "haven't", "hasn't", "hadn't", "won't", "wouldn't",
		"can't", "cannot", "couldn't", "shouldn't", "mustn't", "s", "t", "ll", "re", "ve",
		"user", "users", "please", "etc", "know", "tell":
		// "User" opens nearly every memory ("User prefers …"): it says nothing.
		return true
	}
	return false
}

// functionHan says whether a Chinese word is a function word, at which a run of
// characters is cut.
func functionHan(w string) bool {
	switch w {
	case "的", "了", "吗", "呢", "吧", "啊", "呀", "嘛", "哦", "么", "我", "你", "您", "他", "她", "它", "们", "这", "那", "是",
		"在", "和", "与", "也", "都", "就", "很", "把", "被", "给", "请", "还",
		"什么", "怎么", "怎样", "如何", "哪里", "哪儿", "哪个", "哪些", "哪种", "多少", "为何",
		"我们", "你们", "他们", "她们", "它们", "咱们", "用户", "这个", "那个", "这些", "那些", "这样", "那样", "这里", "那里", "这种", "那种",
		"一个", "一下", "一些", "一点", "可以", "已经", "以及", "因为", "所以", "但是", "而且", "或者", "如果", "不过", "还是", "就是", "只是", "都是", "不是",
		"是否", "是的", "请问", "帮我", "给我", "告诉", "关于", "知道", "记得", "觉得",
		"为什么", "怎么样", "是不是", "能不能", "有没有", "可不可以", "要不要", "会不会":
		return true
	}
	return false
}

// shielded says whether a Chinese word has a meaning of its own although a
// function word stands in it.
func shielded(w string) bool {
	switch w {
	case "了解", "目的", "的士", "现在", "正在", "在线", "存在", "所在", "在职", "内在", "和平", "和谐", "和服", "成都", "首都", "都市",
		"就业", "成就", "就诊", "就医", "就餐", "归还", "还款", "还原", "请假", "请求", "申请", "邀请", "给予", "供给", "他人", "其他", "吉他",
		"参与", "给药", "把握", "被子", "棉被", "也门", "我国", "是非":
		return true
	}
	return false
}
