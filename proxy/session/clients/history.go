package clients

import "hindsight/proxy/dialect"

// The reasons why a request has no turn of a person's, as in the status header.
const (
	ToolTurn     = "tool_turn"
	NotAUserTurn = "not_a_user_turn"
)

// HumanMessages reads every user message of the history, oldest first; those
// in which nobody spoke have empty words. Other than [Rules.Words] it knows
// the places: another agent's message (its name isn't the first one's), and
// examples in front of the conversation, count for nothing.
func (r *Rules) HumanMessages(req *dialect.Request, app string) []Spoken {
	first := firstUser(req)
	if first < 0 {
		return nil
	}
	out := make([]Spoken, 0, (len(req.Messages)-first+1)/2)
	for i, m := range req.Messages {
		if m.Role != dialect.User {
			continue
		}
		s, examples := r.spoken(req, i, first, app)
		if examples {
			for j := range out {
				out[j].Words, out[j].ThirdParty = "", ""
			}
		}
		out = append(out, s)
	}
	return out
}

// LastUser finds the message that a person has just sent. System and
// developer messages at the end are skipped, since clients put reminders
// there, and so is the beginning of an answer that the model is to continue.
// Without a turn index is -1, ok is false and why is [ToolTurn] or
// [NotAUserTurn].
func (r *Rules) LastUser(req *dialect.Request, app string) (index int, ok bool, why string) {
	return lastUser(req, func(i int) string {
		s, _ := r.spoken(req, i, firstUser(req), app)
		return s.Words
	})
}

// LastOf is [Rules.LastUser] for who has read the messages already.
func LastOf(req *dialect.Request, spoken []Spoken) (index int, ok bool, why string) {
	return lastUser(req, func(i int) string {
		for j := len(spoken) - 1; j >= 0; j-- {
			if spoken[j].Index == i {
				return spoken[j].Words
			}
		}
		return ""
	})
}

func lastUser(req *dialect.Request, words func(int) string) (index int, ok bool, why string) {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		switch m.Role {
		case dialect.System, dialect.Developer:
		case dialect.Assistant:
			if len(m.Calls) > 0 {
				return -1, false, NotAUserTurn
			}
		case dialect.Tool:
			return -1, false, ToolTurn
		case dialect.User:
			switch {
			case words(i) != "":
				return i, true, ""
			case holdsToolResult(m):
				return -1, false, ToolTurn
			}
			return -1, false, NotAUserTurn
		default:
			return -1, false, NotAUserTurn
		}
	}
	return -1, false, NotAUserTurn
}

// spoken reads the user message at i; first is the index of the first one.
// The second result says that everything above the message is examples.
func (r *Rules) spoken(req *dialect.Request, i, first int, app string) (Spoken, bool) {
	m := req.Messages[i]
	if m.Name != "" && m.Name != req.Messages[first].Name {
		return Spoken{Index: i, ThirdParty: m.Text()}, false
	}
	to := r.read(m, app, i == first && answered(req.Messages[i+1:]))
	return Spoken{Index: i, Words: to.words.text(), ThirdParty: to.third.text()}, to.examples
}

// firstUser returns the index of the first user message, or -1.
func firstUser(req *dialect.Request) int {
	for i, m := range req.Messages {
		if m.Role == dialect.User {
			return i
		}
	}
	return -1
}

func answered(after []dialect.Message) bool {
	for _, m := range after {
		if m.Role == dialect.Assistant {
			return true
		}
	}
	return false
}

func holdsToolResult(m dialect.Message) bool {
	for _, p := range m.Parts {
		if p.Kind == dialect.ToolResultPart {
			return true
		}
	}
	return false
}
