package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"hindsight/store"
)

// compare waits until nothing is left to reflect and then holds what is kept
// against what is owed.
func (t *told) compare(ctx context.Context, c *child, rep *Report) error {
	if err := drained(ctx, c); err != nil {
		return err
	}
	users, sessions := map[string]bool{}, map[string][]exchange{}
	for _, x := range t.owed {
		users[x.user] = true
		sessions[x.session] = append(sessions[x.session], x)
	}
	rep.Finished, rep.Owed, rep.Sessions = t.count, len(t.owed), len(sessions)
	for id, owed := range sessions {
		if err := compareSession(ctx, c, id, owed, rep); err != nil {
			return err
		}
	}
	texts := map[string]int{}
	for u := range users {
		memories, err := memoriesOf(ctx, c, u)
		if err != nil {
			return err
		}
		rep.Memories += len(memories)
		for _, m := range memories {
			texts[u+"\x00"+m.Text]++
		}
	}
	for name, n := range texts {
		if n > 1 {
			rep.Faults = append(rep.Faults, fmt.Sprintf("a memory is there %d times: %q", n, name))
		}
	}
	for _, x := range t.owed {
		rep.Facts++
		// "My codeX is 10000." is kept as "The user's codeX is 10000."
		want := x.user + "\x00The user's " + strings.TrimPrefix(x.fact, "My ")
		if texts[want] != 1 {
			rep.Faults = append(rep.Faults, fmt.Sprintf("%s was taught and is kept %d times", x.fact, texts[want]))
		}
	}
	slices.Sort(rep.Faults)
	return nil
}

func compareSession(ctx context.Context, c *child, id string, owed []exchange, rep *Report) error {
	raw, err := get(ctx, c.admin+"/api/v1/sessions/"+url.PathEscape(id))
	if err != nil {
		rep.Faults = append(rep.Faults, fmt.Sprintf("session %s with %d exchanges: %v", id, len(owed), err))
		return nil
	}
	var s struct {
		Events    []store.Event `json:"events"`
		Exchanges []struct {
			ID     string               `json:"id"`
			Status store.ExchangeStatus `json:"status"`
		} `json:"exchanges"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read session %s: %w", id, err)
	}
	status, texts := map[string]store.ExchangeStatus{}, map[string]int{}
	for _, x := range s.Exchanges {
		status[x.ID] = x.Status
	}
	for _, e := range s.Events {
		texts[string(e.Kind)+"\x00"+e.Text]++
	}
	for _, x := range owed {
		if status[x.id] != store.Complete {
			rep.Faults = append(rep.Faults, fmt.Sprintf("exchange %s finished %s and is %q", x.id, x.at.Format(time.StampMilli), status[x.id]))
		}
		if n := texts[string(store.UserInput)+"\x00"+x.fact]; n != 1 {
			rep.Faults = append(rep.Faults, fmt.Sprintf("the words of exchange %s are there %d times", x.id, n))
		}
		if n := texts[string(store.FinalOutput)+"\x00"+x.answer]; n != 1 {
			rep.Faults = append(rep.Faults, fmt.Sprintf("the answer of exchange %s is there %d times", x.id, n))
		}
	}
	return nil
}

// drained waits until every session is reflected: two looks, a second apart,
// that find nothing waiting or running.
func drained(ctx context.Context, c *child) error {
	quiet := 0
	for deadline := time.Now().Add(2 * time.Minute); quiet < 3; {
		busy := 0
		for _, state := range []store.JobState{store.Queued, store.Running, store.WaitingForKey, store.Dead} {
			raw, err := get(ctx, c.admin+"/api/v1/reflections?state="+string(state))
			if err != nil {
				return err
			}
			var v struct {
				Reflections []store.Job `json:"reflections"`
			}
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("read the queue: %w", err)
			}
			if state == store.Dead && len(v.Reflections) > 0 {
				return fmt.Errorf("a reflection is dead: %s", v.Reflections[0].Reason)
			}
			busy += len(v.Reflections)
		}
		if quiet++; busy > 0 {
			quiet = 0
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d reflections are still waiting after two minutes", busy)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func memoriesOf(ctx context.Context, c *child, user string) ([]store.Memory, error) {
	var all []store.Memory
	for cursor := ""; ; {
		raw, err := get(ctx, c.admin+"/api/v1/memories?limit=100&tenant=kill&scope="+url.QueryEscape(string(store.UserScope(user)))+"&cursor="+url.QueryEscape(cursor))
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
