package fakellm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// request is what the rules may look at, whatever wire format it came in.
type request struct {
	model    string
	stream   bool
	messages []message
	tools    []string // names of the tools offered
	format   string   // the kind of structured answer asked for, "" for text
	schema   string   // its schema's name

	raw []json.RawMessage // what a prompt cache would hold, in order
	sum [sha256.Size]byte // of the body: ids of the answer follow from it
}

// message is one of a conversation; a tool's result is one of its own.
type message struct {
	role  string // system, user, assistant or tool; other words count as system
	text  string // parts joined
	calls []call
}

type call struct{ name, arguments string }

// reply is what a rule decides: a text, or tool calls, and the thought before.
type reply struct {
	thought string
	text    string
	calls   []call
}

// id makes an id of the answer: from the request, so that the same bytes get
// the same id, and as random as a provider's.
func (r request) id(prefix string) string {
	return prefix + hex.EncodeToString(r.sum[:12])
}

// callID is the i-th tool call's id.
func (r request) callID(prefix string, i int) string {
	return fmt.Sprintf("%s%s%d", prefix, hex.EncodeToString(r.sum[12:24]), i)
}

// seal is what a provider adds to a thought so that it can be passed back: the
// thought can't be changed without it being seen.
func seal(thought string) string {
	sum := sha256.Sum256([]byte("sealed " + thought))
	return "EqQB" + hex.EncodeToString(sum[:])
}

// textOf is the text of a content that is a string or a list of parts, joined
// by line ends.
func textOf(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
