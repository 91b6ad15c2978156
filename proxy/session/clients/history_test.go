package clients_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/session/clients"
)

func TestLastUser(t *testing.T) {
	tests := []struct {
		name, body string
		index      int
		why        string
	}{
		{"plain", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi there"}]}`, 1, ""},
		{"reminders at the end", `{"messages":[{"role":"user","content":"你好吗"},{"role":"system","content":"<system-reminder>x</system-reminder>"},{"role":"developer","content":"y"}]}`, 0, ""},
		{"beginning of an answer", `{"messages":[{"role":"user","content":"a haiku"},{"role":"assistant","content":"Rain"}]}`, 0, ""},
		{"tool message", `{"messages":[{"role":"user","content":"run"},{"role":"assistant","tool_calls":[{"ID":"c1"}]},{"role":"tool","content":"ok"}]}`, -1, clients.ToolTurn},
		{"tool results only", `{"messages":[{"role":"user","content":"run"},{"role":"user","content":[{"type":"tool_result"}]},{"role":"system","content":"r"}]}`, -1, clients.ToolTurn},
		{"tool result and reminder", `{"messages":[{"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"<system-reminder>x</system-reminder>"}]}]}`, -1, clients.ToolTurn},
		{"tool result and words", `{"messages":[{"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"stop that"}]}]}`, 0, ""},
		{"call without its result", `{"messages":[{"role":"user","content":"run"},{"role":"assistant","tool_calls":[{"ID":"c1"}]}]}`, -1, clients.NotAUserTurn},
		{"notification", `{"messages":[{"role":"user","content":"run"},{"role":"assistant","content":"ok"},{"role":"user","content":"[SYSTEM NOTIFICATION] done"}]}`, -1, clients.NotAUserTurn},
		{"picture alone", `{"messages":[{"role":"user","content":[{"type":"image"}]}]}`, -1, clients.NotAUserTurn},
		{"another agent", `{"messages":[{"role":"user","name":"user","content":"Build it"},{"role":"user","name":"planner","content":"First a plan"}]}`, -1, clients.NotAUserTurn},
		{"unknown item at the end", `{"messages":[{"role":"user","content":"run"},{"role":"unknown"}]}`, -1, clients.NotAUserTurn},
		{"system alone", `{"messages":[{"role":"system","content":"s"}]}`, -1, clients.NotAUserTurn},
		{"asked at the end, not by a client", `{"messages":[{"role":"user","content":"What did we do so far?"}]}`, 0, ""},
		{"nothing", `{"messages":[]}`, -1, clients.NotAUserTurn},
	}
	r := shipped(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			index, ok, why := r.LastUser(request(t, tt.body), "")
			read := request(t, tt.body)
			if i, o, w := clients.LastOf(read, r.HumanMessages(read, "")); i != index || o != ok || w != why {
				t.Errorf("LastOf = %d, %v, %q, and LastUser = %d, %v, %q", i, o, w, index, ok, why)
			}
			if index != tt.index || why != tt.why || ok != (tt.why == "") {
				t.Errorf("got %d, %v, %q, want %d, %q", index, ok, why, tt.index, tt.why)
			}
		})
	}
}

func TestHumanMessages(t *testing.T) {
	tests := []struct {
		name, body string
		want       []clients.Spoken
	}{
		{"a conversation with a tool round", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"first"},
			{"role":"assistant","content":"a"},{"role":"tool","content":"t"},{"role":"user","content":[{"type":"tool_result"}]},{"role":"user","content":"第二"}]}`,
			[]clients.Spoken{{Index: 1, Words: "first"}, {Index: 4}, {Index: 5, Words: "第二"}}},
		{"examples in front", `{"messages":[{"role":"user","content":"Change f() to use math.f"},{"role":"assistant","content":"ok"},
			{"role":"user","content":"Observation: old"},{"role":"assistant","content":"ok"},
			{"role":"user","content":"I switched to a new code base. Please don't consider the above files or try to edit them any longer."},
			{"role":"assistant","content":"Ok."},{"role":"user","content":"Run it"}]}`,
			[]clients.Spoken{{Index: 0}, {Index: 2}, {Index: 4}, {Index: 6, Words: "Run it"}}},
		{"a team of agents", `{"messages":[{"role":"user","name":"ann","content":"Build it"},{"role":"assistant","content":"ok"},
			{"role":"user","name":"coder","content":"I prefer spaces"},{"role":"user","name":"ann","content":"Go on"},{"role":"user","content":"unnamed"}]}`,
			[]clients.Spoken{{Index: 0, Words: "Build it"}, {Index: 2, ThirdParty: "I prefer spaces"}, {Index: 3, Words: "Go on"}, {Index: 4, Words: "unnamed"}}},
		{"a summary's opening", `{"messages":[{"role":"user","content":"What did we do so far?"},{"role":"assistant","content":"We built it"},{"role":"user","content":"Go on"}]}`,
			[]clients.Spoken{{Index: 0}, {Index: 2, Words: "Go on"}}},
		{"an opening that only begins like it", `{"messages":[{"role":"user","content":"What did we do so far? Ask Ben."},{"role":"assistant","content":"ok"}]}`,
			[]clients.Spoken{{Index: 0, Words: "What did we do so far? Ask Ben."}}},
		{"the same question later is a person's", `{"messages":[{"role":"user","content":"Build it"},{"role":"assistant","content":"ok"},
			{"role":"user","content":"What did we do so far?"},{"role":"assistant","content":"We built it"},{"role":"user","content":"Go on"}]}`,
			[]clients.Spoken{{Index: 0, Words: "Build it"}, {Index: 2, Words: "What did we do so far?"}, {Index: 4, Words: "Go on"}}},
	}
	r := shipped(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, r.HumanMessages(request(t, tt.body), "")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
