package console

import (
	"net/http"
	"net/url"
	"strconv"

	"hindsight/store"
)

// reflectionsPage is the queue.
type reflectionsPage struct {
	State  string
	Counts []stateCount
	Jobs   []store.Job

	Next, First string
}

type stateCount struct {
	State store.JobState
	Count int
}

func (c *Console) reflections(v *visit) error {
	q := v.r.URL.Query()
	p := &reflectionsPage{State: q.Get("state")}
	ask := url.Values{}
	for name, value := range map[string]string{"state": p.State, "cursor": q.Get("cursor"), "limit": strconv.Itoa(perPage)} {
		put(ask, name, value)
	}
	var page struct {
		Reflections []store.Job
		Counts      map[store.JobState]int
		Next        string `json:"next_cursor"`
	}
	if err := v.get("/reflections", ask, &page); err != nil {
		return err
	}
	p.Jobs = page.Reflections
	p.Next, p.First = v.turn(page.Next)
	for _, s := range []store.JobState{store.Queued, store.Running, store.WaitingForKey, store.Dead, store.Done} {
		p.Counts = append(p.Counts, stateCount{s, page.Counts[s]})
	}
	v.page("reflections", "nav.reflections", http.StatusOK, p)
	return nil
}

func (c *Console) retryReflection(v *visit) (string, error) {
	if err := v.post("/reflections"+part(v.r.PathValue("id"))+"/retry", nil, nil, nil); err != nil {
		return "", err
	}
	return "/console/reflections?done=retry", nil
}
