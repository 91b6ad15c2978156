package index

// Concept is the meaning that a term shares with words of another form or of
// the other language: a bridge between English and Chinese for what people
// keep in memories, and from "the problem" to the error that it was. It begins
// with `~`, which no term does. Empty means that the term stands for itself.
// Terms are those of [Terms]; memories are indexed under theirs, a query asks
// for its own.
func Concept(term string) string {
	switch term {
	case "name", "nicknam", "名字", "姓名", "叫":
		return "~name"
	case "problem", "issu", "error", "bug", "fail", "failur", "crash", "timeout", "except", "broken", "broke", "fix", "solv", "resolv", "troubl", "flaki",
		"问题", "报错", "错误", "失败", "超时", "异常", "崩溃", "故障", "解决", "修复", "出错", "500", "502", "503", "504":
		return "~trouble"
	case "prefer", "favorit", "favourit", "habit", "style", "偏好", "喜好", "习惯", "喜欢", "最爱", "风格":
		return "~preference"
	case "job", "work", "occup", "profess", "employ", "career", "工作", "职业", "上班", "职位", "就职":
		return "~job"
	case "live", "resid", "address", "citi", "town", "城市", "住", "居住", "地址", "住址":
		return "~home"
	case "birthday", "born", "birth", "生日", "出生":
		return "~birthday"
	case "age", "年龄", "岁", "多大":
		return "~age"
	case "wife", "husband", "spous", "妻子", "老婆", "丈夫", "老公", "爱人":
		return "~spouse"
	case "son", "daughter", "kid", "child", "children", "孩子", "儿子", "女儿":
		return "~child"
	case "mother", "father", "mom", "dad", "parent", "妈妈", "爸爸", "父母", "母亲", "父亲":
		return "~parent"
	case "sister", "brother", "sibl", "姐姐", "妹妹", "哥哥", "弟弟":
		return "~sibling"
	case "friend", "朋友":
		return "~friend"
	case "dog", "cat", "pet", "狗", "猫", "宠物":
		return "~pet"
	case "allergi", "allerg", "intoler", "过敏", "忌口":
		return "~allergy"
	case "eat", "food", "diet", "meal", "dinner", "lunch", "breakfast", "restaur", "vegetarian", "vegan", "吃", "饮食", "晚餐", "午餐", "早餐", "餐厅", "素食":
		return "~food"
	case "coffe", "咖啡":
		return "~coffee"
	case "tea", "茶":
		return "~tea"
	case "drink", "beverag", "喝", "饮料":
		return "~drink"
	case "databas", "db", "postgr", "postgresql", "mysql", "sqlite", "据库":
		return "~database"
	case "server", "务器":
		return "~server"
	case "port", "端口":
		return "~port"
	case "deploy", "releas", "rollout", "部署", "上线", "发布":
		return "~deploy"
	case "test", "测试":
		return "~test"
	case "login", "sign-in", "signin", "登录", "登陆":
		return "~login"
	case "interfac", "api", "endpoint", "接口":
		return "~api"
	case "project", "项目":
		return "~project"
	case "meet", "会议", "开会":
		return "~meeting"
	case "travel", "trip", "vacat", "holiday", "旅行", "旅游", "出差", "度假":
		return "~travel"
	case "languag", "语言":
		return "~language"
	case "version", "版本":
		return "~version"
	case "configur", "config", "set", "配置", "设置":
		return "~config"
	case "document", "doc", "文档":
		return "~document"
	case "email", "mail", "邮箱", "邮件":
		return "~email"
	case "phone", "mobil", "电话", "手机":
		return "~phone"
	case "movi", "film", "电影":
		return "~film"
	case "music", "song", "音乐", "歌曲":
		return "~music"
	case "book", "书籍", "书":
		return "~book"
	case "sport", "exercis", "workout", "运动", "锻炼", "健身":
		return "~sport"
	case "color", "colour", "颜色":
		return "~colour"
	case "timezon", "时区":
		return "~timezone"
	case "format", "indent", "tab", "space", "whitespac", "格式", "缩进", "空格", "制表":
		return "~format"
	case "school", "univers", "colleg", "学校", "大学":
		return "~school"
	case "doctor", "hospit", "医生", "医院":
		return "~doctor"
	case "budget", "预算":
		return "~budget"
	case "password", "密码":
		return "~password"
	case "backup", "备份":
		return "~backup"
	case "branch", "分支":
		return "~branch"
	case "memori", "内存":
		return "~memory"
	case "exam", "考试":
		return "~exam"
	case "car", "drive", "汽车", "开车":
		return "~car"
	}
	return ""
}

// PreferenceConcept is the bridge term that every memory of type preference
// has, whatever its words: "my preferences" asks for all of them.
const PreferenceConcept = "~preference"
