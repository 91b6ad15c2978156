package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hindsight/internal/freeport"
)

// household is several processes on one data directory, each of them the built
// command: agents that speak MCP over standard input and output, and a server.
type household struct {
	t            *testing.T
	env          []string
	proxy, admin string

	mu    sync.Mutex
	wrote []string // what was acknowledged
}

// process is one of them. An agent writes without a pause until it ends.
type process struct {
	cmd     *exec.Cmd
	session *mcp.ClientSession // of an agent
	turn    chan chan struct{} // a write that begins after the send answers it
	stop    context.CancelFunc
	ended   chan struct{}
}

func newHousehold(t *testing.T) *household {
	h := &household{t: t}
	for _, a := range []*string{&h.proxy, &h.admin} {
		var err error
		if *a, err = freeport.Address(); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(os.Environ(), "HINDSIGHT_DATA_DIR="+t.TempDir(), "HINDSIGHT_EMBEDDER=none", "HINDSIGHT_LOG_LEVEL=error",
		"HINDSIGHT_TENANT=default", "HINDSIGHT_DEFAULT_USER=local", "HINDSIGHT_REFLECT_MODEL=rules",
		"LLM_API_BASE=http://127.0.0.1:9/v1", "HINDSIGHT_LISTEN="+h.proxy, "HINDSIGHT_ADMIN_LISTEN="+h.admin)
	return h
}

func (h *household) command(word string) *exec.Cmd {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(self, word)
	cmd.Args[0] = "hindsight" // what the test binary is then
	cmd.Env, cmd.Stderr = h.env, os.Stderr
	return cmd
}

// serve starts a server and waits until its memory is on.
func (h *household) serve() *process {
	h.t.Helper()
	p := &process{cmd: h.command("serve"), ended: make(chan struct{})}
	if err := p.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	h.t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.ended })
	var ready struct{ Memory string }
	for deadline := time.Now().Add(30 * time.Second); ready.Memory != "on"; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("the server has no memory after 30 s: %q", ready.Memory)
		}
		if resp, err := http.Get("http://" + h.admin + "/readyz"); err == nil {
			_ = json.NewDecoder(resp.Body).Decode(&ready)
			resp.Body.Close()
		}
	}
	return p
}

// agent starts `hindsight mcp` and has it write.
func (h *household) agent(name string) *process {
	h.t.Helper()
	p := &process{cmd: h.command("mcp"), turn: make(chan chan struct{}), ended: make(chan struct{})}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer cancel()
	var err error
	if p.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: p.cmd}, nil); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	writing, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() {
		defer close(p.ended)
		for n := 0; ; n++ {
			var said chan struct{}
			select {
			case said = <-p.turn:
			case <-writing.Done():
				return
			default:
			}
			text := fmt.Sprintf("Project %s%d builds with make target t%d.", name, n, n)
			var v struct{ ID string }
			if err := h.call(p, "memory_write", map[string]any{"content": text}, &v); err != nil {
				if writing.Err() == nil {
					h.t.Errorf("%s: %v", name, err)
				}
				return
			}
			h.mu.Lock()
			h.wrote = append(h.wrote, text)
			h.mu.Unlock()
			if said != nil {
				close(said)
			}
		}
	}()
	h.t.Cleanup(func() { stop(); _ = p.session.Close(); <-p.ended })
	return p
}

// call calls a tool that must work.
func (h *household) call(p *process, tool string, args map[string]any, answer any) error {
	res, err := p.session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		return errors.New(text)
	}
	return json.Unmarshal([]byte(text), answer)
}

// works says that each of some agents goes on: a write of it that begins now is
// acknowledged.
func (h *household) works(when string, agents ...*process) {
	h.t.Helper()
	late := time.After(40 * time.Second)
	for i, a := range agents {
		said := make(chan struct{})
		for _, step := range []func() bool{
			func() bool {
				select {
				case a.turn <- said:
					return true
				case <-a.ended:
				case <-late:
				}
				return false
			},
			func() bool {
				select {
				case <-said:
					return true
				case <-a.ended:
				case <-late:
				}
				return false
			},
		} {
			if !step() {
				h.t.Fatalf("%s, agent %d of %d doesn't go on", when, i+1, len(agents))
			}
		}
	}
}

// end ends a process as its kind is ended; kill as the system does.
func (p *process) end() {
	if p.session != nil {
		p.stop()
		<-p.ended // its last write is over
		_ = p.session.Close()
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended
}

func (p *process) kill() {
	if p.session != nil {
		p.stop()
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// kept says that everything that was acknowledged is there for an agent.
func (h *household) kept(a *process) {
	h.t.Helper()
	a.stop()
	<-a.ended
	h.mu.Lock()
	wrote := slices.Clone(h.wrote) // the others go on writing
	h.mu.Unlock()
	have := map[string]bool{}
	for cursor := ""; ; {
		args := map[string]any{"limit": 100}
		if cursor != "" {
			args["cursor"] = cursor
		}
		var page struct {
			Memories   []struct{ Text string }
			NextCursor string `json:"next_cursor"`
		}
		if err := h.call(a, "memory_list", args, &page); err != nil {
			h.t.Fatal(err)
		}
		for _, m := range page.Memories {
			if have[m.Text] {
				h.t.Errorf("%q is there twice", m.Text)
			}
			have[m.Text] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	lost := slices.DeleteFunc(slices.Clone(wrote), func(s string) bool { return have[s] })
	if len(lost) > 0 || len(wrote) == 0 {
		h.t.Errorf("of %d acknowledged writes %d are lost: %q", len(wrote), len(lost), lost[:min(len(lost), 5)])
	}
}

// TestMCPHandsTheDirectoryOver has three agents write without a pause while
// whoever holds the directory changes: none of them sees an error, and nothing
// that was acknowledged is lost.
func TestMCPHandsTheDirectoryOver(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some 20 processes")
	}
	t.Parallel()
	for name, order := range map[string]func(h *household) *process{
		"agents first": func(h *household) *process {
			a, b, c := h.agent("A"), h.agent("B"), h.agent("C")
			h.works("at the start", a, b, c)
			s := h.serve() // the one that holds it yields
			h.works("with a server", a, b, c)
			s.end()
			h.works("without the server", a, b, c)
			a.end()
			h.works("without the first", b, c)
			b.kill() // it may hold the directory
			h.works("with one killed", c)
			return c
		},
		"server first": func(h *household) *process {
			s := h.serve()
			a, b, c := h.agent("A"), h.agent("B"), h.agent("C")
			h.works("at the start", a, b, c)
			s.kill()
			h.works("with the server killed", a, b, c)
			s = h.serve()
			h.works("with another server", a, b, c)
			s.end()
			h.works("without it", a, b, c)
			return b
		},
		"server between": func(h *household) *process {
			a := h.agent("A")
			h.works("alone", a)
			s := h.serve()
			b := h.agent("B")
			h.works("with a server", a, b)
			s.end()
			c := h.agent("C")
			h.works("without the server", a, b, c)
			a.kill()
			h.works("with the first killed", b, c)
			s = h.serve()
			b.end()
			h.works("with a server again", c)
			s.kill()
			h.works("with that killed", c)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			h.kept(order(h))
		})
	}
}
