package admin

import (
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"hindsight/store"
)

// freshEvent is an event that the session doesn't have yet, under the key by
// which it will know it.
type freshEvent struct {
	store.Event
	key store.Hash
}

// unseen gives the events that aren't in the session yet, with their turns. Two
// events that are alike in everything are one, unless one call brings both.
func (a *API) unseen(s store.Session, events []ReportedEvent, seen map[store.Hash]bool, now time.Time) ([]freshEvent, error) {
	var out []freshEvent
	turn := s.Turns
	alike := map[string]int{}
	for _, e := range events {
		stamp := ""
		if !e.Time.IsZero() {
			stamp = strconv.FormatInt(e.Time.UnixNano(), 10)
		}
		p := e.Payload
		parts := []string{string(e.Type), stamp, strconv.Itoa(e.Turn), p.Text, p.Name, p.CallID, strconv.FormatBool(p.Failed), p.ThirdParty}
		which := strings.Join(parts, "\x00")
		alike[which]++
		key, err := a.cfg.Naming.PlaceKey(s.Owner, append(parts, s.ID, strconv.Itoa(alike[which]))...)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			continue
		}
		switch {
		case e.Turn > 0:
			turn = e.Turn
		case e.Type == store.UserInput || turn == 0:
			turn++
		}
		ev := store.Event{Kind: e.Type, Time: e.Time, Turn: turn, Text: p.Text, Name: p.Name, CallID: p.CallID, Failed: p.Failed, ThirdParty: p.ThirdParty}
		if ev.Time.IsZero() {
			ev.Time = now
		}
		if ev.Kind == store.UserInput && p.ThirdParty == "" {
			ev.Text, ev.ThirdParty = a.cfg.Naming.Words(p.Text)
		}
		out = append(out, freshEvent{ev, key})
	}
	return out, nil
}

// offset is the zone of a time that says which: "+08:00". UTC says none, most
// machines' clocks run on it.
func offset(t time.Time) string {
	if _, seconds := t.Zone(); seconds == 0 {
		return ""
	}
	return t.Format("-07:00")
}

// exchangesOf makes one exchange of each run of events of one turn. They were
// received now, whenever they happened: a session that is told late isn't idle
// for that.
func exchangesOf(s store.Session, external string, events []freshEvent, now time.Time) []*store.Exchange {
	var out []*store.Exchange
	for _, e := range events {
		if len(out) == 0 || out[len(out)-1].Turn != e.Turn {
			out = append(out, &store.Exchange{
				ID:      store.ExchangeID(s.ID, strings.ToLower(rand.Text()[:8])),
				Session: s.ID, Owner: s.Owner, Status: store.Complete, Started: e.Time, Finished: now, Turn: e.Turn,
				SessionInfo: store.SessionInfo{ExternalID: external}, Zone: offset(e.Time),
			})
		}
		x := out[len(out)-1]
		if e.Time.Before(x.Started) {
			x.Started = e.Time
		}
		x.Events = append(x.Events, e.Event)
		x.Places = append(x.Places, store.Place{Key: e.key, Turn: e.Turn})
		x.Tokens += store.Tokens(e.Text) + store.Tokens(e.ThirdParty)
		x.Sent = x.Tokens
	}
	return out
}
