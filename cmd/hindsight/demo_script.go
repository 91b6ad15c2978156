package main

import "fmt"

// line is one turn of the demo: what the person says and, where the model
// calls a tool, what the tool answers.
type line struct {
	words string
	tool  func(port int) string // nil: no tool is offered
}

// deploy is the demo's tool: port 8080 is taken, every other one works.
func deploy(port int) string {
	if port == 8080 {
		return "Error: port 8080 is already in use by nginx; try 8081"
	}
	return fmt.Sprintf("ok: the web service listens on port %d.", port)
}

// demoLessons is what the first session teaches, in two languages: facts,
// preferences, a tool call that fails and its fix, a secret that must not be
// kept and small talk that isn't worth it.
func demoLessons() []line {
	return []line{
		{words: "Hi! My name is Ann and I am new here. I live in Oslo."},
		{words: "From now on, answer with metric units."},
		{words: "Please deploy the web service to staging.", tool: deploy},
		{words: "My password is hunter2-Blue-4411."},
		{words: "Thanks, lovely weather today!"},
		{words: "我平时喜欢喝乌龙茶。"},
		{words: "上周三登录接口504超时，解决办法是把网关超时改成30秒。"},
	}
}

// demoQuestions are new conversations, one each: three that the first session
// can answer, and one that it can't.
func demoQuestions() []line {
	return []line{
		{words: "Where do I live?"},
		{words: "登录接口又超时了，上次是怎么解决的？"},
		{words: "Please deploy the web service again.", tool: deploy},
		{words: "How high is Mount Fuji?"},
	}
}
