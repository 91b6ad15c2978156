package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hindsight/store"
)

// compare waits until nothing is left to reflect and then holds what is kept
// against what is owed.
func (r *run) compare(ctx context.Context, c *Child) error {
	amid, err := doneJobs(ctx, c)
	if err != nil {
		return err
	}
	if err := drained(ctx, c); err != nil {
		return err
	}
	rep, t := r.rep, &r.told
	rep.Amid = len(amid)
	sessions := map[string][]exchange{}
	for _, x := range t.owed {
		sessions[x.session] = append(sessions[x.session], x)
	}
	rep.Finished, rep.Owed, rep.Sessions = t.count, len(t.owed), len(sessions)
	ids := map[string]int{} // of exchanges
	for id, owed := range sessions {
		if err := r.compareSession(ctx, c, id, owed, ids); err != nil {
			return err
		}
	}
	if err := r.once(ctx, c); err != nil {
		return err
	}
	for _, l := range r.lives {
		merged, err := l.check(ctx, c, rep)
		if err != nil {
			return err
		}
		rep.Groups, rep.Merged, rep.Corrections = rep.Groups+len(l.groups), rep.Merged+merged, rep.Corrections+l.moves
	}
	texts := map[string]int{}
	for u := range r.users() {
		memories, err := memoriesOf(ctx, c, u)
		if err != nil {
			return err
		}
		rep.Memories += len(memories)
		for _, m := range memories {
			texts[u+"\x00"+m.Text]++
			ids[m.ID]++
			if strings.Contains(m.Text, "The user's code") && (m.Revision != 1 || len(m.Evidence) != 1) {
				rep.fault("what was taught once has revision %d and %d pieces of evidence: %q", m.Revision, len(m.Evidence), m.Text)
			}
		}
		if err := r.found(ctx, c, u, memories); err != nil {
			return err
		}
	}
	for id, n := range ids {
		if n > 1 {
			rep.fault("the id %s is there %d times", id, n)
		}
	}
	for name, n := range texts {
		if n > 1 {
			rep.fault("a memory is there %d times: %q", n, name)
		}
	}
	for _, x := range t.owed {
		rep.Facts++
		// "My codeX is 10000." is kept as "The user's codeX is 10000."
		want := x.user + "\x00The user's " + strings.TrimPrefix(x.fact, "My ")
		if texts[want] != 1 {
			rep.fault("%s was taught and is kept %d times", x.fact, texts[want])
		}
	}
	slices.Sort(rep.Faults)
	return r.met()
}

// users are those of whom the binary owes something.
func (r *run) users() map[string]bool {
	users := map[string]bool{asker: true}
	for _, x := range r.told.owed {
		users[x.user] = true
	}
	for _, l := range r.lives {
		users[l.user] = true
	}
	return users
}

// met says what the load didn't do, so that nothing was shown by the kills.
func (r *run) met() error {
	rep := r.rep
	for what, n := range map[string]int{
		"exchanges": rep.Owed, "reflections among the kills": rep.Amid, "merges": rep.Merged, "corrections": rep.Corrections, "replays": rep.Replayed,
	} {
		if n == 0 && len(rep.Faults) == 0 {
			return fmt.Errorf("there were no %s: the kills met nothing", what)
		}
	}
	return nil
}

func (r *run) compareSession(ctx context.Context, c *Child, id string, owed []exchange, ids map[string]int) error {
	rep := r.rep
	raw, err := get(ctx, sessionURL(c, id))
	if err != nil {
		rep.fault("session %s with %d exchanges: %v", id, len(owed), err)
		return nil
	}
	s, err := readSession(id, raw)
	if err != nil {
		return err
	}
	status, texts := map[string]store.ExchangeStatus{}, map[string]int{}
	for _, x := range s.Exchanges {
		status[x.ID] = x.Status
		ids[x.ID]++
	}
	for _, e := range s.Events {
		texts[string(e.Kind)+"\x00"+e.Text]++
	}
	for _, x := range owed {
		if status[x.id] != store.Complete {
			rep.fault("exchange %s finished %s before a kill and is %q", x.id, x.before.Round(time.Millisecond), status[x.id])
		}
		if n := texts[string(store.UserInput)+"\x00"+x.fact]; n != 1 {
			rep.fault("the words of exchange %s are there %d times", x.id, n)
		}
		if n := texts[string(store.FinalOutput)+"\x00"+x.answer]; n != 1 {
			rep.fault("the answer of exchange %s is there %d times", x.id, n)
		}
	}
	return nil
}

// once checks that no two reflections of a session that are done cover the same
// exchange.
func (r *run) once(ctx context.Context, c *Child) error {
	jobs, err := doneJobs(ctx, c)
	if err != nil {
		return err
	}
	of := map[string][]store.Job{}
	for _, j := range jobs {
		if !strings.HasPrefix(j.Reason, "covered by ") && !j.Consolidates() {
			of[j.Session] = append(of[j.Session], j)
			r.rep.Reflections++
		}
	}
	for session, jobs := range of {
		slices.SortFunc(jobs, func(a, b store.Job) int { return int(a.From) - int(b.From) })
		for i := 1; i < len(jobs); i++ {
			if jobs[i].From < jobs[i-1].To {
				r.rep.fault("session %s was reflected twice from %d to %d", session, jobs[i].From, jobs[i-1].To)
			}
		}
	}
	return nil
}

// found checks that a search finds what is listed of a user, and nothing else.
func (r *run) found(ctx context.Context, c *Child, user string, listed []store.Memory) error {
	is := map[string]bool{}
	for _, m := range listed {
		is[m.ID] = true
	}
	for _, m := range listed {
		body, _ := json.Marshal(map[string]any{ // strings and a number
			"query": m.Text, "tenant": "kill", "scopes": []store.Scope{store.UserScope(user)}, "top_k": 50,
		})
		raw, err := Call(ctx, http.MethodPost, c.Admin+"/api/v1/memories/search", body, asJSON)
		if err != nil {
			return err
		}
		var v struct {
			Results []struct{ Memory store.Memory }
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read what was found: %w", err)
		}
		hit := false
		for _, f := range v.Results {
			hit = hit || f.Memory.ID == m.ID
			if !is[f.Memory.ID] {
				r.rep.fault("a search of %s finds %s, which isn't listed: %q", user, f.Memory.ID, f.Memory.Text)
			}
		}
		if !hit {
			r.rep.fault("%s is listed and not found by its own words: %q", m.ID, m.Text)
		}
	}
	return nil
}

// drained waits until every session is reflected: three looks, a second apart,
// that find nothing waiting or running.
func drained(ctx context.Context, c *Child) error {
	quiet, most := 0, -1
	for deadline := time.Now(); quiet < 3; wait(ctx, time.Second) {
		p, err := pageOfJobs(ctx, c, "state="+string(store.Dead))
		if err != nil {
			return err
		}
		if len(p.Reflections) > 0 {
			return fmt.Errorf("a reflection is dead: %s", p.Reflections[0].Reason)
		}
		busy := p.Counts[store.Queued] + p.Counts[store.Running] + p.Counts[store.WaitingForKey]
		if quiet++; busy > 0 {
			quiet = 0
		}
		if done := p.Counts[store.Done]; done > most {
			most, deadline = done, time.Now().Add(3*time.Minute)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d reflections are waiting, and none was done in three minutes", busy)
		}
	}
	return nil
}

// jobs is a page of the queue.
type jobs struct {
	Reflections []store.Job
	Counts      map[store.JobState]int
	Next        string `json:"next_cursor"`
}

func pageOfJobs(ctx context.Context, c *Child, query string) (p jobs, err error) {
	raw, err := get(ctx, c.Admin+"/api/v1/reflections?"+query)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("read the queue: %w", err)
	}
	return p, nil
}

// doneJobs are the reflections that are done.
func doneJobs(ctx context.Context, c *Child) (all []store.Job, err error) {
	for cursor := ""; ; {
		p, err := pageOfJobs(ctx, c, "limit=1000&state="+string(store.Done)+"&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return nil, err
		}
		if all = append(all, p.Reflections...); p.Next == "" {
			return all, nil
		}
		cursor = p.Next
	}
}

func memoriesOf(ctx context.Context, c *Child, user string) ([]store.Memory, error) {
	var all []store.Memory
	for cursor := ""; ; {
		raw, err := get(ctx, c.Admin+"/api/v1/memories?limit=100&tenant=kill&scope="+url.QueryEscape(string(store.UserScope(user)))+"&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return nil, err
		}
		var page struct {
			Memories []store.Memory `json:"memories"`
			Next     string         `json:"next_cursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("read the memories: %w", err)
		}
		if all = append(all, page.Memories...); page.Next == "" {
			return all, nil
		}
		cursor = page.Next
	}
}
