package extract

import (
	"regexp"
	"strings"

	"hindsight/store"
)

// pattern recognises a sentence that states something by its form. subject
// names what it is about; $1 is the first group.
type pattern struct {
	re      *regexp.Regexp
	typ     store.Type
	subject string
}

// about is the subject of a form that the pattern fits.
func (p *pattern) about(form string) string {
	named := p.re.ExpandString(nil, p.subject, form, p.re.FindStringSubmatchIndex(form))
	return strings.TrimSpace(shorten(string(named), 60))
}

// Figures of what rules find. A rule knows the form only, hence the bound on
// its confidence; what the user asked for is certain.
const (
	ruleConfidence   = 0.6
	ruleImportance   = 0.7
	askedConfidence  = 0.95
	askedImportance  = 0.9
	lessonConfidence = 0.5
)

// Days and what happens on them that is worth knowing later.
const (
	eventDayEn = `yesterday|today|tonight|tomorrow|this (?:morning|week|month)|last (?:night|week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|next (?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)`
	eventEn    = `(?:getting married|flying to|travell?ing to|had (?:an? )?(?:\p{L}+ )?(?:surgery|operation|accident|interview|stroke)|passed (?:the|my) (?:\p{L}+ )?(?:exam|test|interview|course|probation)|got (?:promoted|fired|hired|laid off|engaged|married|divorced)|moved|switched (?:\S+ ){0,5}to|migrated|resigned|quit|retired|graduated|married|divorced|joined (?-i:\p{Lu})|left (?-i:\p{Lu}|my job|the company)|(?:bought|sold) (?:a|an|our|my|the) (?:new |old )?(?:house|flat|apartment|car|boat|company|shop|farm)|launched|shipped|released|signed|hired|adopted|start(?:ed)? (?:as|at|working)|will (?:move|start|leave|join))`
	eventDayZh = `今天|昨天|前天|明天|后天|大后天|[上下这本]个?(?:周|星期|礼拜)[一二三四五六日天末]?|[上下这本]个?月(?:底|初|\d{1,2}[号日])?|月底|年底|去年|今年|明年`
	eventZh    = `搬|(?:去|飞)\p{Han}{2,6}(?:见|开会|出差|旅游|参加|培训|面试|考察)|考试|面试|体检|开庭|开学|骨折|车祸|领证|订婚|分手|升职|被裁|去世|买(?:了)?(?:房|车)|手术|住院|出院|出差|结婚|离婚|毕业|入职|离职|辞职|退休|答辩|上线|发布|迁移|签(?:了|约|合同)|出生`
)

var patterns = compile([]struct {
	re      string
	typ     store.Type
	subject string
}{
	// Standing wishes and preferences, before the facts: "from now on my …".
	{`(?i)^(?:please,? )?(?:from now on|going forward|in (?:the )?future|from here on)\b`, store.Preference, "standing wish"},
	{`(?i)^when(?:ever)? you (?:answer|write|explain|reply|respond|review|summari[sz]e|translate|format|name|generate)\b[^,?]{0,50}, `, store.Preference, "standing wish"},
	{`(?i)^(?:please )?(?:always|never) (?:use|answer|reply|respond|write|give|add|include|put|call|explain|show|keep|format|speak|ask|start|end|commit|push|suggest|assume|translate|round|deploy|run)\b`, store.Preference, "standing wish"},
	{`(?i)^(?:please )?(?:stop|do not|don't|no more) .{3,80}\b(?:again|any ?more|ever|in (?:the )?future)\b`, store.Preference, "standing wish"},
	{`(?i)^(?:please )?(?:answer|reply|respond|speak|write) (?:to )?(?:me )?(?:always )?(?:only )?in (?:english|chinese|german|french|spanish|japanese|korean|italian|portuguese|russian|mandarin|plain english)\b.{0,30}(?:always|from now on|every time)`, store.Preference, "answer language"},
	{`(?i)^[^,.?]{2,60}[,;] (?:so |and |please )*(?:from now on|going forward|in (?:the )?future)\b`, store.Preference, "standing wish"},
	{`(?i)^[^,.?]{2,60}[,;] (?:so |and |please )*(?:stop|never|always|don't ever) (?:us|suggest|recommend|show|send|giv|writ|add|call|answer|repl)\w*\b`, store.Preference, "standing wish"},
	{`(?i)^(?:please )?call me (\p{L}[\p{L}'-]*)[.!]?$`, store.Preference, "form of address"},
	{`(?i)^i(?:'d| would)? (?:really |strongly |much |generally |usually |always )?prefer\b`, store.Preference, "preference"},
	{`(?i)^i(?:'d| would) rather (?:[^,.]{2,40} than|get|have|see|read|use|be|you)\b`, store.Preference, "preference"},
	{`(?i)^[^?]{8,80}\b(?:from now on|from here on|going forward|in future)[.!]*$`, store.Preference, "standing wish"},
	{`(?i)^no [\p{L} -]{2,30} (?:ever|at all|anywhere|in (?:your|any))\b`, store.Preference, "standing wish"},
	{`(?i)^i (?:really |absolutely |just )?(?:love|enjoy|hate|dislike|can'?t stand|cannot stand|don'?t like|do not like) (\p{L}.{2,})`, store.Preference, "$1"},
	{`(?i)^i (?:really |generally )?like (?:my |the |to )?(\p{L}.{2,})`, store.Preference, "$1"},
	{`(?i)^my (?:favou?rite|preferred) ([\p{L} ]{2,30}?) (?:is|are)\b`, store.Preference, "favourite $1"},

	{`^(?:I am|I'm) (?:\p{Lu}\p{L}+[ -])+\p{Lu}\p{L}+(?:[,.!]|$| and\b)`, store.UserFact, "name"},
	{`(?i)^(?:my name is|my name's|i am called|i'm called|i go by|people call me) \p{L}`, store.UserFact, "name"},
	{`(?i)^(?:i|we) (?:currently |still |now )?live (?:in|at|near|on|with)\b`, store.UserFact, "home"},
	{`(?i)^(?:i|we)(?:'ve| have)? (?:just |recently |now |finally )?(?:moved (?:back |house |home )?(?:to|from|in with|away from|out of)|relocated to)\b`, store.UserFact, "home"},
	{`(?i)^(?:i am|i'm) (?:now |currently )?(?:from|based in|living in)\b`, store.UserFact, "home"},
	{`(?i)^(?:i am|i'm) (?:on|in) (?-i:\p{Lu}[\p{L}/]+) time\b`, store.UserFact, "home"},
	{`(?i)^i (?:currently |now )?(?:work|volunteer|teach|study|intern|bank|deploy|commute|train|swim|freelance|consult|shop|worship|host) (?:as|at|for|in|on|with|from|to|by)\b`, store.UserFact, "work"},
	{`(?i)^i (?:also )?(?:teach|coach|manage|lead|supervise|maintain|own|rent|breed|collect|moderate|chair) \p{L}`, store.UserFact, "work"},
	{`(?i)^(?:i|we) run (?:an? |our own |my own |the )(?:small |local |family |little )?(?:\p{L}+ ){0,2}(?:shop|store|bakery|caf[eé]|restaurant|bar|hotel|farm|clinic|practice|school|lab|studio|agency|company|business|startup|team|shift|department|club|choir|blog|podcast|newsletter|channel|charity|workshop)\b`, store.UserFact, "work"},
	{`(?i)^(?:i|we) (?:only |mostly |usually |normally |generally |typically |mainly |rarely |seldom |never |always )+(?:work|eat|drink|cook|buy|read|watch|listen|travel|fly|drive|cycle|walk|run|swim|sleep|wake|get up|meet|speak|write|code|deploy|ship|release|test|pay|wear|shop|take|train|use)\b`, store.UserFact, "habit"},
	{`(?i)^(?:i|we) (?:work|eat|drink|cook|buy|read|watch|travel|fly|drive|cycle|walk|run|swim|sleep|meet|pay|train|deploy|ship|release)\b.{0,60}\b(?:every|each|per|a) (?:day|night|morning|evening|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b`, store.UserFact, "habit"},
	{`(?i)^there (?:are|is) .{1,30}\b(?:people|of us|members|engineers|developers|colleagues|employees|kids|children|students)\b.{0,12}\b(?:on|in|at) (?:my|our)\b`, store.UserFact, "people"},
	{`(?i)^(?:i am|i'm) (?:learning|training for|saving for|expecting|engaged|writing (?:a|my) (?:book|thesis|novel|dissertation))\b`, store.UserFact, "personal"},
	{`(?i)^(?:i am|i'm) (?:working|studying) (?:as|at|for)\b`, store.UserFact, "work"},
	{`(?i)^(?:i am|i'm) (?:an? |the )(?:\p{L}+[ -]){0,3}(?:engineer|developer|programmer|teacher|doctor|nurse|student|designer|manager|lawyer|writer|scientist|researcher|accountant|architect|analyst|consultant|founder|freelancer|musician|chef|cook|farmer|pilot|driver|mechanic|electrician|translator|journalist|professor|pharmacist|dentist|vegetarian|vegan|beginner|native speaker|parent|father|mother|widower?|pensioner|admin|administrator|owner|lead)\b`, store.UserFact, "work"},
	{`(?i)^(?:i am|i'm) (?:\d{1,3} years old|allergic|intolerant|diabetic|vegetarian|vegan|left-handed|colou?r-?blind|dyslexic|pregnant|married|divorced|single|retired|deaf|hard of hearing)\b`, store.UserFact, "personal"},
	{`(?i)^(?:since \S+ )?i(?:'ve| have) been (?:an? \p{L}|(?:at|with) (?-i:\p{Lu})|working|living|teaching|married|vegan|vegetarian|sober|self-employed)`, store.UserFact, "personal"},
	{`(?i)^i (?:was born|grew up|turned \d+|speak|own|wear|drive|play the|don'?t eat|do not eat|don'?t drink|can'?t eat|never eat|have been (?:a|an|working))\b`, store.UserFact, "personal"},
	{`(?i)^i(?:'ve| have)? (?:recently |just )?(?:stopped|quit|gave up|given up) (?:drinking|eating|smoking|working|using|taking|playing|living|wearing|driving)\b`, store.UserFact, "personal"},
	{`(?i)^i have (?:an? |two |three |four |five |\d+ )?(?:[\p{L}\d]+[ -]){0,3}(?:disease|disorder|syndrome|kids?|children|sons?|daughters?|brothers?|sisters?|siblings?|dogs?|cats?|pets?|rabbits?|parrots?|allergy|allergies|diabetes|asthma|adhd|dyslexia|migraines?|phd|degree)\b`, store.UserFact, "personal"},
	{`(?i)^my (?:wife|husband|partner|boyfriend|girlfriend|son|daughter|kid|brother|sister|mother|father|mom|mum|dad|boss|manager|dog|cat|team|company|cousin|uncle|aunt|grandmother|grandfather)(?:'s name)?(?:,? (?-i:\p{Lu}\p{L}+),?)? (?:is|are|was|has|had|can|can't|turns|works|lives|likes|uses|wants|needs|plays|speaks|studies|goes|turned|hates|loves)\b`, store.UserFact, "people"},
	{`(?i)^(?:my|our) ((?:\p{L}[\p{L}-]*\s){0,3}\p{L}[\p{L}-]*) (?:is|are|(?:has |have |was )?(?:just |now |recently )?changed(?: from \S+)? to|became|runs? (?:on|(?-i:\p{Lu}\p{L}*))|listens? on|lives? (?:in|at)|uses?|starts?)\b`, store.UserFact, "$1"},
	{`(?i)^(?:i|we) (?:mainly |mostly |always |usually )?(?:use|run|deploy|host|develop|code|program) (?:on |in |with |to |our |my )?\p{L}[^,]* (?:for|as|on|with|at|in)\b`, store.UserFact, "tools"},
	{`(?i)^(?:we|i)(?:'ve| have)? (?:just |recently |now )?(?:switched|migrated|moved|changed) (?:our|my) .{2,40} to (?-i:\p{Lu})`, store.UserFact, "tools"},
	{`(?i)^we(?:'ve| have)? (?:standardi[sz]ed|settled) on \p{L}`, store.UserFact, "tools"},
	{`(?i)^the \p{L}+(?: \p{L}+){0,2} (?:runs|lives|listens|is (?:hosted|deployed)) (?:on|at) (?:host |port |server )?\S*[\d-]\S*`, store.UserFact, "setup"},
	{`(?i)^(?:the |our )?(?:staging|production|prod|test|dev|internal|main) (?:\p{L}+ ){1,3}(?:is|are|runs? (?:on|at)|listens? on|lives? (?:at|in))\b.*\d`, store.UserFact, "setup"},

	{`(?i)\b(?:the|what) (?:fix|solution|workaround|answer|trick) (?:was|is|turned out to be)\b`, store.Solution, "fix"},
	{`(?i)\b(?:i|we)(?:'ve| have)? (?:finally )?(?:fixed|solved|resolved) (?:it|this|that|the \p{L}+(?: \p{L}+)?) (?:by|with|when)\b`, store.Solution, "fix"},
	{`(?i)\b(?:it|that|this) (?:was|got|is) (?:fixed|solved|resolved) (?:by|with|after)\b|\bwhat (?:worked|helped) (?:was|is)\b|\b(?:fixed|solved|did) (?:it|the trick)[.!]?$`, store.Solution, "fix"},
	{`(?i)\bthe (?:root )?(?:cause|reason|problem|issue|bug|mistake|culprit) (?:was|turned out to be)\b|\bit (?:failed|broke|crashed) because\b|\bit turned out (?:that|to be)\b|\blesson learned\b`, store.ErrorLesson, "cause"},

	// What happened, or will, on a day that is named.
	{`(?i)^(?:` + eventDayEn + `),? (?:i|we) ` + eventEn + `\b|^(?:i|we)(?:'ve|'m|'re| have| am| are)? ` + eventEn + `\b.{0,80}\b(?:` + eventDayEn + `)\b`, store.EventType, "event"},

	// The same in Chinese.
	{`^(?:请)?(?:从现在(?:开始|起)|从今以后|从此|今后|往后|以后)`, store.Preference, "长期要求"},
	{`^(?:请|你要)?(?:始终|总是|一直|永远|每次(?:都)?|千万|一律)(?:不要|别|要|请|用|使用|以|先|给|把|在|都|回答)`, store.Preference, "长期要求"},
	{`(?:我们|团队|公司|组里|项目)的?(?:规范|规定|惯例|约定|标准)[。！]?$`, store.Preference, "长期要求"},
	{`^我(?:一直|都|平时|现在)?用[^，。这那？]{1,12}[，,]?(?:不用|而不是|不是)`, store.UserFact, "工具"},
	{`^我(?:最近|正|现在)?在(?:备考|准备(?:考|婚礼|留学|出国|装修|移民))`, store.UserFact, "个人"},
	{`^(?:请)?(?:不要再|别再|不许再)`, store.Preference, "长期要求"},
	{`^[^，。,？]{2,30}[，,](?:以后|今后|往后|从现在(?:开始|起))(?:都|就|请|你|别|不要|不用|回答|给我|直接|统一|一律|全|用|每)`, store.Preference, "长期要求"},
	{`^[^，。,？]{2,30}[，,](?:请)?(?:不要再|别再)`, store.Preference, "长期要求"},
	{`^(?:请)?(?:别|不要)(?:跟|对|和)我(?:说|用|讲)`, store.Preference, "长期要求"},
	{`^你?(?:给我)?(?:回答|回复|写代码|写文章|解释|翻译|写邮件|写周报)(?:我)?(?:的时候|时)[，,]?(?:先|请|用|要|别|不要|都|尽量)`, store.Preference, "长期要求"},
	{`^(?:请)?(?:叫|称呼)我(\p{Han}{1,6}|[A-Za-z]+)(?:就好|就行|吧|即可)?[。！]?$`, store.Preference, "称呼"},
	{`^我(?:个人)?(?:一直|平时|通常|比较|更|最|很|非常|特别|真的|一般)?(?:都)?(?:喜欢|偏好|偏爱|习惯|倾向|爱吃|爱喝|爱看|爱用|讨厌|受不了|不喜欢|不爱|不习惯|反感|热爱)`, store.Preference, "偏好"},
	{`^(?:(?:比起|相比|相较|相对)[^。]{1,20}?|[和与跟][^。]{1,20}?(?:相比|比起来))[，,]?我(?:还是|更|比较|会)*(?:喜欢|偏好|偏爱|习惯|倾向|爱)|^我宁[愿可][^。]{1,20}?也不`, store.Preference, "偏好"},
	{`^(?:我)?(?:最喜欢的|最爱的|偏好的)(\p{Han}{1,6})是`, store.Preference, "最喜欢的$1"},

	{`^(?:我叫[^你您他她它别了不]|我的名字(?:叫|是)|我姓|大家都?叫我|我的英文名)`, store.UserFact, "名字"},
	{`^(?:我|我们|我家|我们家)(?:现在|目前|一直|就|已经|刚刚?|最近|终于|上个?[月周]|去年|今年|昨天|前天|今天)*(?:住在|住|搬到|搬去|搬来|从\p{Han}{2,8}搬|搬离|定居在?|在\p{Han}{2,8}(?:住|生活|长大))`, store.UserFact, "住处"},
	{`^我(?:老家|家)(?:是|在)`, store.UserFact, "住处"},
	{`^我(?:来自|是\p{Han}{2,6}人)`, store.UserFact, "住处"},
	{`^我(?:现在|目前|是)?在[^，。]{1,16}(?:工作|上班|上学|读书|读研|读博|任职|实习|做[^，。]{1,8})`, store.UserFact, "工作"},
	{`^我(?:现在|目前)?(?:是|做|当)(?:一名|一个|一位|个|做|在)?[^，。]{0,10}(?:师|员|医生|护士|学生|老师|教授|经理|律师|作家|记者|翻译|设计|老板|创业者|司机|农民|厨师|公务员|会计|后端|前端|运维|产品|开发|素食者|新手|妈妈|爸爸)的?`, store.UserFact, "工作"},
	{`^我(?:今年)?[\d一二两三四五六七八九十]{1,4}岁|^我今年[\d一二两三四五六七八九十]{2,4}[，,。]`, store.UserFact, "年龄"},
	{`^我(?:从来)?(?:对[^，。]{1,10}过敏|不吃|不喝|吃素|吃不了|不能吃|不能喝|患有|有[^，。点]{1,8}(?:病|炎|症|血压|血糖|哮喘|过敏|近视)|[^，。]{1,6}不耐受|是[^，。]{0,6}(?:素食者|过敏体质))`, store.UserFact, "饮食与健康"},
	{`^(?:我|我们|我家|我们家)(?:还)?(?:有|养了|养着|生了)(?:一|两|二|三|四|五|\d+)(?:个|只|条|位|对|名|匹)[^，。？]{0,6}(?:孩子|小孩|宝宝|娃|儿子|女儿|哥|弟|姐|妹|老人|双胞胎|猫|狗|鸟|鱼|兔|龟|仓鼠|宠物|室友|徒弟|下属|学生|房|车|店|牧|金毛|哈士奇|柯基|泰迪|布偶|橘|英短)`, store.UserFact, "家庭"},
	{`^我家(?:里)?(?:有)?(?:一|两|二|三|四|五|\d+)(?:个|只|条|口|位)`, store.UserFact, "家庭"},
	{`^我(?:的)?(?:导师|室友|班主任|上司|老婆|妻子|太太|老公|丈夫|爱人|女朋友|男朋友|女儿|儿子|孩子|爸爸|妈妈|父亲|母亲|哥哥|弟弟|姐姐|妹妹|爷爷|奶奶|老板|领导|狗|猫|爸|妈)(?:的名字)?\p{Han}{0,3}?(?:叫|姓|是|在|今年|喜欢|不|对|有|住|研究|读|上|念|学|做|当|考)`, store.UserFact, "家人"},
	{`^(?:我|我们)(?:的|家|公司的?|团队的?|项目的?|组的?)([^，。是]{1,14}?)(?:现在|已经|刚刚?)*(?:是|在|叫|改成|改为|换成|变成|变为|更新为|用的是|跑在|部署在|监听)`, store.UserFact, "$1"},
	{`^(?:我|我们)(?:这边|公司|团队|项目|组|部门|家)?(?:平时|主要|一直|现在|都)*(?:用的是|使用的是|主要用|都用|一直用|在用|现在用|统一用|改用)`, store.UserFact, "工具"},
	{`^我们[^，。？是在]{2,18}(?:端口|地址|域名|主机|版本|库|服务器|集群|分支|仓库|网关|环境|机房|系统)(?:现在)?(?:是|叫|在|用|跑在|部署在)`, store.UserFact, "环境"},
	{`^我们(?:公司|团队|部门|小组|学校|店|厂)(?:现在)?(?:在[^，。？]{2,}|周|每|不|从不|一直|都|只|一般|通常|规定|要求|统一|有\d|有[一二两三四五六七八九十百])`, store.UserFact, "单位"},
	{`^我(?:们|家)?(?:平时|通常|一般|经常|每天|每周|每个?月|每年|每晚|每个?周末)[^，。？]{2,}`, store.UserFact, "习惯"},
	{`(?:^|[，,])(?:他|她|\p{Han}{2,4})是我们?的?\p{Han}{0,4}(?:领导|上司|老板|经理|导师|老师|医生|律师|客户|房东|搭档|室友|亲戚)`, store.UserFact, "人"},
	{`^我(?:还)?(?:养|带|管|负责|教|租|开)(?:着|了|的)?[^，。？]{0,8}(?:狗|猫|鸟|鱼|团队|小组|项目组|班|学生|店|餐馆|餐厅|公司|工作室|民宿|农场|车|房|课)(?:$|[，。])`, store.UserFact, "个人"},
	{`^(?:我|我们)(?:现在|目前|已经|早就|最近|终于)*(?:不再[用使玩看做喝吃抽]|改用|换用|换成|戒了?[烟酒])`, store.UserFact, "习惯"},
	{`^(?:` + eventDayZh + `)[，,]?(?:我|我们)?[^，。]{0,12}(?:` + eventZh + `)|^(?:我|我们)(?:` + eventDayZh + `)[^，。]{0,12}(?:` + eventZh + `)`, store.EventType, "事件"},
	{`^我(?:是(?:左撇子|独生子女|单身|党员|回民|穆斯林|基督徒|佛教徒|色盲|色弱)|戴(?:着)?(?:眼镜|助听器|隐形)|(?:的)?(?:血型|身高|体重|母语|星座|专业|生日|学历|驾照)(?:是|在|有|为|到|\d)|(?:最近|现在)?在学[^，。？]{1,12}|刚?(?:考下|拿到|考过)了?)`, store.UserFact, "个人"},
	{`^我(?:不会(?:开车|游泳|做饭|骑车)|怕(?:高|黑|冷|热|狗|辣|吵)|(?:的)?(?:胃|肠胃|视力|听力|心脏|腰|膝盖|睡眠|皮肤)[^，。]{0,4}(?:不好|不太好|差|弱|敏感)|负责[^，。？]{2,12}(?:[，。]|$))`, store.UserFact, "个人"},
	{`^我们?在[^，。？]{1,8}(?:开|办|经营|创办)(?:了|着)?(?:一?家|一?个|一?间)`, store.UserFact, "工作"},
	{`^我(?:小学|初中|高中|大学|本科|硕士|博士|研究生)[^，。？]{0,4}在`, store.UserFact, "个人"},
	{`^(?:跟|和|对)我(?:说话|聊天|交流|沟通|讲话)[^，。？]{0,3}用`, store.Preference, "长期要求"},
	{`^我们[^，。？]{1,10}(?:放在|托管在|跑在|部署在)`, store.UserFact, "环境"},
	{`^我(?:会说|会弹|会拉|毕业于|出生于|生于|是\d{2,4}年|学过|考过|开的是)`, store.UserFact, "个人"},
	{`^(?:测试|生产|预发|线上|内网|开发)(?:环境|服务器|数据库|库|机器|集群)的?[^，。]{0,12}(?:是|在|用)[^。]*\d`, store.UserFact, "环境"},

	{`(?:解决(?:办法|方法|方案)|修复(?:方法|办法|方式)|办法|正确做法|最终方案)(?:就)?是|(?:就|终于|问题)(?:好了|解决了|修好了|正常了|搞定了)|(?:改成|换成|加上|升级到|重启|删掉|设置为|设为)[^。]{1,60}(?:就好了|就行了|就可以了|就正常了|就不报错了|后解决了|后正常了|搞定)`, store.Solution, "解决办法"},
	{`(?:根本)?原因(?:找到了，?)?(?:就)?是|问题出在|(?:失败|报错|崩溃|超时)是因为|教训是|踩(?:了|过)?(?:个|的)?坑|罪魁祸首是`, store.ErrorLesson, "原因"},
})

// fleeting is what looks like a fact and is only about this moment or this
// conversation.
var fleeting = regexp.MustCompile(`(?i)^(?:my|our) (?:character|protagonist|avatar)\b|^(?:my|our) (?:question|problem|issue|guess|point|concern|understanding|goal|plan|idea|request|code|error|bad|mistake|bug|query|task|input|output|text|essay|draft|answer|function|script|test|program|homework|assignment|prompt|message|screen|apologies|hope|thoughts?|suggestion|opinion|turn|computer|laptop|phone|internet|build)\b.{0,6}(?:is|are|changed|became)\b` +
	`|^i (?:teach|own|collect|maintain|manage|lead|rent|coach) (?:you|this|that|it|to|the|them|him|her|all)\b` +
	`|^(?:i|we)\b.{0,30}\b(?:use|run|deploy|host|code|develop|program|working on|using) (?:it|this|that)\b|^i (?:don'?t |do not |no longer )?live in the (?:past|moment|now)\b` +
	`|^i (?:really )?(?:like|love|enjoy|hate|prefer) (?:it|that|this|these|those|how|what|your?|where|the (?:idea|answer|way|second|first|last|one|result|output|look))\b` +
	`|^i'?d like\b|^i would like\b|^i am (?:a|an) (?:bit|little|lot)\b|^i'm (?:a|an) (?:bit|little|lot)\b|\bright now\b|\bat the moment\b|\bfor this (?:task|one|question|time)\b|\bthis time\b|\bjust (?:this )?once\b|\bthe following\b` +
	`|^我的?(?:问题|疑问|想法|意思|理解|目标|代码|错误|作业|任务|需求|建议|观点|文章|论文|程序|脚本|请求|电脑|猜测)(?:现在|已经)?(?:是|在|改成|改为|换成|变成)|在用[这那]|以后(?:再)?(?:聊|见|说|看)|^我\S{0,4}(?:在想|再看|再说|不这样|也这样)|喜欢(?:这个|那个|这种回答|你)|^我(?:现在)?(?:是)?(?:想|要|在想|需要)|^我(?:开|带)(?:始|不|错|会|来)|^我(?:平时|通常|一般|经常|每\S{1,2})?(?:遇到|碰到|忘记|报错|收到|看到)|这次|这一次|此刻|暂时|如下|以下|以后再说|从现在.{0,8}多久|今后再`)

// wishZh is a standing wish at the head of a sentence, as the first pattern is in English.
var wishZh = regexp.MustCompile(`^(?:请)?(?:从现在(?:开始|起)|从今以后|从此|今后|往后|以后)`)

// cue is the user's own word that something holds for good.
var cue = regexp.MustCompile(`(?i)\b(?:from now on|going forward|from here on|in (?:the )?future|always|never|every time|any ?more|by default)\b|\b(?:stop|don'?t|do not)\b.{3,80}\bagain\b|以后|今后|从现在(?:开始|起)|从今以后|往后|始终|总是|永远|一直|每次|一律|不要再|别再|默认`)

// stands says whether a text asks for something for good.
func stands(text string) bool { return cue.MatchString(plain(text)) }

func compile(table []struct {
	re      string
	typ     store.Type
	subject string
}) []pattern {
	out := make([]pattern, len(table))
	for i, row := range table {
		out[i] = pattern{regexp.MustCompile(row.re), row.typ, row.subject}
	}
	return out
}
