package console

import (
	"net/http"
	"net/url"
	"strconv"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// memoryOne is the page of one memory.
type memoryOne struct {
	store.Memory
	Past  []revision
	Chain []store.Memory // what it replaced, what replaced it; without itself
	Edit  bool           // the form is open
}

// revision is one form that a memory had, beside the one before it.
type revision struct {
	store.Memory
	Now      bool
	Reworded bool     // its text isn't that of the revision before
	Changes  []change // what else isn't
}

// change is one property that a revision changed.
type change struct{ Name, Was, Is string }

// changes are the properties but the text that a revision has changed.
func (v *visit) changes(was, is *store.Memory) []change {
	var out []change
	note := func(key, before, after string) {
		if before == after {
			return
		}
		if before == "" {
			before = v.t("memory.none")
		}
		if after == "" {
			after = v.t("memory.none")
		}
		out = append(out, change{v.t(key), before, after})
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
	whether := func(b bool) string {
		if b {
			return v.t("memory.yes")
		}
		return v.t("memory.no")
	}
	note("filter.type", v.t("type."+string(was.Type)), v.t("type."+string(is.Type)))
	note("filter.state", v.t("state."+string(was.State)), v.t("state."+string(is.State)))
	note("filter.subject", was.Subject, is.Subject)
	note("memory.scenario", was.Scenario, is.Scenario)
	note("memory.importance.name", number(was.Importance), number(is.Importance))
	note("memory.confidence", number(was.Confidence), number(is.Confidence))
	note("memory.pin", whether(was.Standing), whether(is.Standing))
	return out
}

func (c *Console) memory(v *visit) error {
	id := v.r.PathValue("id")
	var h admin.History
	if err := v.get("/memories"+part(id)+"/history", nil, &h); err != nil {
		return err
	}
	p := &memoryOne{Memory: h.Revisions[0], Edit: v.r.URL.Query().Has("edit")}
	for i, m := range h.Revisions {
		r := revision{Memory: m, Now: i == 0}
		if i+1 == len(h.Revisions) {
			r.Reworded = true
		} else {
			before := &h.Revisions[i+1]
			r.Reworded, r.Changes = before.Text != m.Text, v.changes(before, &m)
		}
		p.Past = append(p.Past, r)
	}
	for _, m := range h.Chain {
		if m.ID != p.ID {
			p.Chain = append(p.Chain, m)
		}
	}
	v.titled("memory", short(p.Text), http.StatusOK, p)
	return nil
}

// short is a text as a title.
func short(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}

func (c *Console) confirmErase(v *visit) error {
	var m store.Memory
	if err := v.get("/memories"+part(v.r.PathValue("id")), nil, &m); err != nil {
		return err
	}
	v.page("erase", "memory.erase", http.StatusOK, m)
	return nil
}

func (c *Console) newMemory(v *visit) error {
	counted, err := c.counts.of(v.r.Context(), v.who.tenant)
	if err != nil {
		return err
	}
	v.page("new", "memory.new", http.StatusOK, scopesOf(counted.Tenants, v.who.tenant, counted.Stats))
	return nil
}

// at is the page of a memory, with what was just done to it.
func at(id, done string) string {
	return "/console/memories" + part(id) + "?" + url.Values{"done": {done}}.Encode()
}

func (c *Console) addMemory(v *visit) (string, error) {
	f := v.r.PostForm
	body := map[string]any{"text": f.Get("text"), "type": f.Get("type"), "standing": f.Has("standing")}
	for _, name := range []string{"subject", "scope"} {
		if value := f.Get(name); value != "" {
			body[name] = value
		}
	}
	if v.who.tenant != "" {
		body["tenant"] = v.who.tenant
	}
	var m store.Memory
	if err := v.post("/memories", nil, body, &m); err != nil {
		return "", err
	}
	return at(m.ID, "add"), nil
}

// patch changes fields of the memory that the form is about.
func (v *visit) patch(fields map[string]any, done string) (string, error) {
	id := v.r.PathValue("id")
	if err := v.c.call(v.r.Context(), http.MethodPatch, api+"/memories"+part(id), nil, fields, nil); err != nil {
		return "", err
	}
	return at(id, done), nil
}

func (c *Console) editMemory(v *visit) (string, error) {
	f := v.r.PostForm
	fields := map[string]any{"text": f.Get("text"), "type": f.Get("type"), "subject": f.Get("subject"), "scenario": f.Get("scenario")}
	if n, err := strconv.ParseFloat(f.Get("importance"), 64); err == nil {
		fields["importance"] = n
	}
	return v.patch(fields, "edit")
}

func (c *Console) pinMemory(v *visit) (string, error) {
	if v.r.PostForm.Get("standing") == "true" {
		return v.patch(map[string]any{"standing": true}, "pin")
	}
	return v.patch(map[string]any{"standing": false}, "unpin")
}

func (c *Console) forgetMemory(v *visit) (string, error) {
	id := v.r.PathValue("id")
	if err := c.call(v.r.Context(), http.MethodDelete, api+"/memories"+part(id), nil, nil, nil); err != nil {
		return "", err
	}
	return at(id, "forget"), nil
}

func (c *Console) eraseMemory(v *visit) (string, error) {
	q := url.Values{"erase": {"true"}}
	if err := c.call(v.r.Context(), http.MethodDelete, api+"/memories"+part(v.r.PathValue("id")), q, nil, nil); err != nil {
		return "", err
	}
	return "/console/memories?done=erase", nil
}

func (c *Console) restoreMemory(v *visit) (string, error) {
	id, q := v.r.PathValue("id"), url.Values{}
	put(q, "revision", v.r.PostForm.Get("revision"))
	if err := v.post("/memories"+part(id)+"/restore", q, nil, nil); err != nil {
		return "", err
	}
	return at(id, "restore"), nil
}

func (c *Console) verifyMemory(v *visit) (string, error) {
	id := v.r.PathValue("id")
	if err := v.post("/memories"+part(id)+"/verify", nil, nil, nil); err != nil {
		return "", err
	}
	return at(id, "verify"), nil
}
