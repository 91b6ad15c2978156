package clients

// Default returns the shipped tables. The entries come from captured requests
// and from the clients' published prompts; Who names the client.
func Default() Tables {
	return Tables{
		UserHeaders: []Header{
			{Name: "Hindsight-User", Who: "configured"},
			{Name: "X-OpenWebUI-User-Id", Who: "Open WebUI"},
		},
		SessionHeaders: sessionHeaders(),
		SideCalls:      sideCalls(),
		Wrappers:       wrappers(),
		Greetings: []string{
			"hi", "hello", "hey", "ping", "test", "say hi", "say hello", "quota", "hi there",
			"你好", "您好", "嗨", "测试", "在吗",
		},
		SchemaKeys: []string{"title", "topic", "name", "tags", "follow_ups", "queries", "emoji"},
	}
}

// sessionHeaders are ranked: the first that is present and not empty counts.
func sessionHeaders() []SessionHeader {
	return []SessionHeader{
		// Open WebUI's and LibreChat's header templates fill it with chat ids.
		{Name: "Hindsight-Session", Temporary: "local:", Who: "configured"},
		{Name: "X-Claude-Code-Session-Id", Child: "X-Claude-Code-Agent-Id", Who: "Claude Code"},
		{Name: "session-id", Child: "thread-id", Parent: "x-codex-parent-thread-id", Who: "Codex"},
		{Name: "session_id", Child: "thread-id", Parent: "x-codex-parent-thread-id", Who: "pi, proxies that rename"},
		{Name: "thread-id", Parent: "x-codex-parent-thread-id", Who: "Codex"},
		{Name: "x-session-id", Parent: "x-parent-session-id", Who: "opencode, OpenRouter"},
		{Name: "x-session-affinity", Parent: "x-parent-session-id", Who: "opencode"},
		{Name: "X-OpenWebUI-Chat-Id", Temporary: "local:", Who: "Open WebUI"},
		{Name: "agent-session-id", Who: "goose"},
		{Name: "x-opencode-session", Who: "OpenCode Go, Kilo"},
		{Name: "X-Agent-Session-Id", Who: "Hermes"},
		{Name: "x-grok-conv-id", Who: "xAI"},
		{Name: "x-thread-id"},
		{Name: "x-conversation-id"},
		{Name: "X-Task-ID"},
	}
}
