package session

import (
	"strings"
	"time"

	"hindsight/store"
)

// growsWithin is how long a single message may wait for its next form.
const growsWithin = 10 * time.Minute

// growth is the last single message of one tenant, user, agent and system text: an
// application may send it again with more at its end (ReAct). Only a hash of
// the text is kept, and only once the message has been answered.
type growth struct {
	session string
	key     store.Hash // the place of the message's first form
	length  int
	text    store.Hash
	at      time.Time
}

// plainWords is the length up to which a message that another one begins with
// must end with its line. "Hello" and "Hello, can you …" are two conversations;
// a prompt that grows is long, or grows by lines.
const plainWords = 24

// single returns the text of the only message of a request that has no other,
// system and developer ones apart.
func (r *reading) single() (int, string, bool) {
	if len(r.users) != 1 || r.length != 1 {
		return 0, "", false
	}
	i := r.users[0].index
	return i, r.req.Messages[i].Text(), true
}

// growing is the name under which a message of a system text and an agent may
// grow. Another agent's is another conversation: what the first was given may come
// from scopes that the other doesn't read.
func (h *hasher) growing(system store.Hash, agent string) store.Hash {
	switch {
	case agent != "":
		return h.hash("grown", raw(system), agent)
	case system == h.noSystem:
		return h.growsUnderNone
	}
	return h.hash("grown", raw(system))
}

// grown says whether text is the message of g with more at its end.
func (h *hasher) grown(g growth, text string, now time.Time) bool {
	if g.length == 0 || len(text) <= g.length || now.Sub(g.at) > growsWithin {
		return false
	}
	first, more := text[:g.length], text[g.length:]
	if len(first) < plainWords && !strings.HasSuffix(first, "\n") && !strings.HasPrefix(more, "\n") {
		return false
	}
	return h.hash("growing", first) == g.text
}
