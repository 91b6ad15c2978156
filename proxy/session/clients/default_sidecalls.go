package clients

// sideCalls are the prompts of clients' own housekeeping.
func sideCalls() []SideCall {
	talk := []string{"conversation", "chat", "session", "thread", "dialog"}
	return []SideCall{
		// Titles.
		{Text: "title generator", In: []string{InSystem}, With: talk, NoTools: true, Who: "opencode"},
		{Text: "naming a coding session", In: []string{InSystem}, Who: "Claude Code"},
		{Text: "generate a … title", In: []string{InSystem}, With: talk, NoTools: true},
		{Text: "Generate a … title", In: []string{InUser}, With: ofThisTalk(), NoTools: true},
		{Text: "Generate a title for this conversation", In: []string{InUser}, NoTools: true, Who: "opencode"},
		{Text: "Please generate a … title", In: []string{InUser}, With: ofThisTalk(), NoTools: true, Who: "NextChat"},
		{Text: "Provide a concise, 5-word-or-less title", In: []string{InSystem, InUser}, Who: "LibreChat"},
		{Text: "Analyze this conversation and provide:", In: []string{InSystem, InUser}, Who: "LibreChat"},
		{Text: "You need to decompose the user's input into \"subject\" and \"intention\"", In: []string{InSystem, InUser}, Who: "Dify"},
		{Text: "Summarize the given session as a … title", In: []string{InSystem, InUser}, Who: "Cherry Studio"},
		{Text: "summarize the user's conversation into a title", In: []string{InSystem}, Who: "Cherry Studio, LobeChat"},
		{Text: "使用四到五个字直接返回这句话的简要主题", In: []string{InUser, InLastSystem}, Who: "NextChat"},
		{Text: "请使用四到五个字直接返回这句话的简要主题", In: []string{InUser}, Who: "NextChat"},
		{Text: "将用户的会话总结为…标题", In: []string{InSystem}, Who: "LobeChat, Cherry Studio"},
		{Text: "你是一名擅长会话的助理…总结为…标题", In: []string{InUser}, Who: "RikkaHub"},

		// Tags, follow-ups, search queries.
		{
			Text: "### Task:", In: []string{InUser}, Who: "Open WebUI",
			With:    []string{"<chat_history>", "the chat history", "the conversation history", "this conversation"},
			Without: []string{"Respond to the user query using the provided context"},
		},
		{Text: "### Task:\nSuggest 3-5 relevant follow-up questions", In: []string{InUser}, Who: "Open WebUI"},
		{Text: "### Task:\nPredict 3-5 useful messages", In: []string{InUser}, Who: "Open WebUI"},
		{Text: "Please help me predict the three most likely questions that human would ask", In: []string{InSystem, InUser}, Who: "Dify"},
		{Text: "帮我生成 3 个问题，引导我继续提问", In: []string{InUser}, Who: "FastGPT"},
		{Text: "请…帮我生成 3 个问题", In: []string{InUser}, With: []string{"引导我继续提问"}, Who: "FastGPT"},
		{Text: "你是一个AI智能助手，…帮我生成 3 个问题，引导我继续提问", In: []string{InUser}, Who: "FastGPT"},
		{Text: "你是一个AI智能助手，你的任务是结合对话记录，推测我下一步的问题", In: []string{InUser}, Who: "FastGPT"},
		{Text: "我不太清楚问你什么问题，请帮我生成 3 个问题", In: []string{InUser}, Who: "FastGPT"},

		// Summaries and compaction.
		{Text: "context summarization agent", In: []string{InSystem}, Who: "opencode"},
		{Text: "Summarize the provided coding session", In: []string{InSystem}, Who: "Cline"},
		{Text: "You are performing a CONTEXT CHECKPOINT COMPACTION", In: []string{InSystem, InUser}, Who: "Codex"},
		{Text: "CONTEXT CHECKPOINT COMPACTION", In: []string{InUser}, Who: "Codex"},
		{Text: "CRITICAL: Respond with TEXT ONLY", In: []string{InUser}, Who: "Claude Code"},
		{Text: "简要总结一下对话内容，用作后续的上下文提示", In: []string{InUser, InLastSystem}, Who: "NextChat"},
		{Text: "Summarize … discussion briefly in 200 words or less to use as a prompt for future context", In: []string{InUser, InLastSystem}, Who: "NextChat"},

		// Agents about agents.
		{Text: "memory extraction subagent", In: []string{InSystem, InUser}, Who: "Qwen Code"},
		{Text: "You are …memory extraction subagent", In: []string{InUser}, Who: "Qwen Code"},
		{Text: "select the next role", In: []string{InSystem}, Who: "AutoGen"},
		{Text: "You are in a role play game. The following roles are available:", In: []string{InSystem}, NoTools: true, Who: "AutoGen"},
	}
}

// ofThisTalk are the words by which a prompt means the conversation that it
// stands in; a title for something else is a person's request.
func ofThisTalk() []string {
	return []string{
		"this conversation", "the conversation", "our conversation", "following conversation",
		"this chat", "the chat", "our chat", "this session", "this thread", "<conversation>", "<chat_history>",
	}
}
