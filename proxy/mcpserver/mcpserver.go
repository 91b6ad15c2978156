// Package mcpserver offers the memory to agents that speak the Model Context
// Protocol: tools that write, search and change memories, memories and the open
// session as resources, and a prompt that says how to use it all well.
//
// [New] makes a server over the management API, whoever serves that: the process
// that holds the data directory, or this one. [Server.Serve] speaks with one
// client over standard input and output; [Server.Handler] answers streamable
// HTTP, server-sent events and WebSocket; [Server.Run] tells clients of changes
// until its context ends, and then ends every session.
//
// Who calls is a [Grant]: a tenant, whose memory it is, and the scopes that may
// be read and written. No argument of any call leads out of it, and what lies
// outside doesn't exist for the caller. Each grant has a desk of its own, so that
// no session's id opens another's session.
//
// Writes go through reflection (the screens, the neighbours, the turn of each
// scope), because the management API's learn call does. The package keeps
// nothing but sessions, and begins nothing before a client has come.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The values of mcp.names: under which names the tools are offered.
const (
	NamesMemory = "memory" // memory_write, memory_search, …
	NamesStore  = "store"  // store_memory, search_memory, …
	NamesBoth   = "both"
)

// Config says what a server is built from.
type Config struct {
	// API is the way to the management API, as its owner: no token is sent.
	API http.RoundTripper
	// Names is one of NamesMemory (also when empty), NamesStore and NamesBoth.
	Names string
	// Screen says why a text may not be kept, in a word; empty: it may. It is for
	// changes of a memory's text; the learn call has screens of its own.
	Screen func(text string) string
	// Limit bounds every call; default 30 s.
	Limit   time.Duration
	Version string
	Zone    *time.Location // of days without a zone; nil: UTC
	Log     *slog.Logger   // nil discards
}

// Server is the MCP server. Its methods are safe for concurrent use.
type Server struct {
	cfg Config
	api api
	log *slog.Logger

	mu    sync.Mutex
	desks map[string]*desk
	ended bool
}

// callLimit is how long a call may take.
const callLimit = 30 * time.Second

// New makes a server. The error names the field that can't be used.
func New(cfg Config) (*Server, error) {
	switch cfg.Names {
	case "":
		cfg.Names = NamesMemory
	case NamesMemory, NamesStore, NamesBoth:
	default:
		return nil, fmt.Errorf("mcp.names %q: want memory, store or both", cfg.Names)
	}
	if cfg.API == nil || cfg.Screen == nil {
		return nil, errors.New("mcp server: it needs an API and a screen")
	}
	if cfg.Limit <= 0 {
		cfg.Limit = callLimit
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, api: api{&http.Client{Transport: cfg.API}}, log: cfg.Log, desks: map[string]*desk{}}, nil
}

// Serve speaks with one client, a JSON-RPC message a line, until it closes its
// side or ctx ends. It closes neither in nor out.
func (s *Server) Serve(ctx context.Context, g Grant, in io.Reader, out io.Writer) error {
	d, err := s.desk(g)
	if err != nil {
		return err
	}
	err = d.server.Run(ctx, transport{newLines(in, out)})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil //nolint:nilerr // that is how it ends
	}
	if err != nil {
		return fmt.Errorf("speak MCP: %w", err)
	}
	return nil
}

// Run follows changes for the sessions that there are, until ctx ends; then it
// ends the sessions. No new ones begin after that.
func (s *Server) Run(ctx context.Context) {
	<-ctx.Done()
	s.mu.Lock()
	s.ended = true
	desks := s.desks
	s.desks = map[string]*desk{}
	s.mu.Unlock()
	for _, d := range desks {
		d.close()
	}
}

var errEnded = errors.New("the server is stopping: try again in a moment")

// desk is where the callers of one grant are served.
func (s *Server) desk(g Grant) (*desk, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errEnded
	}
	d := s.desks[g.key()]
	if d == nil {
		d = newDesk(s, g)
		s.desks[g.key()] = d
	}
	return d, nil
}

// desk serves the sessions of one grant.
type desk struct {
	*Server
	grant  Grant
	server *mcp.Server
	stream http.Handler // streamable HTTP
	events http.Handler // server-sent events
	watch  watch
	life   context.Context // of what runs besides calls; ends with the desk
	end    context.CancelFunc
}

// sessionIdle ends sessions over HTTP whose clients have gone without a word.
const sessionIdle = time.Hour

func newDesk(s *Server, g Grant) *desk {
	d := &desk{Server: s, grant: g}
	// Sessions outlive the request that began them.
	d.life, d.end = context.WithCancel(context.Background())
	d.server = mcp.NewServer(
		&mcp.Implementation{Name: "hindsight", Title: "Hindsight memory", Version: s.cfg.Version},
		&mcp.ServerOptions{
			Instructions: instructions, PageSize: pageSize,
			Capabilities:       &mcp.ServerCapabilities{},
			InitializedHandler: func(context.Context, *mcp.InitializedRequest) { d.follow() },
			SubscribeHandler:   d.subscribe, UnsubscribeHandler: d.unsubscribe,
			// What is listed and read is one person's.
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		})
	for _, t := range s.tools() {
		d.addTool(t)
	}
	d.addResources()
	d.addPrompt()
	one := func(*http.Request) *mcp.Server { return d.server }
	// The management port has checked Host and Origin, by its own list.
	d.stream = mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{SessionTimeout: sessionIdle, DisableLocalhostProtection: true})
	d.events = mcp.NewSSEHandler(one, &mcp.SSEOptions{DisableLocalhostProtection: true})
	return d
}

func (d *desk) close() {
	d.end()
	for s := range d.server.Sessions() {
		_ = s.Close() // its client may be gone already
	}
}
