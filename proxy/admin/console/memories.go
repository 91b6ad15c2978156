package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"hindsight/proxy/admin"
	"hindsight/store"
)

const perPage = 50 // memories, sessions or reflections of a list

// memoryPage is a page of the API's list.
type memoryPage struct {
	Memories []store.Memory
	Next     string `json:"next_cursor"`
}

// memoriesPage is the list or the search of memories.
type memoriesPage struct {
	Query, Type, State, Scope, Subject, Session, Since, Until string
	Scopes                                                    []store.ScopeCount

	Filtered bool
	Found    *admin.Found   // of a search
	Memories []store.Memory // of a list
	Excluded int            // what the filters kept out of a search
	Next     string         // the next page's address
	First    string         // the first page's, where this is another
}

// memories lists memories, or searches them as the proxy does where there is a
// question.
func (c *Console) memories(v *visit) error {
	q := v.r.URL.Query()
	p := &memoriesPage{
		Query: q.Get("q"), Type: q.Get("type"), State: cmp.Or(q.Get("state"), string(store.Active)), Scope: q.Get("scope"),
		Subject: q.Get("subject"), Session: q.Get("session"), Since: q.Get("since"), Until: q.Get("until"),
	}
	p.Filtered = p.Type != "" || p.State != string(store.Active) || p.Scope != "" || p.Subject != "" || p.Session != "" || p.Since != "" || p.Until != ""
	if counted, err := c.counts.of(v.r.Context(), v.who.tenant); err == nil { // the choice of scopes is only a help
		p.Scopes = scopesOf(counted.Tenants, v.who.tenant, counted.Stats)
	}
	read := v.listed
	if p.Query != "" {
		read = v.searched
	}
	if err := read(p); err != nil {
		return err
	}
	v.page("memories", "nav.memories", http.StatusOK, p)
	return nil
}

// scopesOf are the scopes of the tenant that is looked at.
func scopesOf(all []store.Tenant, tenant string, stats *admin.Stats) []store.ScopeCount {
	if tenant == "" && stats != nil {
		tenant = stats.Tenant
	}
	i := slices.IndexFunc(all, func(t store.Tenant) bool { return t.ID == tenant })
	if i < 0 {
		return nil
	}
	return all[i].Scopes[:min(len(all[i].Scopes), 200)] // a choice among more is none
}

// listed fills in a page of the list, the newest first.
func (v *visit) listed(p *memoriesPage) error {
	q := v.tenant()
	for name, value := range map[string]string{
		"type": p.Type, "state": p.State, "scope": p.Scope, "subject": p.Subject, "session": p.Session, "since": day(p.Since), "until": day(p.Until),
		"cursor": v.r.URL.Query().Get("cursor"), "limit": strconv.Itoa(perPage),
	} {
		put(q, name, value)
	}
	var page memoryPage
	if err := v.get("/memories", q, &page); err != nil {
		return err
	}
	p.Memories = page.Memories
	p.Next, p.First = v.turn(page.Next)
	return nil
}

// turn is the address of the next page, and of the first where this is another.
func (v *visit) turn(next string) (onward, first string) {
	q := v.r.URL.Query()
	q.Del("done")
	if q.Get("cursor") != "" {
		q.Del("cursor")
		first = v.r.URL.Path + "?" + q.Encode()
	}
	if next != "" {
		q.Set("cursor", next)
		onward = v.r.URL.Path + "?" + q.Encode()
	}
	return onward, first
}

// searched fills in what a question finds.
func (v *visit) searched(p *memoriesPage) error {
	body := map[string]any{"query": p.Query, "top_k": 20}
	for name, value := range map[string]string{"tenant": v.who.tenant, "subject": p.Subject, "session": p.Session, "since": day(p.Since), "until": day(p.Until)} {
		if value != "" {
			body[name] = value
		}
	}
	if p.Type != "" {
		body["types"] = []string{p.Type}
	}
	if p.Scope != "" {
		body["scopes"] = []string{p.Scope}
	}
	if p.State == string(store.Archived) {
		body["include_archived"] = true
	}
	var found admin.Found
	if err := v.post("/memories/search", nil, body, &found); err != nil {
		return err
	}
	p.Found = &found
	for _, n := range found.ExcludedByFilter {
		p.Excluded += n
	}
	return nil
}

// day is a date of a form as a time of the API.
func day(date string) string {
	if date == "" {
		return ""
	}
	return date + "T00:00:00Z"
}

// About is an address of memories with one filter.
func (w *view) About(name, value string) string {
	return "/console/memories?" + url.Values{name: {value}}.Encode()
}
