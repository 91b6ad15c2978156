package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hindsight/store"
)

// Of two memories that a person wrote about one thing the later holds, also
// where the words were changed afterwards, and a conversation's correction
// retires what was written.
func TestWrittenMemoriesAreAboutSomething(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, then, corrected, question, other string }{
		{"The user's badge is B4411.", "My badge is B4412.", "My badge is B4413.", "What is my badge?", "The user keeps hens."},
		{"用户住在杭州。", "用户住在成都。", "我住在宁波。", "我住在哪里？", "用户养了一只猫。"},
	} {
		t.Run(c.first, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first := w.remember("local", `"text":"`+c.first+`","type":"user_fact"`)
			then := w.remember("local", `"text":"`+c.then+`","type":"user_fact"`)
			asked := c.question
			recalled := func() []string {
				t.Helper()
				asked += "?" // the same opening again would be a repetition
				r := w.conversation().say(asked)
				return strings.FieldsFunc(r.header.Get("Hindsight-Memories"), func(r rune) bool { return r == ',' || r == ' ' })
			}
			if got := recalled(); !slices.Equal(got, []string{then.ID}) {
				t.Errorf("recalled %v, want %s alone: %s", got, then.ID, w.last().body)
			}
			w.admin(http.MethodPatch, "/api/v1/memories/"+then.ID, `{"text":"`+c.other+`"}`)
			if got := recalled(); !slices.Contains(got, first.ID) {
				t.Errorf("recalled %v, not %s, once the later one %s is about something else: %s", got, first.ID, then.ID, w.last().body)
			}
			w.admin(http.MethodPatch, "/api/v1/memories/"+then.ID, `{"text":"`+c.then+`"}`)
			if got := recalled(); !slices.Equal(got, []string{then.ID}) {
				t.Errorf("recalled %v, once it is about that again", got)
			}
			kept, dropped := w.learn(c.corrected)
			if len(kept) != 1 {
				t.Fatalf("kept %q, dropped %+v", texts(kept), dropped)
			}
			if got := texts(w.memoriesIn(store.Superseded)); !slices.Contains(got, c.first) || !slices.Contains(got, c.then) {
				t.Errorf("superseded are %q", got)
			}
			if got := recalled(); !slices.Equal(got, []string{kept[0].ID}) {
				t.Errorf("recalled %v after a correction", got)
			}
		})
	}
}

// In a conversation that is reported, a request works at once too.
func TestAskedForInReportedEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The user's badge number is B4411.","type":"user_fact"`)
	report := func(text string) {
		t.Helper()
		w.admin(http.MethodPost, "/api/v1/sessions/told/events?user="+url.QueryEscape("local"), `[{"type":"user_input","payload":{"text":"`+text+`"}}]`)
	}
	report("Please remember that my locker code word is heliotrope.")
	w.until("it is remembered", func() bool { return w.knows("heliotrope") })
	report("记住：我的工位在七楼靠窗。")
	w.until("it is remembered", func() bool { return w.knows("七楼靠窗") })
	report("Please forget my badge number.")
	w.until("it is forgotten", func() bool { return !w.knows("B4411") })
	if got := texts(w.memories("local")); len(got) != 2 {
		t.Errorf("there are %q", got)
	}
}
