package extract

import (
	"strings"
	"testing"
)

// What a message passes on is left out of the user's own words, and nothing else
// is. The words to look for are upper-case.
func TestMine(t *testing.T) {
	for _, text := range []string{
		"Can you shorten this note?\n\nDear all, THEIRS.\n\nYours, Kim",
		"MINE. What do you make of this message?\nI THEIRS.",
		"MINE\n\nOn Tue, 3 Nov 2026, Kim Lee wrote:\nI THEIRS",
		"MINE.\n\n---- Forwarded message ----\nI THEIRS",
		"Look:\nFrom: Kim\nDate: today\n\nI THEIRS",
		"MINE. Kim wrote: I THEIRS.",
		"Is it right? <!-- I THEIRS\nTHEIRS --> MINE.",
		"```\nTHEIRS\n```\nMINE.",
		"Why does this code fail?\n```\nTHEIRS\n```\nMINE.",
		"Human: THEIRS\nAssistant: THEIRS\n\nMINE.",
		"<note>THEIRS</note> MINE.",
		"<资料>\nTHEIRS\n</资料>\nMINE。",
		"MINE。老王写道：THEIRS。",
		"MINE。这段文字通顺吗？\nTHEIRS。",
		"以下是合同内容：\n\nTHEIRS。",
		"MINE。\n------ 原始邮件 ------\nTHEIRS",
		"About me:\n- MINE\n- MINE",
		"Remember the following text:\nMINE",
		"I said: MINE.",
		"我说：MINE。",
		"Can you help me with this?\n\nMINE.",
		"From: Berlin is where I come MINE.",
		"记住以下内容：\nMINE。",
		"My notes on this page:\nMINE",
	} {
		got := mine(text)
		if strings.Contains(got, "THEIRS") || strings.Count(got, "MINE") != strings.Count(text, "MINE") {
			t.Errorf("%q leaves %q", text, got)
		}
	}
}

func TestUnmasked(t *testing.T) {
	for text, want := range map[string]string{
		"Тhе usеr": "The user", "i g n o r e the rest": "ignore the rest", "忽 略 之 前": "忽略之前", "ｉｇｎｏｒｅ": "ignore",
		"a b test": "a b test", "use vim": "use vim", "r.e.m.e.m.b.e.r": "remember",
	} {
		if got := unmasked(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}
