package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hindsight/internal/foreign"
	"hindsight/proxy/admin"
)

const (
	// Bounds of one report of events, below those of the API.
	eventsPiece = 1000
	eventBytes  = 4 << 20
	// What a reflection costs besides the conversation: the prompt and the answer,
	// and how much of a conversation one call reads.
	reflectionTokens = 2500
	callReads        = 16000
)

// conversations records what was said elsewhere and has it reflected, after the
// bill was agreed to.
func (i *importing) conversations(ctx context.Context, in *bufio.Reader) error {
	var all []foreign.Conversation
	var bad []foreign.Bad
	var err error
	if i.sum.Format == foreign.ChatGPTExport {
		bad, err = foreign.ChatGPT(in, func(c foreign.Conversation) { all = append(all, c) })
	} else {
		all, bad, err = foreign.OpenAI(in)
	}
	if err != nil {
		return &failure{wrong: err.Error(), next: "Give conversations.json of ChatGPT's export, or a log with one request in JSON a line."}
	}
	i.sum.Bad = append(i.sum.Bad, bad...)
	if len(all) == 0 {
		return nil
	}
	if err := i.agree(all); err != nil {
		return err
	}
	shown := i.long("conversations", len(all))
	defer shown.end()
	for n, c := range all {
		if err := i.conversation(ctx, c); err != nil {
			return err
		}
		shown.at(n + 1)
	}
	return nil
}

// agree says what reflecting on conversations costs and asks whether to go on.
func (i *importing) agree(all []foreign.Conversation) error {
	tokens, calls := 0, 0
	for _, c := range all {
		n := c.Tokens()
		tokens += n
		calls += 1 + n/callReads
	}
	bill := fmt.Sprintf("%s: to reflect on takes about %s and %d tokens at most (nothing where reflection works by rules; a day's share is bounded by reflect.budget, the rest waits)",
		number(len(all), "conversation", "conversations"), number(calls, "model call", "model calls"), tokens+calls*reflectionTokens)
	switch {
	case i.Yes:
		return nil
	case i.in == nil:
		return &failure{wrong: bill, next: "Nothing was imported. Say --yes to go on.", code: exitUsage}
	}
	fmt.Fprintf(i.err, "%s.\nGo on? [y/N] ", bill)
	answer, _ := bufio.NewReader(i.in).ReadString('\n') // no answer is no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &failure{wrong: "nothing was imported"}
	}
	return nil
}

// conversation reports one, and closes it if anything of it was new.
func (i *importing) conversation(ctx context.Context, c foreign.Conversation) error {
	q := i.query()
	put(q, "user", i.User)
	recorded, session := 0, ""
	for len(c.Events) > 0 {
		var piece []admin.ReportedEvent
		size := 0
		for len(c.Events) > 0 && len(piece) < eventsPiece && (size == 0 || size+len(c.Events[0].Text) < eventBytes) {
			e := c.Events[0]
			c.Events = c.Events[1:]
			size += len(e.Text)
			piece = append(piece, admin.ReportedEvent{Type: e.Kind, Time: sayable(e.Time), Payload: admin.Payload{Text: e.Text, Name: e.Name, CallID: e.CallID, Failed: e.Failed}})
		}
		var told struct {
			Session  string `json:"session"`
			Recorded int    `json:"recorded"`
		}
		if _, err := i.client.do(ctx, http.MethodPost, sessionsPath+"/"+url.PathEscape(short(c.ID, 200))+"/events", q, piece, &told); err != nil {
			var f *failure
			if errors.As(err, &f) && (f.status == http.StatusUnprocessableEntity || f.status == http.StatusRequestEntityTooLarge) {
				i.sum.Bad = append(i.sum.Bad, foreign.Bad{Unit: unitOf(i.sum.Format), At: c.At, Reason: f.wrong})
				return nil // the others may be better
			}
			return err
		}
		recorded, session = recorded+told.Recorded, told.Session
	}
	if recorded == 0 {
		i.sum.Repeated++
		return nil
	}
	i.sum.Conversations++
	var closed admin.Closed
	if _, err := i.client.do(ctx, http.MethodPost, sessionsPath+"/"+session+"/close", i.query(), nil, &closed); err != nil {
		return err
	}
	if closed.Reflection != "" {
		i.sum.Reflections++
	}
	return nil
}

// sayable leaves out a time that no conversation can have had.
func sayable(t time.Time) time.Time {
	if time.Until(t) > 0 {
		return time.Time{}
	}
	return t
}

func unitOf(f foreign.Format) string {
	if f == foreign.ChatGPTExport {
		return "conversation"
	}
	return "line"
}
