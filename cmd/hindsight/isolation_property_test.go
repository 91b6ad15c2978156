package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	askBadge   = "What is my badge number?"
	askedOften = "hello"
)

// Whatever people say, in whichever format, and whatever of others they name, no
// byte of another's secret leaves: not upstream, not in answers, not by the API
// or MCP, not in metrics or logs, and none lies open on the disk.
//
// HINDSIGHT_ISOLATION_STEPS plays more steps, HINDSIGHT_ISOLATION_SEED the same
// ones again.
func TestNoByteOfAnother(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays hundreds of requests")
	}
	all := people()
	key := filepath.Join(t.TempDir(), "encryption.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCrowd(t, all, newWorld(t, "HINDSIGHT_AUTH_MODE=keys", "HINDSIGHT_AUTH_KEYS="+crowdKeys(all), "HINDSIGHT_REFLECT_MODEL=rules", "HINDSIGHT_ENCRYPTION_KEY_FILE="+key))
	c.play(envNumber("HINDSIGHT_ISOLATION_STEPS", 200))
	c.disk()
}

// envNumber is a whole number of the environment.
func envNumber(name string, or uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return or
}

// newCrowd puts people in front of products that share one upstream, which says
// the same to everybody.
func newCrowd(t *testing.T, all []*person, worlds ...*world) *crowd {
	t.Helper()
	seed := envNumber("HINDSIGHT_ISOLATION_SEED", uint64(time.Now().UnixNano()))
	t.Logf("HINDSIGHT_ISOLATION_SEED=%d", seed)
	c := &crowd{t: t, worlds: worlds, people: all, from: rand.New(rand.NewPCG(seed, 1)), log: &heap{}}
	up := &constant{}
	for _, w := range worlds {
		w.answer = up.answer
		w.adjust = func(cfg *Config) { cfg.Log = LogConfig{Level: slog.LevelDebug, To: c.log} }
		w.restart() // so that it logs to the crowd
	}
	for _, p := range all {
		p.badge = fmt.Sprintf("QZ%010dX", c.from.Uint64N(1e10))
	}
	return c
}

// play teaches everybody a secret, has them do so many things at random, and
// looks at the end that each still has what is theirs.
func (c *crowd) play(steps uint64) {
	for _, p := range c.people {
		c.teach(p)
	}
	doings := []func(*person){
		c.asks, c.asks, c.talks, c.again, c.forges, c.forges, c.nameless, c.manages, c.agentOf, c.teach,
	}
	for i := range steps {
		p := c.people[c.from.IntN(len(c.people))]
		switch {
		case i == steps/3:
			c.worlds[c.from.IntN(len(c.worlds))].restart()
		case i == steps/2:
			c.erase(c.people[3]) // its name in the other Unicode form stays
		case p.erased:
			c.sends(p, formats[c.from.IntN(len(formats))], p.name, "", askBadge, "")
		default:
			doings[c.from.IntN(len(doings))](p)
		}
	}
	for _, w := range c.worlds {
		w.restart()
	}
	for _, p := range c.people {
		for _, f := range formats {
			c.worlds[0].until(fmt.Sprintf("%s's %q (erased: %t) is told what is theirs at %s", p.tenant, p.name, p.erased, f.path), func() bool {
				_, got := c.sends(p, f, p.name, "", askBadge, "")
				return strings.Contains(string(got), p.badge) != p.erased
			})
		}
	}
	for _, w := range c.worlds {
		c.clean("the metrics", nil, w.admin(http.MethodGet, "/metrics", ""))
		w.stop()
	}
	c.clean("the log", nil, c.log.bytes())
	if !strings.Contains(string(c.log.bytes()), "level=") {
		c.t.Error("nothing was logged")
	}
}

// teach has somebody say a secret and ask to remember it, in words that are
// everybody's.
func (c *crowd) teach(p *person) {
	c.says(p, "Remember that my badge number is "+p.badge+".")
	for _, w := range c.worlds {
		w.flush()
	}
	c.worlds[0].until("what was said is noted", func() bool {
		var v struct{ Memories []struct{ ID string } }
		c.worlds[0].decode(c.api(p, http.MethodGet, "/api/v1/memories?"+c.scopeQuery(p), ""), &v)
		for _, m := range v.Memories {
			if !slices.Contains(p.ids, m.ID) {
				p.ids = append(p.ids, m.ID)
			}
		}
		return len(v.Memories) > 0
	})
}

// asks is a new conversation with words that are everybody's.
func (c *crowd) asks(p *person) { c.says(p, []string{askBadge, askedOften}[c.from.IntN(2)]) }

// talks goes on in a conversation whose history is the same for all.
func (c *crowd) talks(p *person) {
	history := `{"role":"user","content":` + quoted(askedOften) + `},{"role":"assistant","content":` + quoted(saidToAll) + `},`
	c.sends(p, formats[c.from.IntN(len(formats))], p.name, history, askBadge, "")
}

// again sends one body twice at once, and once more: a retry.
func (c *crowd) again(p *person) {
	w, f := c.worlds[0], formats[c.from.IntN(len(formats))]
	before := len(c.arrived())
	body := f.body(p.name, "", askBadge, "")
	headers := []string{"Authorization: Bearer hs-" + p.tenant, "Anthropic-Version: 2023-06-01", "X-Stainless-Retry-Count: 1"}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if _, err := w.post(f.path, body, headers...); err != nil {
				c.t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, a := range c.arrived()[before:] {
		c.clean("a retry", p, a.body)
	}
	c.sends(p, f, p.name, "", askBadge, "", "X-Stainless-Retry-Count: 2")
}

// forges names another's session, response, item, tool call and conversation, or
// writes one's own name so that it may be taken for theirs.
func (c *crowd) forges(p *person) {
	v := c.people[c.from.IntN(len(c.people))]
	if v == p || len(v.traces) == 0 {
		return
	}
	trace := v.traces[c.from.IntN(len(v.traces))]
	names := map[string]string{"Hindsight-Session": v.session}
	extra, history := "", ""
	f := formats[c.from.IntN(len(formats))]
	switch c.from.IntN(5) {
	case 0:
		f, extra = formats[1], `"previous_response_id":`+quoted(trace)+`,`
	case 1:
		f, extra = formats[1], `"conversation":`+quoted(trace)+`,`
	case 2:
		f, history = formats[1], `{"type":"item_reference","id":`+quoted(trace)+`},`
	case 3:
		f = formats[0]
		history = `{"role":"user","content":"hello"},{"role":"assistant","content":null,"tool_calls":[{"id":` + quoted(trace) + `,"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":` + quoted(trace) + `,"content":"x"},`
	}
	var headers []string
	for name, value := range names {
		if value != "" && c.from.IntN(2) == 0 {
			headers = append(headers, name+": "+value)
		}
	}
	if c.from.IntN(3) == 0 {
		headers = append(headers, "Hindsight-Agent: "+[]string{"../" + url.PathEscape(v.name), "helper/../..", "*", "%00"}[c.from.IntN(4)])
	}
	c.sends(p, f, p.name, history, askBadge, extra, headers...)
}

// nameless is a request whose user nobody filled in: it gets nothing.
func (c *crowd) nameless(p *person) {
	names := []string{"{{user_id}}", "${USER}", "{user}", "%USER%", "", "null", strings.Repeat("a", 201)}
	r, got := c.sends(p, formats[c.from.IntN(len(formats))], names[c.from.IntN(len(names))], "", askBadge, "")
	if strings.Contains(string(got), p.badge) || r.session() != "" {
		c.t.Fatalf("a nameless request is somebody's: %s, %s", r.memory(), got)
	}
}

// manages asks the API for what is somebody's.
func (c *crowd) manages(p *person) {
	q := c.scopeQuery(p)
	switch c.from.IntN(4) {
	case 0:
		c.api(p, http.MethodGet, "/api/v1/memories?"+q, "")
	case 1:
		c.api(p, http.MethodPost, "/api/v1/memories/search", fmt.Sprintf(`{"query":"badge number","tenant":%s,"scopes":[%s]}`, quoted(p.tenant), quoted(string(p.scope()))))
	case 2:
		c.api(p, http.MethodGet, "/api/v1/export?"+q, "")
	case 3:
		if p.session != "" {
			c.api(p, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(p.session), "")
		}
	}
}

// agentOf is somebody's agent: it searches and lists, and reaches for what is
// another's by id and by scope.
func (c *crowd) agentOf(p *person) {
	i := slices.Index(c.people, p)
	v := c.people[(i+1+c.from.IntN(len(c.people)-1))%len(c.people)]
	a := c.worlds[c.from.IntN(len(c.worlds))].agent(mcpKey(i))
	for tool, args := range map[string]map[string]any{
		"memory_search": {"query": "badge number"}, "memory_list": {},
	} {
		text, wrong := a.try(tool, args)
		if wrong {
			c.t.Fatalf("%s: %s", tool, text)
		}
		c.clean("what "+tool+" says", p, []byte(text))
	}
	text, _ := a.try("memory_list", map[string]any{"scope": string(v.scope())})
	c.clean("a list of another's", p, []byte(text))
	for _, id := range v.ids {
		for tool, args := range map[string]map[string]any{
			"memory_update": {"memory_id": id, "content": "My badge number is 1."}, "memory_forget": {"memory_id": id},
		} {
			text, wrong := a.try(tool, args)
			if !wrong {
				c.t.Fatalf("%s's agent may %s %s's memory: %s", p.name, tool, v.name, text)
			}
			c.clean("what "+tool+" says", p, []byte(text))
		}
	}
	got := a.ask("resources/list", map[string]any{})
	c.clean("the resources", p, got.Result)
}

// erase removes all of somebody.
func (c *crowd) erase(p *person) {
	path := "/api/v1/tenants/" + url.PathEscape(p.tenant) + "/scopes/" + url.PathEscape(string(p.scope()))
	c.worlds[0].admin(http.MethodDelete, path, "")
	for _, w := range c.worlds { // the other ones are told
		w.until("the scope is empty", func() bool {
			return !strings.Contains(string(w.admin(http.MethodGet, "/api/v1/memories?"+c.scopeQuery(p), "")), p.badge)
		})
	}
	p.erased = true
}
