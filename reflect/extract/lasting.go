package extract

import (
	"regexp"
	"strings"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// general is the pattern of what no other one knows and [lasting] takes.
var general = &pattern{re: regexp.MustCompile(`^`), typ: store.UserFact}

var (
	ofSpeaker = regexp.MustCompile(`(?i)^(?:i|i'm|i've|we|we're|we've|my|our)\s|^我`)
	// passing is what people say of the moment, of the conversation and of what is
	// worked on in it.
	passing = regexp.MustCompile(`(?i)\b(?:errors?|exceptions?|fail\w*|crash\w*|broken?|bugs?|issues?|problems?|try|trying|tried|wants?|wanted|needs?|needed|wish|hop(?:e|ing)|think|thought|guess|wonder\w*|believe|feel|felt|see|saw|seeing|gets?|got|getting|look\w*|ask\w*|mean|meant|say|says|said|tell|told|know|knew|understand|confused?|sure|please|help|here|there|this|that|these|those|it|its|it's|them|they|following|above|below|your?|going|gonna|will|'ll|should|could|might|must|have to|stuck|wrong|right|lol|haha|code|functions?|loops?|arrays?|lists?|variables?|strings?|class|methods?|files?|scripts?|quer(?:y|ies)|commands?|terminals?|buttons?|pages?|tables?|columns?|rows?|tests?|dream\w*|delay\w*|wait\w*|characters?|shows?|displays?|outputs?|prints?|returns?|today|homework|exercises?|questions?|answers?|essays?|paragraphs?|sentences?|words?|poems?|stor(?:y|ies)|tonight|imported|installed|ran|clicked|wrote|added|removed|changed|set|put|called|typed|pasted|uploaded|forgot\w*|remember\w*|paste|make|makes|made|mak(?:e|ing)|enter|start|started|open|opened|sent|send|found|find)\b` +
		`|[想试您你它]|[这那哪]|需要|得要|打算|觉得|认为|感觉|以为|知道|看到|看见|遇到|碰到|发现|报错|错误|失败|异常|问题|刚才|刚刚|[请帮]|怎么|代码|函数|循环|数组|变量|文件|脚本|命令|报告|按钮|页面|表格|这题|题目|作业|作文|段落|句子|翻译|故事|哈哈|呵呵|截图|点击|输入|运行|安装|忘记|忘了|可以|应该|[猜求该]|没声|没反应|坏了|卡[住死在]|梦|还是|考[了到]|能不|行不|好不|算了|随便|吃了|还剩`)
	// once is what was done and is over, and what one has or is for a moment.
	once = regexp.MustCompile(`(?i)^(?:i|we)(?:'ve| have| had)? (?:just |already |also |only |once )?(?:\p{L}+ed|had|ate|paid|drank|slept|went|met|lost|won|saw|bought|sold|took|gave|did|was|were|came|left|read|spent|heard|began|broke|drove|flew|hit|kept|let|rode|sat|spoke|swam|taught|threw|woke|wore|been waiting)\b` +
		`|^(?:i|we) (?:have|play|leave|meet|go) .{0,20}\d|^(?:i'm|i am|we're|we are) (?:so|very|really|pretty|too|just|\p{L}+ing|\p{L}+ed|tired|sick|hungry|late|done|back|busy|happy|sad|glad|angry|at|in a|given|out)\b|\b(?:is|are) (?:late|slow|down|up|gone|dead|full|empty|at|only|out)\b|\d+ (?:minutes?|seconds?)\b|\b(?:left|percent)\b|%` +
		`|剩|今天|昨天|分钟|秒|第[\d一二三四五六七八九十]+[题关页行步章节集]|要(?:合并|交换|处理|排序|计算|解决|写|做|改|删|去)|[^年月]了`)
	usedTo = regexp.MustCompile(`(?i)^(?:i|we) used to .{3,60}, (?:but )?(?:now )?`)
	since  = regexp.MustCompile(`(?i)\bsince (?:\d{4}|\p{L}+)\b|\bfor \S+ (?:years|decades)\b`)
	// held says that something holds for long.
	held = regexp.MustCompile(`(?i)\b(?:every|each|since|always|usually|mostly|mainly|regularly|for (?:\d+|\w+) (?:years|months)|years|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b|每[天周月年晚]|一直|平时|从小|多年|常年|长期`)
)

// lasting says whether a sentence tells something concrete of its speaker that
// isn't about the moment: it holds a name, a number or a word for how long.
func lasting(s string) bool {
	if !ofSpeaker.MatchString(s) || passing.MatchString(s) || once.MatchString(usedTo.ReplaceAllString(s, "")) && !since.MatchString(s) || wording.Weight(s) < 14 {
		return false
	}
	_, rest, _ := strings.Cut(s, " ")
	if wording.HasHan(s) {
		rest = s
	}
	return held.MatchString(s) || len(wording.Names(rest)) > 0 || len(wording.Numbers(rest)) > 0
}
