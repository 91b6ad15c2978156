package console

import (
	"net/http"

	"hindsight/store"
)

const mostJobs = 200 // reflections of a page

// reflectionsPage is the queue.
type reflectionsPage struct {
	State  string
	Counts []stateCount
	Jobs   []store.Job
	More   int // that aren't shown
}

type stateCount struct {
	State store.JobState
	Count int
}

func (c *Console) reflections(v *visit) error {
	p := &reflectionsPage{State: v.r.URL.Query().Get("state")}
	var list struct{ Reflections []store.Job }
	if err := v.get("/reflections", nil, &list); err != nil {
		return err
	}
	counts := map[store.JobState]int{}
	for _, j := range list.Reflections {
		counts[j.State]++
		if p.State != "" && string(j.State) != p.State {
			continue
		}
		if len(p.Jobs) == mostJobs {
			p.More++
			continue
		}
		p.Jobs = append(p.Jobs, j)
	}
	for _, s := range []store.JobState{store.Queued, store.Running, store.WaitingForKey, store.Dead, store.Done} {
		p.Counts = append(p.Counts, stateCount{s, counts[s]})
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
