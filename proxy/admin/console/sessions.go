package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"hindsight/proxy/admin"
	"hindsight/store"
)

const turnsPerPage = 40

// sessionsPage is the list of conversations.
type sessionsPage struct {
	State, Scope string
	Sessions     []admin.Session
	Next, First  string
}

func (c *Console) sessions(v *visit) error {
	q := v.r.URL.Query()
	p := &sessionsPage{State: q.Get("state"), Scope: q.Get("scope")}
	ask := v.tenant()
	for name, value := range map[string]string{"state": p.State, "scope": p.Scope, "cursor": q.Get("cursor"), "limit": strconv.Itoa(perPage)} {
		put(ask, name, value)
	}
	var page struct {
		Sessions []admin.Session
		Next     string `json:"next_cursor"`
	}
	if err := v.get("/sessions", ask, &page); err != nil {
		return err
	}
	p.Sessions = page.Sessions
	p.Next, p.First = v.turn(page.Next)
	v.page("sessions", "nav.sessions", http.StatusOK, p)
	return nil
}

// sessionOne is the page of one conversation.
type sessionOne struct {
	admin.Session
	Turns    []*turn
	Kept     []store.Memory
	Dropped  []store.Dropped
	Jobs     []store.Job
	Working  bool // a reflection is to come
	From     int  // the first turn that is shown
	Earlier  string
	Later    string
	AllTurns int
}

// turn is what was said from one word of the user's to the next.
type turn struct {
	Number    int
	Given     []store.Memory // put in front of it
	Events    []event
	Exchanges []admin.Exchange
}

// event is one step of a conversation; its pieces are its text, with what a
// memory rests on marked.
type event struct {
	store.Event
	Pieces []Piece
}

// session shows a conversation. A memory's id in the query marks its evidence.
func (c *Console) session(v *visit) error {
	id, q := v.r.PathValue("id"), v.r.URL.Query()
	var s struct {
		admin.Session
		Events    []store.Event
		Exchanges []admin.Exchange
	}
	if err := v.get("/sessions"+part(id), v.tenant(), &s); err != nil {
		return err
	}
	evidence, err := v.quotes(q.Get("memory"), s.ID)
	if err != nil {
		return err
	}
	p := &sessionOne{Session: s.Session}
	turns := turnsOf(s.Events, s.Exchanges, evidence)
	p.AllTurns = len(turns)
	p.page(v, turns)
	known := map[string]*store.Memory{}
	for _, t := range p.Turns {
		for _, x := range t.Exchanges {
			for _, r := range x.Injected {
				if m, err := v.remembered(known, r.ID); err != nil {
					return err
				} else if m != nil {
					t.Given = append(t.Given, *m)
				}
			}
		}
	}
	if err := p.outcome(v, known); err != nil {
		return err
	}
	name := s.ExternalID
	if name == "" {
		name = s.ID
	}
	v.titled("session", short(name), http.StatusOK, p)
	return nil
}

// quotes are the words of a session that a memory rests on, by turn, and whose
// they are: an answer that repeats them is no evidence.
type quotes struct {
	by    store.Speaker
	turns map[int][]string
}

// of are the quotes that an event can hold.
func (q quotes) of(e store.Event) []string {
	by := store.ByAssistant
	switch e.Kind {
	case store.UserInput:
		by = store.ByUser
	case store.ToolCall, store.ToolResult:
		by = store.ByTool
	}
	if by != q.by {
		return nil
	}
	return q.turns[e.Turn]
}

func (v *visit) quotes(memory, session string) (quotes, error) {
	if memory == "" {
		return quotes{}, nil
	}
	m, err := v.remembered(map[string]*store.Memory{}, memory)
	if m == nil {
		return quotes{}, err
	}
	q := quotes{m.AttributedTo, map[int][]string{}}
	for _, e := range m.Evidence {
		if e.Session == session {
			q.turns[e.Turn] = append(q.turns[e.Turn], e.Quote)
		}
	}
	return q, nil
}

// remembered reads a memory once; nil: it was erased.
func (v *visit) remembered(known map[string]*store.Memory, id string) (*store.Memory, error) {
	if m, ok := known[id]; ok {
		return m, nil
	}
	var m store.Memory
	var gone *refusal
	switch err := v.get("/memories"+part(id), nil, &m); {
	case errors.As(err, &gone) && gone.status == http.StatusNotFound:
		known[id] = nil
	case err != nil:
		return nil, err
	default:
		known[id] = &m
	}
	return known[id], nil
}

func turnsOf(events []store.Event, exchanges []admin.Exchange, evidence quotes) []*turn {
	var turns []*turn
	byNumber := map[int]*turn{}
	of := func(n int) *turn {
		t := byNumber[n]
		if t == nil {
			t = &turn{Number: n}
			byNumber[n], turns = t, append(turns, t)
		}
		return t
	}
	for _, e := range events {
		t := of(e.Turn)
		t.Events = append(t.Events, event{e, mark(e.Text, evidence.of(e))})
	}
	for _, x := range exchanges {
		t := of(x.Turn)
		t.Exchanges = append(t.Exchanges, x)
	}
	return turns
}

// page chooses the turns that are shown: from the one that was asked for.
func (p *sessionOne) page(v *visit, turns []*turn) {
	from, _ := strconv.Atoi(v.r.URL.Query().Get("from")) // 0 where it is no number
	from = max(0, min(from, len(turns)-1))
	if at, err := strconv.Atoi(v.r.URL.Query().Get("at")); err == nil {
		for i, t := range turns {
			if t.Number == at {
				from = i / turnsPerPage * turnsPerPage
			}
		}
	}
	to := min(len(turns), from+turnsPerPage)
	p.From, p.Turns = from, turns[min(from, to):to]
	link := func(n int) string {
		return v.r.URL.Path + "?" + url.Values{"from": {strconv.Itoa(n)}}.Encode()
	}
	if from > 0 {
		p.Earlier = link(max(0, from-turnsPerPage))
	}
	if to < len(turns) {
		p.Later = link(to)
	}
}

// outcome is what reflection made of the session.
func (p *sessionOne) outcome(v *visit, known map[string]*store.Memory) error {
	var list struct{ Reflections []store.Job }
	if err := v.get("/reflections", url.Values{"session": {p.ID}, "limit": {"1000"}}, &list); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, j := range list.Reflections {
		if j.Consolidates() {
			continue
		}
		p.Jobs = append(p.Jobs, j)
		p.Working = p.Working || j.State != store.Done && j.State != store.Dead
		p.Dropped = append(p.Dropped, j.Dropped...)
		for _, id := range j.Kept {
			m, err := v.remembered(known, id)
			if err != nil {
				return err
			}
			if m != nil && !seen[id] {
				seen[id] = true
				p.Kept = append(p.Kept, *m)
			}
		}
	}
	return nil
}

func (c *Console) closeSession(v *visit) (string, error) {
	path := "/sessions" + part(v.r.PathValue("id"))
	q := v.tenant()
	q.Set("wait", "5s")
	if err := v.post(path+"/close", q, nil, nil); err != nil {
		var no *refusal
		if !errors.As(err, &no) || no.status != http.StatusBadGateway { // a dead letter stands on the page
			return "", err
		}
	}
	return "/console" + path + "?done=close", nil
}
