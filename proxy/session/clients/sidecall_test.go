package clients_test

import (
	"net/http"
	"testing"

	"hindsight/proxy/session/clients"
)

func TestSideCall(t *testing.T) {
	const turn = `{"messages":[{"role":"user","content":"Where is Oslo?"}]}`
	tests := []struct {
		name, body string
		header     [2]string
		want       string
	}{
		{"a turn", turn, [2]string{}, ""},

		{"the client says so", turn, [2]string{"Hindsight-Task", "title_generation"}, clients.SideTask},
		{"empty task", turn, [2]string{"Hindsight-Task", " "}, ""},
		{"unexpanded task", turn, [2]string{"Hindsight-Task", "{{TASK}}"}, ""},

		{"Codex compaction", turn, [2]string{"X-Codex-Turn-Metadata", `{"request_kind":"compaction"}`}, clients.SideKind},
		{"Codex turn", turn, [2]string{"X-Codex-Turn-Metadata", `{"request_kind":"turn"}`}, ""},
		{"Codex without a kind", turn, [2]string{"X-Codex-Turn-Metadata", `{"turn_id":"1"}`}, ""},
		{"broken metadata", turn, [2]string{"X-Codex-Turn-Metadata", `{`}, ""},
		{"older Codex compaction", turn, [2]string{"Codex-Task-Type", "compact"}, clients.SideKind},
		{"older Codex turn", turn, [2]string{"Codex-Task-Type", "standard"}, ""},

		{"no user", `{"messages":[{"role":"system","content":"Pick one of a, b"}]}`, [2]string{}, clients.SideNoUser},
		{"tool output alone", `{"messages":[{"role":"tool","content":"ok"}]}`, [2]string{}, ""},
		{"state at the provider", `{"previous_response_id":"resp_1","messages":[{"role":"system","content":"s"}]}`, [2]string{}, ""},

		{"probe", `{"max_tokens":1,"tools":[1],"messages":[{"role":"user","content":"Where is Oslo?"}]}`, [2]string{}, clients.SideProbe},
		{"greeting with few tokens", `{"max_tokens":16,"messages":[{"role":"user","content":"Hi!"}]}`, [2]string{}, clients.SideProbe},
		{"Chinese greeting with few tokens", `{"max_tokens":10,"messages":[{"role":"user","content":"你好。"}]}`, [2]string{}, clients.SideProbe},
		{"greeting", `{"messages":[{"role":"user","content":"Hi!"}]}`, [2]string{}, ""},
		{"greeting with tools", `{"max_tokens":16,"tools":[1],"messages":[{"role":"user","content":"Hi!"}]}`, [2]string{}, ""},
		{"short answer wanted", `{"max_tokens":16,"messages":[{"role":"user","content":"Is Oslo a city?"}]}`, [2]string{}, ""},

		{"title as JSON", `{"schema":["title"],"messages":[{"role":"user","content":"Where is Oslo?"}]}`, [2]string{}, clients.SideSchema},
		{"title and more as JSON", `{"schema":["title","price"],"messages":[{"role":"user","content":"Where is Oslo?"}]}`, [2]string{}, ""},
		{"title as JSON with tools", `{"tools":[1],"schema":["title"],"messages":[{"role":"user","content":"Where is Oslo?"}]}`, [2]string{}, ""},
	}
	r := shipped(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.header[0] != "" {
				h.Set(tt.header[0], tt.header[1])
			}
			if got := r.SideCall(request(t, tt.body), h, ""); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCodexKindInTheBody(t *testing.T) {
	req := request(t, `{"messages":[{"role":"user","content":"Where is Oslo?"}]}`)
	req.ClientMetadata = map[string]string{"x-codex-turn-metadata": `{"request_kind":"compaction"}`}
	if got := shipped(t).SideCall(req, http.Header{}, "codex"); got != clients.SideKind {
		t.Errorf("got %q, want %q", got, clients.SideKind)
	}
}

func TestSideCallPhrases(t *testing.T) {
	tests := []struct {
		name, body string
		side       bool
	}{
		{"opencode title", `{"messages":[{"role":"system","content":"You are a title generator. You output ONLY a thread title."},{"role":"user","content":"Generate a title for this conversation:\n"},{"role":"user","content":"I prefer tabs"}]}`, true},
		{"instruction before the words", `{"messages":[{"role":"user","content":"Generate a title for this conversation:\n"},{"role":"user","content":"I prefer tabs"}]}`, true},
		{"Claude Code title in a later block", `{"messages":[{"role":"system","content":[{"type":"text","text":"x-billing: 1"},{"type":"text","text":"You are naming a coding session so that the user finds it."}]},{"role":"user","content":"<session>\nI prefer tabs\n</session>"}]}`, true},
		{"reworded title prompt", `{"messages":[{"role":"system","content":"Your job: generate a short, clear title for the chat below."},{"role":"user","content":"I prefer tabs"}]}`, true},
		{"LibreChat title", `{"messages":[{"role":"user","content":"Provide a concise, 5-word-or-less title for the conversation, using title case."}]}`, true},
		{"NextChat title", `{"messages":[{"role":"user","content":"我喜欢制表符"},{"role":"assistant","content":"好"},{"role":"user","content":"使用四到五个字直接返回这句话的简要主题，不要解释"}]}`, true},
		{"NextChat summary, final system message", `{"messages":[{"role":"user","content":"我喜欢制表符"},{"role":"assistant","content":"好"},{"role":"system","content":"简要总结一下对话内容，用作后续的上下文提示 prompt，控制在 200 字以内"}]}`, true},
		{"FastGPT questions", `{"messages":[{"role":"user","content":"我喜欢制表符"},{"role":"assistant","content":"好"},{"role":"user","content":"你是一个AI智能助手，可以回答和解决我的问题。请结合前面的对话记录，帮我生成 3 个问题，引导我继续提问。"}]}`, true},
		{"LobeChat title", `{"messages":[{"role":"system","content":"你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题"},{"role":"user","content":"我喜欢制表符"}]}`, true},
		{"Open WebUI tags", `{"messages":[{"role":"user","content":"### Task:\nGenerate 1-3 broad tags\n### Chat History:\n<chat_history>\nUSER: I prefer tabs\n</chat_history>"}]}`, true},
		{"Open WebUI turn with a file", `{"messages":[{"role":"user","content":"### Task:\nRespond to the user query using the provided context\n<context>\nthe chat history of 1990\n</context>\n\nWhat colour?"}]}`, false},
		{"Codex compaction", `{"messages":[{"role":"user","content":"Run it"},{"role":"assistant","content":"ok"},{"role":"user","content":"You are performing a CONTEXT CHECKPOINT COMPACTION. Create a summary."}]}`, true},
		{"Claude Code compaction with tools", `{"tools":[1],"messages":[{"role":"user","content":"Run it"},{"role":"assistant","content":"ok"},{"role":"user","content":"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."}]}`, true},
		{"memory extraction with tools, in its tool round", `{"tools":[1],"messages":[{"role":"user","content":"Run it"},{"role":"assistant","content":"ok"},{"role":"user","content":"You are now acting as the managed memory extraction subagent."},{"role":"assistant","tool_calls":[{"ID":"c"}]},{"role":"tool","content":"ok"}]}`, true},
		{"AutoGen selector, asked again", `{"messages":[{"role":"system","content":"You are in a role play game. The following roles are available:\na: b\nThen select the next role from ['a']"},{"role":"assistant","content":"x"},{"role":"user","name":"user","content":"No valid name was mentioned."}]}`, true},

		// Look-alikes.
		{"a title for a blog", `{"messages":[{"role":"user","content":"Generate a title for my blog"}]}`, false},
		{"a Chinese title", `{"messages":[{"role":"user","content":"给我的文章起一个标题"}]}`, false},
		{"asked with tools at hand", `{"tools":[1],"messages":[{"role":"user","content":"Generate a title for this conversation"}]}`, false},
		{"an application for video titles", `{"messages":[{"role":"system","content":"You are a title generator for cooking videos."},{"role":"user","content":"Soup in 5 minutes"}]}`, false},
		{"own heading", `{"messages":[{"role":"user","content":"### Task:\nWrite a poem about rain"}]}`, false},
		{"phrase in the middle", `{"messages":[{"role":"user","content":"Why does it say CRITICAL: Respond with TEXT ONLY here?"}]}`, false},
		{"about a memory extraction subagent", `{"messages":[{"role":"user","content":"How does a memory extraction subagent work?"}]}`, false},
		{"the turn after an answered title request", `{"messages":[{"role":"user","content":"Generate a title for this conversation"},{"role":"assistant","content":"Tabs"},{"role":"user","content":"And a longer one"}]}`, false},
		{"phrase deep in a system prompt", `{"messages":[{"role":"system","content":"` + filler(320) + `You are naming a coding session"},{"role":"user","content":"hello you"}]}`, false},
		{"phrase deep in a later block", `{"messages":[{"role":"system","content":[{"type":"text","text":"` + filler(280) + `"},{"type":"text","text":"You are naming a coding session"}]},{"role":"user","content":"hello you"}]}`, false},
	}
	r := shipped(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			if tt.side {
				want = clients.SidePhrase
			}
			if got := r.SideCall(request(t, tt.body), http.Header{}, ""); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestSideCallInSession(t *testing.T) {
	unlike := clients.SessionFacts{Explicit: true, HadTools: true, OtherSystem: true}
	const quiet = `{"messages":[{"role":"system","content":"Name it"},{"role":"user","content":"I prefer tabs"}]}`
	const transcript = `{"stream":true,"messages":[{"role":"user","content":"Sum up:\nUSER: hello\nASSISTANT: hi"}]}`
	tests := []struct {
		name, body string
		facts      clients.SessionFacts
		side       bool
	}{
		{"unlike the turns, not streamed", quiet, unlike, true},
		{"a transcript, streamed", transcript, unlike, true},
		{"a transcript in elements", `{"stream":true,"messages":[{"role":"user","content":"<conversation>\nx\n</conversation>"}]}`, unlike, true},
		{"streamed, no transcript", `{"stream":true,"messages":[{"role":"user","content":"the USER: mark"}]}`, unlike, false},
		{"not streamed, but answered before", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, unlike, false},
		{"offers tools", `{"tools":[1],"messages":[{"role":"user","content":"a"}]}`, unlike, false},
		{"session not named", quiet, clients.SessionFacts{HadTools: true, OtherSystem: true}, false},
		{"turns without tools", quiet, clients.SessionFacts{Explicit: true, OtherSystem: true}, false},
		{"the turns' own system text", quiet, clients.SessionFacts{Explicit: true, HadTools: true}, false},
	}
	r := shipped(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := r.SideCallInSession(request(t, tt.body), tt.facts)
			if (got == clients.SideSession) != tt.side || !tt.side && got != "" {
				t.Errorf("got %q, want side %v", got, tt.side)
			}
		})
	}
}
