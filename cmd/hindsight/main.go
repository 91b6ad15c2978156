// Hindsight is a memory for LLM applications: a proxy in front of a model API
// that recalls what earlier sessions taught.
//
// The command's own code is its configuration (settings.go is the list of all
// keys), one file per subcommand, and the wiring of everything else in serve.go.
// Commands on memories and sessions are clients of the management API: of the
// running server's, through the socket of its data directory or its address, or
// of one that they start in their own process over a directory that nobody
// holds (open.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // images without a zone database

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/mattn/go-isatty"
)

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// commands is the command line.
type commands struct {
	Serve    serveCmd    `cmd:"" help:"Forward requests to the model API, with memory."`
	Demo     demoCmd     `cmd:"" help:"Play two conversations and show what is remembered."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Offer the memory to agents that speak MCP."`
	Memories memoriesCmd `cmd:"" help:"List, search, write and forget memories."`
	Sessions sessionsCmd `cmd:"" help:"Look at conversations, and close them."`
	Reflect  reflectCmd  `cmd:"" help:"Reflect on a session now, or look at the queue of reflections."`
	Tenants  tenantsCmd  `cmd:"" help:"List tenants, and join two."`
	Import   importCmd   `cmd:"" help:"Take in memories and conversations: an export, mem0's, ChatGPT's, logs of OpenAI messages."`
	Export   exportCmd   `cmd:"" help:"Write everything of a scope to a file: memories, their history, conversations."`
	Backup   backupCmd   `cmd:"" help:"Back up the data directory while it is in use, whole or what is new."`
	Restore  restoreCmd  `cmd:"" help:"Make a data directory of a backup."`
	Console  consoleCmd  `cmd:"" help:"Print a link that opens the console in a browser, once."`
	Migrate  migrateCmd  `cmd:"" help:"Move everything between the data directory and Weaviate."`
	Reembed  reembedCmd  `cmd:"" help:"Embed all memories anew, after another embedder was configured."`
	Doctor   doctorCmd   `cmd:"" help:"Check everything, and say what to do."`
	Health   healthCmd   `cmd:"" help:"Ask whether requests can be forwarded, for health checks."`
	Bench    benchCmd    `cmd:"" help:"Measure speed, beside what else there is."`
	Replay   replayCmd   `cmd:"" help:"Ask again what was asked, at other settings, and show what would be injected."`
	Eval     evalCmd     `cmd:"" help:"Check what is remembered, on data of yours."`
	Inject   injectCmd   `cmd:"" name:"inject-sidecar" help:"Put Hindsight into pods of Kubernetes that ask for it: a mutating webhook."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Completion completionCmd `cmd:"" help:"Print what makes the shell complete commands: bash, zsh, fish."`

	Config setting `name:"config" short:"c" placeholder:"PATH" help:"A YAML file with settings (HINDSIGHT_CONFIG)."`
	JSON   bool    `name:"json" help:"Print JSON for machines."`
}

// app is what every command works with.
type app struct {
	env    environ
	config setting
	out    io.Writer
	err    io.Writer
	json   bool
	color  bool // whether out shows colours
	width  int  // columns of out; 0: no terminal

	errWidth int       // columns of err; 0: no terminal
	in       io.Reader // nil: nobody can be asked
}

func main() {
	private()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	home, _ := os.UserHomeDir() // without one the data directory is relative
	a := &app{
		env: environ{get: os.Getenv, pid: os.Getpid(), home: home},
		out: os.Stdout,
		err: os.Stderr,
	}
	if isatty.IsTerminal(os.Stdout.Fd()) && os.Getenv("TERM") != "dumb" {
		a.color, a.width = os.Getenv("NO_COLOR") == "", columns(os.Stdout)
	}
	if isatty.IsTerminal(os.Stderr.Fd()) && os.Getenv("TERM") != "dumb" {
		a.errWidth = columns(os.Stderr)
		if isatty.IsTerminal(os.Stdin.Fd()) {
			a.in = os.Stdin
		}
	}
	code := run(ctx, a, os.Args[1:])
	stop()
	os.Exit(code)
}

// run parses args, does what they say and returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	var c commands
	exited := -1
	parser, err := newParser(&c, a, func(code int) { exited = code })
	if err != nil {
		fmt.Fprintln(a.err, "hindsight:", err)
		return exitFailed
	}
	kongcompletion.Register(parser, kongcompletion.WithExitFunc(func(code int) { exited = code }))
	if exited >= 0 { // the shell has asked
		return exited
	}
	line, err := parser.Parse(args)
	if exited >= 0 { // --help has been printed
		return exited
	}
	if err != nil {
		fmt.Fprintf(a.err, "hindsight: %v\nRun `hindsight --help` to see what there is.\n", err)
		return exitUsage
	}
	a.config, a.json = c.Config, c.JSON
	line.BindTo(ctx, (*context.Context)(nil))
	return a.report(line.Run(a))
}

// newParser makes the command line's parser. exit is called where --help has
// said everything.
func newParser(c *commands, a *app, exit func(int)) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("hindsight"),
		kong.Description("A memory for LLM applications."),
		kong.Writers(a.out, a.err),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ValueFormatter(withEnv),
		kong.Vars{"scripted_model": scriptedModel},
		groups(),
	)
}

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(a.err, "hindsight:", text)
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return exitFailed
}

// groups are the headings of the settings in the help.
func groups() kong.Groups {
	return kong.Groups{
		"upstream":   "Upstream",
		"listeners":  "Listeners",
		"identity":   "Whose memory it is",
		"store":      "Store",
		"reflection": "Reflection",
		"forgetting": "Forgetting",
		"injection":  "Injection",
		"other":      "Other",
		"reach":      "Which Hindsight",
	}
}

// withEnv adds to a setting's help its environment variable and its default.
func withEnv(v *kong.Value) string {
	help := v.OrigHelp
	if !v.Tag.Has("key") {
		return help
	}
	e := entry{key: v.Tag.Get("key"), also: v.Tag.Get("also")}
	name := e.also
	if name == "" {
		name = e.env()[0]
	}
	if def := v.Tag.Get("def"); def != "" {
		return fmt.Sprintf("%s Default %s. ($%s)", help, def, name)
	}
	return fmt.Sprintf("%s ($%s)", help, name)
}

// failure is an error with its next step.
type failure struct {
	wrong string
	next  string
	code  int // 0: exitFailed

	status int // of the management API's answer, where that is the failure
}

func (f *failure) Error() string {
	if f.next == "" {
		return f.wrong
	}
	return f.wrong + "\n" + f.next
}

// ExitCode is 1 unless the failure says otherwise.
func (f *failure) ExitCode() int {
	if f.code == 0 {
		return exitFailed
	}
	return f.code
}
