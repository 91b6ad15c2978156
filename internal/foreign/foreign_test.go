package foreign

import (
	"bufio"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func reader(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), detectBytes) }

const chatgptFile = `[
 {"title":"Trip","create_time":1700000000.5,"conversation_id":"c-1","current_node":"n4","mapping":{
  "root":{"id":"root","message":null,"parent":null,"children":["n1"]},
  "n1":{"message":{"author":{"role":"system"},"content":{"content_type":"text","parts":["You help."]}},"parent":"root"},
  "n1b":{"message":{"author":{"role":"user"},"content":{"content_type":"user_editable_context","user_profile":"x"},"metadata":{"is_user_system_message":true}},"parent":"n1"},
  "n2":{"message":{"author":{"role":"user"},"create_time":1700000001,"content":{"content_type":"multimodal_text","parts":[{"asset_pointer":"p"},"我住在杭州。"]}},"parent":"n1b"},
  "old":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["An answer that was asked for again."]}},"parent":"n2"},
  "n3":{"message":{"author":{"role":"assistant"},"recipient":"browser","content":{"content_type":"code","text":"search(1)"}},"parent":"n2"},
  "n4":{"message":{"author":{"role":"assistant"},"recipient":"all","content":{"content_type":"text","parts":["杭州很美。"]}},"parent":"n3"}}},
 {"title":"Empty","id":"c-2","current_node":"a","mapping":{"a":{"message":null}}},
 {"title":"Broken","id":"c-3","current_node":"lost","mapping":{"a":{"message":null}}},
 17
]`

func TestChatGPT(t *testing.T) {
	r := reader(chatgptFile)
	if f := Detect(r); f != ChatGPTExport {
		t.Fatalf("detected %q", f)
	}
	var got []Conversation
	bad, err := ChatGPT(r, func(c Conversation) { got = append(got, c) })
	if err != nil || len(bad) != 2 || bad[0].At != 3 || bad[1].At != 4 {
		t.Fatalf("bad: %v, %v", bad, err)
	}
	at := moment([]byte("1700000001"))
	want := []Conversation{{ID: "c-1", At: 1, Title: "Trip", Events: []store.Event{
		{Kind: store.UserInput, Time: at, Text: "我住在杭州。"},
		{Kind: store.ToolCall, Name: "browser", Text: "search(1)"},
		{Kind: store.FinalOutput, Text: "杭州很美。"},
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMem0(t *testing.T) {
	one := `{"id":"a1","memory":"User prefers tea","user_id":"ann","categories":["food"],"metadata":{"n":1},"created_at":"2025-03-01T10:00:00.123456-07:00"}`
	for name, file := range map[string]string{
		"library":  "{\n \"results\": [" + one + `,{"memory":" "}]}`,
		"platform": `[` + one + `,{"memory":" "}]`,
		"lines":    one + "\n" + `{"memory":""}`,
		"paged":    `{"memories":[` + one + `,{"memory":5}],"count":2}`,
	} {
		r := reader(file)
		if f := Detect(r); f != Mem0Export {
			t.Errorf("%s: detected %q", name, f)
		}
		ms, bad, err := Mem0(r)
		if err != nil || len(ms) != 1 || len(bad) != 1 || bad[0].At != 2 {
			t.Errorf("%s: %v, %v, %v", name, ms, bad, err)
			continue
		}
		m := ms[0]
		if m.Text != "User prefers tea" || m.Type != store.Preference || m.Scope != "user:ann" || m.Metadata["mem0_id"] != "a1" || m.Metadata["n"] != "1" || m.CreatedAt.Format("15:04") != "17:00" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if ms, _, _ := Mem0(reader(`[{"memory":"Works at Acme","agent_id":"bot"}]`)); len(ms) != 1 || ms[0].Type != store.UserFact || ms[0].Scope != "agent:bot" {
		t.Errorf("an agent's: %+v", ms)
	}
}

func TestOpenAI(t *testing.T) {
	file := strings.Join([]string{
		`{"messages":[{"role":"system","content":"You help."},{"role":"user","content":"My port is 8080."}],"response":{"created":1700000000,"choices":[{"message":{"role":"assistant","content":"Noted."}}]}}`,
		`not JSON`,
		`{"request":{"messages":[{"role":"system","content":"You help."},{"role":"user","content":"My port is 8080."},{"role":"assistant","content":"Noted."},{"role":"user","content":[{"type":"text","text":"And now?"}]}]},"response":{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"k1","function":{"name":"look","arguments":"{}"}}]}}]}}`,
		`{"custom_id":"r3","body":{"messages":[{"role":"user","content":"Another conversation."}]}}`,
		`{"messages":[]}`,
		`{"messages":[{"role":"system","content":"Nobody speaks."}]}`,
	}, "\n")
	r := reader(file)
	if f := Detect(r); f != OpenAILog {
		t.Errorf("detected %q", f)
	}
	got, bad, err := OpenAI(r)
	if err != nil || len(bad) != 2 || bad[0].At != 2 || bad[1].At != 5 {
		t.Fatalf("bad: %v, %v", bad, err)
	}
	var kinds []string
	for _, e := range got[0].Events {
		kinds = append(kinds, string(e.Kind)+" "+e.Text+e.Name)
	}
	want := []string{"user_input My port is 8080.", "final_output Noted.", "user_input And now?", "tool_call {}look"}
	if len(got) != 2 || !cmp.Equal(kinds, want) || got[1].Events[0].Text != "Another conversation." {
		t.Errorf("got %+v", got)
	}
	again, _, _ := OpenAI(reader(file))
	if again[0].ID != got[0].ID || again[1].ID != got[1].ID || got[0].ID == got[1].ID {
		t.Errorf("ids: %s, %s; again %s, %s", got[0].ID, got[1].ID, again[0].ID, again[1].ID)
	}
	// The same first words in two conversations.
	twice, _, _ := OpenAI(reader(`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}` + "\n" + `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"z"}]}`))
	if len(twice) != 2 {
		t.Errorf("two conversations became %d", len(twice))
	}
}

func TestDetect(t *testing.T) {
	for file, want := range map[string]Format{
		"": "", "hello": "", "{}": "",
		`{"id":"m1","text":"x","type":"event"}`: HindsightLines,
		"\ufeff" + `{"kind":"session"}`:         HindsightLines,
	} {
		if got := Detect(reader(file)); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
	if _, _, err := Mem0(reader("")); err == nil {
		t.Error("an empty file is read")
	}
}
