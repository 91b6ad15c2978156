package clients_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hindsight/proxy/dialect"
	"hindsight/proxy/session/clients"
)

func filler(n int) string { return strings.Repeat("x", n) }

func TestNewNamesEveryBadEntry(t *testing.T) {
	_, err := clients.New(clients.Tables{
		UserHeaders:    []clients.Header{{Name: "X-Good"}, {Name: "X Bad"}},
		SessionHeaders: []clients.SessionHeader{{Name: "", Child: "a:b", Parent: "c\n"}},
		SideCalls: []clients.SideCall{
			{Text: "… ", In: []string{"user"}}, {Text: "lonely"}, {Text: "where", In: []string{"elsewhere"}},
		},
		Wrappers: []clients.Wrapper{
			{}, {Tag: "a", Suffix: "b"}, {Tag: "a b"}, {Tag: "*"}, {Tag: "a", Do: "eat"}, {Suffix: "s", Do: "drop"},
			{Suffix: "\n"}, {Suffix: "s", Block: true}, {Tag: "a", Only: true}, {Tag: "a", From: "b"}, {Begin: "b", Whole: true},
			{NotHuman: "x", Do: "unwrap"},
		},
	})
	if err == nil {
		t.Fatal("bad tables compiled")
	}
	for _, want := range []string{
		`user_headers[1]: name "X Bad" is no header name`,
		`session_headers[0]: name is empty`, `child "a:b" is no header name`, `parent "c\n" is no header name`,
		`side_calls[0] "… ": text is blank`, `side_calls[1] "lonely": in is empty`, `side_calls[2] "where": in "elsewhere" is none of`,
		`wrappers[0] "": needs exactly one`, `wrappers[1] "ab": needs exactly one`, `wrappers[2] "a b": tag "a b" is no element name`,
		`wrappers[3] "*": tag "*" is no element name`, `wrappers[4] "a": do "eat" is none of`, `wrappers[5] "s": do "drop" is none of`,
		`wrappers[6] "\n": is blank`, `wrappers[7] "s": block is for tags`, `wrappers[8] "a": only is for tags`,
		`wrappers[9] "a": from, to and third are for begin`, `wrappers[10] "b": with, whole, opening and examples`,
		`wrappers[11] "x": do "unwrap" is none of`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %s:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "user_headers[0]") {
		t.Error("error names a good entry")
	}
}

// The configuration's JSON form, appended to the shipped tables.
func TestTablesFromConfiguration(t *testing.T) {
	var more clients.Tables
	err := json.Unmarshal([]byte(`{
		"user_headers": [{"name": "X-Staff-Id"}],
		"session_headers": [{"name": "X-Chat", "parent": "X-Parent-Chat", "temporary": "tmp-"}],
		"side_calls": [{"text": "给…聊天起名", "in": ["user"], "no_tools": true, "without": ["诗"]}],
		"wrappers": [{"tag": "kb-hit", "do": "third_party"}, {"begin": "Question: ", "to": "\n\nSources:", "third": "Sources:"},
			{"suffix": "\n\nAnswer in JSON."}, {"not_human": "[cron]", "do": "drop"}, {"tag": "system-reminder", "do": "keep"}]}`), &more)
	if err != nil {
		t.Fatal(err)
	}
	base := clients.Default()
	r, err := clients.New(base.Append(more))
	if err != nil {
		t.Fatal(err)
	}
	if h := r.UserHeaders(); h[0].Name != "Hindsight-User" || h[len(h)-1].Name != "X-Staff-Id" {
		t.Errorf("user headers %v", h)
	}
	if h := r.SessionHeaders(); h[0].Name != "Hindsight-Session" || h[len(h)-1].Parent != "X-Parent-Chat" {
		t.Errorf("session headers %v", h)
	}
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"给这个聊天起名"}]}`:             clients.SidePhrase,
		`{"messages":[{"role":"user","content":"给这个聊天起名，写成诗"}]}`:         "",
		`{"tools":[1],"messages":[{"role":"user","content":"给这个聊天起名"}]}`: "",
	} {
		if got := r.SideCall(request(t, body), http.Header{}, ""); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
	words, third := r.Words(user("<kb-hit>red</kb-hit>\nQuestion: What colour?\n\nSources: a.md\n\nAnswer in JSON.", "[cron] 3 jobs", "<system-reminder>mine</system-reminder>"), "")
	if words != "What colour?\n<system-reminder>mine</system-reminder>" || third != "red\na.md" {
		t.Errorf("words %q, third %q", words, third)
	}
	if len(base.Wrappers) != len(clients.Default().Wrappers) {
		t.Error("Append changed the tables that it was called on")
	}
}

func TestSessionHeadersOfSubAgents(t *testing.T) {
	for name, want := range map[string]clients.SessionHeader{
		"X-Claude-Code-Session-Id": {Child: "X-Claude-Code-Agent-Id"},
		"session-id":               {Child: "thread-id", Parent: "x-codex-parent-thread-id"},
		"x-session-id":             {Parent: "x-parent-session-id"},
		"X-OpenWebUI-Chat-Id":      {Temporary: "local:"},
	} {
		all := shipped(t).SessionHeaders()
		i := slices.IndexFunc(all, func(h clients.SessionHeader) bool { return h.Name == name })
		if i < 0 || all[i].Child != want.Child || all[i].Parent != want.Parent || all[i].Temporary != want.Temporary {
			t.Errorf("%s: entry %d of %v", name, i, all)
		}
	}
}

// A shipped phrase or beginning that its own rule doesn't find is a typo.
func TestShippedEntriesFindThemselves(t *testing.T) {
	r := shipped(t)
	for _, s := range clients.Default().SideCalls {
		text := strings.ReplaceAll(s.Text, "…", " some ") + " " + strings.Join(s.With, " ")
		for _, in := range s.In {
			msgs := []dialect.Message{user("I prefer tabs")}
			m := user(text)
			switch in {
			case clients.InSystem:
				m.Role = dialect.System
				msgs = append([]dialect.Message{m}, msgs...)
			case clients.InLastSystem:
				m.Role = dialect.System
				msgs = append(msgs, m)
			default:
				msgs = append(msgs, m)
			}
			if got := r.SideCall(&dialect.Request{Messages: msgs}, http.Header{}, ""); got != clients.SidePhrase {
				t.Errorf("%q in %s isn't found", s.Text, in)
			}
		}
	}
	for _, w := range clients.Default().Wrappers {
		if w.NotHuman == "" || w.Opening {
			continue
		}
		text := w.NotHuman
		if len(w.With) > 0 {
			text += w.With[0]
		}
		if words, _ := r.Words(user(text), ""); words != "" {
			t.Errorf("%q is taken for a person's words", text)
		}
	}
}

func TestApp(t *testing.T) {
	tests := []struct {
		header map[string]string
		want   string
	}{
		{nil, ""},
		{map[string]string{"User-Agent": "claude-cli/2.1.332 (external, cli)", "X-App": "cli"}, "claude-code"},
		{map[string]string{"User-Agent": "codex_exec/0.171.0 (Debian)", "Originator": "codex_exec"}, "codex"},
		{map[string]string{"User-Agent": "opencode/1.18.33 ai-sdk/1"}, "opencode"},
		{map[string]string{"X-Title": "Cherry Studio", "User-Agent": "Mozilla/5.0"}, "cherry-studio"},
		{map[string]string{"User-Agent": "OpenAI/Python 3.57.0"}, "openai/python"},
		{map[string]string{"User-Agent": "Python/3.11 aiohttp/3.14.5"}, "python"},
		{map[string]string{"User-Agent": "odd/"}, "odd/"},
		{map[string]string{"Hindsight-Agent": "Reviewer", "User-Agent": "claude-cli/2"}, "claude-code"},
		{map[string]string{"Hindsight-Agent": "Reviewer", "User-Agent": "OpenAI/JS 6"}, "reviewer"},
		{map[string]string{"Hindsight-Agent": "aider", "User-Agent": "OpenAI/Python 2"}, "aider"},
		{map[string]string{"X-App": "shop", "User-Agent": " "}, "shop"},
	}
	for _, tt := range tests {
		h := http.Header{}
		for k, v := range tt.header {
			h.Set(k, v)
		}
		if got := clients.App(h); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.header, got, tt.want)
		}
	}
}
