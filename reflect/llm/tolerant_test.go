package llm

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestList(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   []string // nil: ErrNoJSON
		whole  bool
	}{
		"as asked":               {`{"items":[{"a":1},{"a":2}],"injected":[]}`, []string{`{"a":1}`, `{"a":2}`}, true},
		"nothing":                {`{"items":[]}`, []string{}, true},
		"prose around":           {"Sure! Here is {what} you want:\n{\"items\":[{\"a\":1}]}\nAnything else?", []string{`{"a":1}`}, true},
		"a fence":                {"```json\n{\"items\":[{\"a\":1}]}\n```", []string{`{"a":1}`}, true},
		"a bare array":           {`[{"a":1},{"a":2}]`, []string{`{"a":1}`, `{"a":2}`}, false},
		"a bare empty array":     {"There is nothing: []", []string{}, false},
		"trailing commas":        {`{"items":[{"a":1,},{"a":"x,}"},],}`, []string{`{"a":1}`, `{"a":"x,}"}`}, true},
		"thoughts before":        {"<think>maybe {\"items\":[{\"a\":9}]}?</think>{\"items\":[{\"a\":1}]}", []string{`{"a":1}`}, true},
		"one that is no JSON":    {`{"items":[{"a":1},{a:2},{"a":3}]}`, []string{`{"a":1}`, `"{a:2}"`, `{"a":3}`}, false},
		"the end is missing":     {`{"items":[{"a":1},{"a":2},{"a":`, []string{`{"a":1}`, `{"a":2}`}, false},
		"brackets in strings":    {`{"items":[{"a":"}]{\""}]}`, []string{`{"a":"}]{\""}`}, true},
		"another list":           {`{"things":[1,2]}`, nil, false},
		"prose":                  {`I can't help with [1] that.`, nil, false},
		"empty":                  {``, nil, false},
		"items that are no list": {`{"items":"none"}`, nil, false},
	} {
		list, whole, err := List(c.answer, "items")
		if c.want == nil {
			if !errors.Is(err, ErrNoJSON) {
				t.Errorf("%s: %v %s", name, err, list)
			}
			continue
		}
		got := []string{}
		for _, raw := range list {
			got = append(got, string(raw))
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if (whole != nil) != c.whole {
			t.Errorf("%s: whole %v", name, whole != nil)
		}
	}
}

func FuzzList(f *testing.F) {
	f.Add(`{"items":[{"a":1},]}`)
	f.Add("```[{\"a\":\"\\\"}]")
	f.Fuzz(func(t *testing.T, s string) {
		list, _, err := List(s, "items")
		if err != nil && len(list) > 0 {
			t.Errorf("an error and %d items", len(list))
		}
	})
}
