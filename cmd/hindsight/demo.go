package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// demoCmd plays two conversations and shows what happened between them.
type demoCmd struct {
	Upstream string `placeholder:"URL" help:"Play against a real model at this API instead of the scripted one; the key is LLM_API_KEY."`
	Model    string `placeholder:"MODEL" default:"${scripted_model}" help:"The model to ask."`
	Exit     bool   `help:"Stop after the play instead of serving on."`
}

// Run plays the demo.
func (c *demoCmd) Run(ctx context.Context, a *app) error { return runDemo(ctx, *c, a.out, a.env) }

// scriptedModel is the default of demo's --model.
const scriptedModel = fakellm.Model

// runDemo plays the demo and writes it to out. It serves on until ctx ends,
// unless told to exit.
func runDemo(ctx context.Context, cmd demoCmd, out io.Writer, env environ) error {
	dir, err := os.MkdirTemp("", "hindsight-demo")
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	t, base, stop, err := demoUpstream(cmd, env)
	if err != nil {
		return err
	}
	defer stop()
	cfg, err := demoConfig(dir, base, env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := startStack(ctx, cfg)
	if err != nil { // something else listens there: any ports will do
		cfg.Listen, cfg.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0"
		if st, err = startStack(ctx, cfg); err != nil {
			return err
		}
	}
	if err := st.store.Ready(ctx); err != nil {
		cancel()
		return errors.Join(unusable(dir, err), st.wait())
	}
	d := demo{out: out, tap: t, stack: st, client: demoClient{base: st.proxyURL() + "/v1", key: "sk-demo", model: cmd.Model}}
	if key := env.get("LLM_API_KEY"); cmd.Upstream != "" && key != "" {
		d.client.key = key
	}
	err = d.play(ctx)
	if err == nil && !cmd.Exit {
		d.servingOn()
		<-ctx.Done()
	}
	cancel()
	return errors.Join(err, st.wait())
}

// demoUpstream is the scripted model, or a way to the real one, behind a tap.
func demoUpstream(cmd demoCmd, env environ) (*tap, string, func(), error) {
	t := &tap{next: fakellm.New(fakellm.Config{})}
	path := "/v1"
	if cmd.Upstream != "" {
		u, err := url.Parse(cmd.Upstream)
		if err != nil || u.Host == "" {
			return nil, "", nil, fmt.Errorf("--upstream %q isn't a URL such as https://api.openai.com/v1", cmd.Upstream)
		}
		if cmd.Model == scriptedModel {
			return nil, "", nil, fmt.Errorf("--upstream needs --model: which of its models to ask")
		}
		if env.get("LLM_API_KEY") == "" {
			return nil, "", nil, fmt.Errorf("--upstream needs LLM_API_KEY: the key of %s", u.Host)
		}
		path = u.Path
		root := &url.URL{Scheme: u.Scheme, Host: u.Host}
		t.next = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(root) }}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, fmt.Errorf("listen for the demo's upstream: %w", err)
	}
	srv := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // until Close below
	return t, "http://" + ln.Addr().String() + path, func() { _ = srv.Close() }, nil
}

// demoConfig is an ordinary configuration with the demo's directory and
// upstream, on the usual ports where they are free.
func demoConfig(dir, base string, env environ) (Config, error) {
	set := map[string]string{
		"LLM_API_BASE": base, "HINDSIGHT_DATA_DIR": dir, "HINDSIGHT_LOG_LEVEL": "error",
		"HINDSIGHT_LISTEN": "127.0.0.1:8080", "HINDSIGHT_ADMIN_LISTEN": "127.0.0.1:8081",
		"LLM_API_KEY":               env.get("LLM_API_KEY"),
		"HINDSIGHT_RECALL_DEADLINE": "5s", // what is shown is memory, on a busy machine too
	}
	env.get = func(name string) string { return set[name] }
	return load(settings{}, setting{}, env, true)
}

// demo is one play.
type demo struct {
	out    io.Writer
	tap    *tap
	stack  *stack
	client demoClient
}

func (d demo) print(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d demo) play(ctx context.Context) error {
	d.print("Hindsight demo. The application is an ordinary client of %s; it knows nothing of Hindsight.", d.client.base)
	d.print("\n1. A first conversation\n")
	session, err := d.converse(ctx, demoLessons(), false)
	if err != nil {
		return err
	}
	if err := d.lookBack(ctx, session); err != nil {
		return err
	}
	d.embedded(ctx)
	d.print("\n3. New conversations, each starting from nothing")
	for _, q := range demoQuestions() {
		d.print("")
		if _, err := d.converse(ctx, []line{q}, true); err != nil {
			return err
		}
	}
	return nil
}

// converse plays the lines as one conversation and returns its session.
func (d demo) converse(ctx context.Context, lines []line, show bool) (string, error) {
	var history []chatMessage
	session := ""
	for _, l := range lines {
		d.print("   you      %s", l.words)
		history = append(history, chatMessage{Role: "user", Content: l.words})
		for first := true; ; first = false {
			got, err := d.client.say(ctx, history, l.tool != nil)
			if err != nil {
				return "", err
			}
			session = got.header.Get("Hindsight-Session")
			if show && first {
				d.showInjection(got)
			}
			history = append(history, got.answer)
			if len(got.answer.ToolCalls) == 0 {
				d.print("   model    %s", got.answer.text())
				break
			}
			for _, c := range got.answer.ToolCalls {
				result := l.tool(c.port())
				d.print("   calls    %s(%s)", c.Function.Name, c.Function.Arguments)
				d.print("   tool     %s", result)
				history = append(history, chatMessage{Role: "tool", Content: result, CallID: c.ID})
			}
		}
	}
	return session, nil
}

// showInjection prints the bytes that the upstream got beyond the client's.
func (d demo) showInjection(got said) {
	d.print("   header   Hindsight-Status: %s", got.header.Get("Hindsight-Status"))
	block, ok := inserted(got.body, d.tap.arrived(got.body))
	if !ok || block == "" {
		d.print("   bytes    the upstream got the client's own %d bytes, nothing else", len(got.body))
		return
	}
	d.print("   bytes    the upstream got the client's %d bytes and, in front of the words, these %d:", len(got.body), len(block))
	d.print("%s", indent(strings.ReplaceAll(block, `\n`, "\n"), "            | "))
}

// lookBack closes the session and shows what was kept and what was not.
func (d demo) lookBack(ctx context.Context, session string) error {
	d.print("\n2. The session is closed, and Hindsight looks back\n")
	raw, err := d.stack.admin(ctx, http.MethodPost, "/api/v1/sessions/"+session+"/close?wait=120s")
	if err != nil {
		return err
	}
	var r struct {
		Memories []store.Memory  `json:"memories"`
		Dropped  []store.Dropped `json:"dropped"`
		State    string          `json:"state"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read what was kept: %w", err)
	}
	if r.State == "running" {
		d.print("   it is still running after two minutes; `hindsight memories list` shows what comes")
		return nil
	}
	for _, m := range r.Memories {
		d.print("   kept     %-12s %s", m.Type, m.Text)
		for _, e := range m.Evidence {
			d.print("            %12s because of: %q", "", e.Quote)
		}
	}
	for _, x := range r.Dropped {
		d.print("   dropped  %-12s %s", x.Reason, x.Text)
	}
	return nil
}

// embedded waits until what was kept can be found by meaning too, which takes a
// moment after the start; without that the words alone decide.
func (d demo) embedded(ctx context.Context) {
	if d.stack.vectors == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if p, err := d.stack.vectors.Progress(ctx); err == nil && p.Reason == "" && p.Embedded >= p.Memories {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// servingOn says what can be tried now.
func (d demo) servingOn() {
	d.print("\n4. Still serving; try it, and stop with Ctrl-C\n")
	d.print("   the API      %s", d.client.base)
	d.print("   management   %s (bearer token: %s)", d.stack.adminURL(), d.stack.token())
	d.print("   curl -i %s/chat/completions -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \\", d.client.base, "sk-demo")
	d.print(`     -d '{"model":"%s","messages":[{"role":"user","content":"Where do I live?"}]}'`, d.client.model)
}
