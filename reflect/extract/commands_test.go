package extract

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestCommands asks in the conversation, in many words, to remember, to keep a
// turn out and to forget; beside each stand sentences that look alike and ask
// for nothing: questions, quotes, code, others' words.
func TestCommands(t *testing.T) {
	b, err := os.ReadFile("testdata/commands.json")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	if err := json.Unmarshal(b, &said); err != nil || len(said) != 6 {
		t.Fatalf("%v, %d lists", err, len(said))
	}
	does := map[string]func(s string) bool{
		"remember": func(s string) bool {
			r := Asked(talk("user: My badge is 4412. 我的工牌是4412。", "assistant: ok", "user: "+s))
			return len(r.Candidates)+len(r.Held) > 0 && MayAsk(s)
		},
		"keep out": func(s string) bool { return len(keptOut(talk("user: "+s).Events)) > 0 },
		"forget":   func(s string) bool { return len(Forgets(s)) > 0 && MayAsk(s) },
	}
	for kind, list := range said {
		what, not := strings.CutPrefix(kind, "not ")
		for _, s := range list {
			if does[what](s) == not {
				t.Errorf("%s: %s", kind, s)
			}
		}
	}
}
