package clients

// wrappers are what clients put around, or instead of, a person's words.
func wrappers() []Wrapper {
	var all []Wrapper
	for _, w := range [][]Wrapper{tags(), templates(), suffixes(), notHuman()} {
		all = append(all, w...)
	}
	return all
}

func tags() []Wrapper {
	all := []Wrapper{
		{Tag: "system-reminder", Who: "Claude Code, Qwen Code"},
		{Tag: "environment_context", Who: "Codex"},
		{Tag: "environment_details", Who: "Cline, Roo, Kilo"},
		{Tag: "user_instructions", Who: "Codex"},
		{Tag: "INSTRUCTIONS", Who: "Codex"},
		{Tag: "local-command-*", Who: "Claude Code"},
		{Tag: "command-*", Who: "Claude Code"},
		{Tag: "mode_notice", Who: "Cline"},
		{Tag: "additional_context", Do: ThirdParty},
		{Tag: "task-notification", Do: ThirdParty, Who: "Claude Code"},
		{Tag: "subagent_notification", Do: ThirdParty, Who: "Codex"},
		// People write these two in prose.
		{Tag: "context", Do: ThirdParty, Block: true},
		{Tag: "source", Do: ThirdParty, Block: true, Who: "Open WebUI"},

		{Tag: "user_input", Do: Unwrap, Only: true, Block: true, Who: "Cline"},
		{Tag: "user_message", Do: Unwrap, Only: true, Block: true, Who: "Cline"},
		{Tag: "user_query", Do: Unwrap, Only: true, Block: true, Who: "Cursor, Open WebUI"},
		{Tag: "task", Do: Unwrap, Block: true, Who: "Cline, Roo"},
		{Tag: "feedback", Do: Unwrap, Block: true, Who: "Cline, Roo"},
		{Tag: "answer", Do: Unwrap, Block: true, Who: "Cline, Roo"},
	}
	// Rich text of chat widgets: a long paragraph is still a person's.
	for _, t := range []string{"p", "div", "span", "b", "i", "u", "em", "strong", "blockquote", "ul", "ol", "li", "h1", "h2", "h3"} {
		all = append(all, Wrapper{Tag: t, Do: Keep})
	}
	return all
}

func templates() []Wrapper {
	return []Wrapper{
		{Begin: "### Task:\nRespond to the user query using the provided context", From: "</context>", Third: "\n<context>", Who: "Open WebUI"},
		{Begin: "Current Task: ", To: "\n\nThis is the expected criteria", Third: "This is the context you're working with:\n", Who: "CrewAI"},
		{Begin: "New task:\n", Who: "smolagents"},
		{Begin: "Context information is below.\n", From: "answer the query.\nQuery: ", To: "\nAnswer:", Third: "---------------------\n", Who: "LlamaIndex"},
		{Begin: "Use the following pieces of context to answer", From: "\n\nQuestion: ", To: "\nHelpful Answer:", Third: "\n", Who: "LangChain"},
		{Begin: "You are an assistant for question-answering tasks.…If you don't know…\nQuestion: ", To: "\nContext:", Third: "\nContext:", Who: "LangChain"},
		{Begin: "使用 <…标记中的", From: "问题:\"\"\"", To: "\"\"\"", Third: "\n", Who: "FastGPT"},
		{Begin: "The user denied this operation and provided the following feedback:\n<feedback>", To: "</feedback>", Who: "Cline, Roo"},
		{Begin: "The user approved this operation and provided the following context:\n<feedback>", To: "</feedback>", Who: "Cline, Roo"},
	}
}

func suffixes() []Wrapper {
	return []Wrapper{
		{Suffix: "\n\n# *SEARCH/REPLACE block* Rules:", Who: "aider"},
		{Suffix: "\n\nTo suggest changes to a file you MUST", Who: "aider"},
		{Suffix: "\n\n# File editing rules:\n\nReturn edits similar to unified diffs", Who: "aider"},
	}
}

func notHuman() []Wrapper {
	return []Wrapper{
		// Behind the template: without its end mark nobody can say what of it
		// a person typed.
		{NotHuman: "### Task:\nRespond to the user query using the provided context", Who: "Open WebUI"},

		{NotHuman: "This session is being continued from", Who: "Claude Code"},
		{NotHuman: "[SYSTEM NOTIFICATION", Who: "Claude Code"},
		{NotHuman: "Context summary:", Who: "Cline"},
		{NotHuman: "Another language model started", Who: "Codex"},
		{NotHuman: "# AGENTS.md instructions", Do: Drop, Who: "Codex"},
		{NotHuman: "What did we do so far?", Whole: true, Opening: true, Do: Drop, Who: "opencode"},
		{NotHuman: "No valid name was mentioned. Please select from:", Do: Drop, Who: "AutoGen"},

		{NotHuman: "Observation:", Who: "smolagents"},
		// A person's paste may begin so, too: what follows tells.
		{NotHuman: "Error:\n", Who: "smolagents", With: []string{
			"try a completely different approach", "take care not to repeat previous errors",
			"Error in code parsing:", "Error while parsing tool call", "Error while generating",
			"answer to the following user task:", "Code execution failed at line", "Error executing tool",
		}},

		{NotHuman: "I switched to a new code base. Please don't consider the above files", Examples: true, Do: Drop, Who: "aider"},
		{NotHuman: "Here are summaries of some files present in my git repo", Who: "aider"},
		{NotHuman: "I have *added these files to the chat*", Who: "aider"},
		{NotHuman: "Here are some READ ONLY files, provided for your reference", Who: "aider"},
		{NotHuman: "I am not sharing any files that you can edit yet", Do: Drop, Who: "aider"},
		{NotHuman: "I am not sharing the full contents of any files with you yet", Do: Drop, Who: "aider"},
	}
}
