package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// talks are the conversations that go on over kills. Each was given a block in its
// first message, which has to be there again, byte for byte, in every later turn.
type talks struct {
	open []*conversation // of the one goroutine that holds them, and of nobody between two rounds
}

type conversation struct {
	tag, session string
	history      []map[string]string
	sent         []string // the user messages of its last turn, as the upstream had them
	at           time.Time
	shown        bool // its last turn was seen recorded
	busy         bool // a turn of it was begun and hasn't ended
}

// owe forgets the conversations of which the binary may have lost something.
func (t *talks) owe(killed time.Time, shown bool) {
	t.open = slices.DeleteFunc(t.open, func(c *conversation) bool {
		owed := c.shown || !shown && killed.Sub(c.at) >= Settled
		return c.busy || !owed || len(c.sent) > 4
	})
}

// asker is the user who holds them.
const asker = "asker"

// goOn goes on with the conversations that a kill interrupted, and then begins
// others.
func (r *run) goOn(ctx context.Context, c *Child, round int) error {
	if round == 0 {
		body, _ := json.Marshal(map[string]any{ // strings only
			"tenant": "kill", "scope": store.UserScope(asker), "type": store.UserFact, "text": "The staging database listens on port 5433.",
		})
		if _, err := Call(ctx, http.MethodPost, c.Admin+"/api/v1/memories", body, asJSON); err != nil {
			return err
		}
	}
	for _, talk := range slices.Clone(r.talks.open) {
		if err := r.ask(ctx, c, talk, "And is that still right?"); err != nil {
			return err
		}
	}
	for n := 0; ctx.Err() == nil && n < 6; n++ {
		talk := &conversation{tag: fmt.Sprintf("r%dn%d", round, n)}
		if err := r.ask(ctx, c, talk, "Which port does the staging database listen on? (talk "+talk.tag+")"); err != nil {
			return err
		}
	}
	return nil
}

// ask has the next turn of a conversation.
func (r *run) ask(ctx context.Context, c *Child, talk *conversation, words string) error {
	talk.busy, talk.shown = true, false
	talk.history = append(talk.history, map[string]string{"role": "user", "content": words})
	x, err := say(ctx, c, asker, talk.history, false)
	if err != nil {
		return err
	}
	before, sent := talk.sent, r.ears.of(talk.tag)
	switch {
	case len(before) == 0 && !strings.HasPrefix(x.memory, "injected"):
		return nil // recall was late: there is nothing to be replayed
	case len(before) == 0:
		r.talks.open = append(r.talks.open, talk)
	case len(sent) <= len(before) || !slices.Equal(sent[:len(before)], before):
		r.rep.fault("after a kill the messages of talk %s aren't those of before: %q, then %q", talk.tag, before, sent)
	case x.session != talk.session:
		r.rep.fault("after a kill talk %s goes on in session %s instead of %s", talk.tag, x.session, talk.session)
	default:
		r.rep.Replayed++
	}
	talk.history = append(talk.history, map[string]string{"role": "assistant", "content": x.answer})
	talk.session, talk.sent, talk.at, talk.busy = x.session, sent, x.at, false
	think(ctx)
	ids, err := recorded(ctx, c, x.session)
	talk.shown = slices.Contains(ids, x.id)
	return err
}

// ears hear what the upstream is sent of the conversations.
type ears struct {
	mu    sync.Mutex
	heard map[string][]string // user messages by tag
}

var tagged = regexp.MustCompile(`\(talk (\w+)\)`)

func (e *ears) record(req fakellm.Request) {
	var in struct {
		Format   json.RawMessage `json:"response_format"`
		Messages []struct{ Role, Content string }
	}
	if json.Unmarshal(req.Body, &in) != nil || in.Format != nil {
		return // another form of content, or a reflection
	}
	var users []string
	for _, m := range in.Messages {
		if m.Role == "user" {
			users = append(users, m.Content)
		}
	}
	if len(users) == 0 {
		return
	}
	if tag := tagged.FindStringSubmatch(users[0]); tag != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.heard[tag[1]] = users
	}
}

func (e *ears) of(tag string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard[tag]
}
