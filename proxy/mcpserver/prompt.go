package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompt offers the one prompt: how to use the memory well.
func (d *desk) addPrompt() {
	d.server.AddPrompt(&mcp.Prompt{
		Name: "use_memory", Title: "Use the memory well",
		Description: "How an agent should search, write and tidy the memory in a task.",
		Arguments: []*mcp.PromptArgument{
			{Name: "task", Title: "Task", Description: "What you are about to do; the memory is searched for it first."},
			{Name: "language", Title: "Language", Description: "en (where left out) or zh."},
		},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text, ask := guideEn, "\n\nThe task, for which you search the memory first: "
		switch req.Params.Arguments["language"] {
		case "", "en":
		case "zh":
			text, ask = guideZh, "\n\n任务如下，请先为它检索记忆："
		default:
			return nil, wireResource("prompts/get", badArg("language", "can't be used: want en or zh"))
		}
		if task := req.Params.Arguments["task"]; task != "" {
			text += ask + task
		}
		return &mcp.GetPromptResult{
			Description: "How to use the memory well.",
			Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	})
}

const guideEn = `Use my long-term memory in this task.

1. Before you begin, search it once or twice with what the task is about: my setup, my preferences, earlier decisions, errors that were seen before. Nothing found means nothing known.
2. Treat what you find as notes of some age. Where they conflict with what I say or with what you see, go by that, and put the memory right: update it, or forget it if nothing takes its place. If a note that matters turns out to be true, say so with memory_verify.
3. Write down what will matter in a later session: a fact about me, a preference, a solution that worked, an error and its cause. One self-contained sentence each, in my language, with names, numbers and settings. Search first, so that you update instead of writing twice.
4. Don't write what matters only now, guesses, summaries of this conversation, text that I haven't confirmed, or secrets.
5. When I ask you to forget something, find it and forget it, and tell me what you removed.`

const guideZh = `在这项任务中请使用我的长期记忆。

1. 开始之前，先就任务的内容检索一两次：我的环境、我的偏好、以前的决定、见过的错误。没有找到就是不知道。
2. 找到的内容是过去的笔记。与我说的或你看到的不一致时，以现在为准，并改正记忆：更新它；没有新内容可以替代的，就忘掉它。重要的笔记被证实了，用 memory_verify 确认。
3. 以后的会话用得上的内容请写下来：关于我的事实、偏好、有效的解决办法、错误及其原因。每条一句话，能独立看懂，用我的语言，保留名称、数字和设置。先检索，能更新就不要重复写。
4. 不要写只在此刻有用的内容、猜测、本次对话的总结、我没有确认过的文字，也不要写密码和密钥。
5. 我要求忘掉什么时，找到它、忘掉它，并告诉我删去了什么。`
