package hreflect

import (
	"runtime"
	"strconv"
	"strings"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// How much of a text is shown, in runes. What a tool or a document says is
// there for its sense, what the user says for its words.
const (
	maxUser       = 6000
	maxAssistant  = 2500
	maxCall       = 500
	maxTool       = 900
	maxThirdParty = 700
)

// events numbers what is material in the exchanges up to seq: no side calls,
// no answers that broke off, no reasoning, none of our own blocks.
func (r *Runner) events(s store.Session, all []store.Exchange, upTo uint64) []extract.Event {
	side := unechoed(all)
	calls := map[string]string{} // the tool's name by call id
	type said struct {
		turn int
		role extract.Role
		text string
	}
	seen := map[said]bool{}
	var out []extract.Event
	for i, x := range all {
		runtime.Gosched() // see gate
		if x.Seq > upTo || side[i] || x.Status == store.Errored {
			continue
		}
		zone := r.zone(x.Zone, s.Zone)
		add := func(e extract.Event, limit int) {
			e.Text = clip(strings.TrimSpace(r.cfg.Strip(e.Text)), limit)
			key := said{e.Turn, e.Role, e.CallID + "\x00" + e.Text}
			if e.Text == "" || seen[key] { // a retry says the same again
				return
			}
			seen[key] = true
			if s.Parent != "" && e.Role != extract.ToolCall {
				// A sub-agent's user is an agent: whatever is said there is tool
				// material, never a person's word.
				e.Role, e.Untrusted = extract.Tool, true
			}
			e.ID = "e" + strconv.Itoa(len(out)+1)
			out = append(out, e)
		}
		for _, ev := range x.Events {
			e := extract.Event{Turn: ev.Turn, Time: ev.Time.In(zone), Text: ev.Text, Name: ev.Name, CallID: ev.CallID, Failed: ev.Failed}
			switch ev.Kind {
			case store.UserInput:
				e.Role = extract.User
				add(e, maxUser)
				e.Role, e.Name, e.Text, e.Untrusted = extract.Tool, "document", ev.ThirdParty, true
				add(e, maxThirdParty)
			case store.ToolCall:
				e.Role = extract.ToolCall
				calls[ev.CallID] = ev.Name
				add(e, maxCall)
			case store.ToolResult:
				e.Role, e.Untrusted = extract.Tool, true
				if e.Name == "" {
					e.Name = calls[ev.CallID]
				}
				add(e, maxTool)
			case store.FinalOutput:
				e.Role = extract.Assistant
				if x.Status == store.Complete { // half an answer reads like a whole one
					add(e, maxAssistant)
				}
			}
		}
	}
	return out
}

// zone is the first of the names that is one, else the configured zone.
func (r *Runner) zone(names ...string) *time.Location {
	for _, n := range names {
		if n == "" {
			continue
		}
		if z, err := time.LoadLocation(n); err == nil {
			return z
		}
		if t, err := time.Parse("-07:00", n); err == nil {
			return t.Location()
		}
	}
	return r.cfg.Zone
}

// clip cuts the middle out of a long text and says so.
func clip(s string, limit int) string {
	rs := []rune(s)
	if len(rs) <= limit {
		return s
	}
	head := limit * 2 / 3
	return string(rs[:head]) + " […] " + string(rs[len(rs)-(limit-head):])
}

// unechoed says which exchanges are side calls that no rule knew: the answer
// never came back as assistant content while a later exchange of the session
// exists, and the system text isn't the session's main one.
func unechoed(all []store.Exchange) []bool {
	echoed := map[store.Hash]bool{}
	for _, x := range all {
		for _, h := range x.Echoed {
			echoed[h] = true
		}
	}
	main := mainSystem(all, echoed)
	out := make([]bool, len(all))
	for i, x := range all {
		later := i+1 < len(all)
		out[i] = later && !x.Answer.IsZero() && !echoed[x.Answer] && x.System != main
	}
	return out
}

// mainSystem is the system text under which most answers came back; where none
// has yet, the one of most events.
func mainSystem(all []store.Exchange, echoed map[store.Hash]bool) store.Hash {
	weight := map[store.Hash]int{}
	for _, x := range all {
		weight[x.System] += len(x.Events)
		if echoed[x.Answer] && !x.Answer.IsZero() {
			weight[x.System] += 1000
		}
	}
	var main store.Hash
	most := -1
	for _, x := range all { // in the session's order, so that a tie goes to the first
		if weight[x.System] > most {
			main, most = x.System, weight[x.System]
		}
	}
	return main
}
