package inject

import (
	"slices"
	"testing"

	"hindsight/store"
)

// TestGateInSmallScopes: one or two memories say nothing about which words are
// rare; the background must.
func TestGateInSmallScopes(t *testing.T) {
	for _, c := range []struct {
		memories []store.Memory
		ask      string
		want     []string
	}{
		{[]store.Memory{fact("m", "User's name is Ann")}, "what is my name?", []string{"m"}},
		{[]store.Memory{fact("m", "User's name is Ann")}, "我叫什么名字？", []string{"m"}},
		{[]store.Memory{fact("m", "My name is Ann.")}, "Do you know my name?", []string{"m"}},
		{[]store.Memory{fact("m", "I live in Lisbon.")}, "Where do I live?", []string{"m"}},
		{[]store.Memory{fact("m", "My favourite colour is teal.")}, "what's my favorite color?", []string{"m"}},
		{[]store.Memory{fact("m", "我叫小李")}, "你知道我的名字吗？", []string{"m"}},
		{[]store.Memory{fact("m", "我喜欢用深色主题")}, "帮我选一个主题，我喜欢什么颜色的主题？", []string{"m"}},
		{[]store.Memory{{ID: "m", Tenant: "t", Type: store.Preference, Text: "User prefers tabs over spaces"}}, "write me a Go function and mind my formatting preferences", []string{"m"}},
		{[]store.Memory{fact("docs", "接口文档在哪里"), fact("m", "上周三登录接口504超时")}, "上次那个接口的问题解决了吗", []string{"m"}},
		{[]store.Memory{fact("m", "User's name is Ann")}, "hello", nil},
		{[]store.Memory{fact("m", "User's name is Ann")}, "write a poem about the sea", nil},
		{[]store.Memory{fact("m", "User's name is Ann")}, "how do I name a branch in git?", nil},
		{[]store.Memory{fact("m", "User likes to write poems")}, "write an invoice", nil},
		{[]store.Memory{fact("m", "用户喜欢写诗")}, "谢谢", nil},
		{[]store.Memory{fact("m", "用户在成都工作")}, "帮我写一份工作总结", nil},
	} {
		d := &disk{}
		d.put(c.memories...)
		if got := newIDs(d.engine(t, Config{}).Plan(t.Context(), talk("s", c.ask))); !slices.Equal(got, append([]string{}, c.want...)) {
			t.Errorf("%q over %q: got %v, want %v", c.ask, c.memories[0].Text, got, c.want)
		}
	}
}
