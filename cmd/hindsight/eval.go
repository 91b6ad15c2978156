package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"hindsight/internal/eval/clients"
)

// evalCmd measures the product on data that isn't part of it.
type evalCmd struct {
	Recall  evalRecallCmd  `cmd:"" help:"Measure what is found, and when the gate keeps quiet, on labelled questions."`
	Tune    evalTuneCmd    `cmd:"" help:"Try settings of the gate on labelled questions, and propose one."`
	Reflect evalReflectCmd `cmd:"" help:"Hold reflection against conversations whose answer is known."`
	Harm    evalHarmCmd    `cmd:"" help:"Ask a model eighty tasks with and without notes, and look for what the notes spoil."`
	Pairs   evalPairsCmd   `cmd:"" help:"Count which of 400 pairs of statements, updates and paraphrases, become one memory: without a model and with scripted ones."`
	Clients evalClientsCmd `cmd:"" help:"Replay captured requests of real clients and check whose they are, which conversation, and what a person typed."`
}

type evalClientsCmd struct {
	Dir   string   `arg:"" help:"Folder of captures, one JSON file a client."`
	Names []string `arg:"" optional:"" help:"Captures to replay, without .json; all where left out."`
}

// evalUser is the default user of the replays.
const evalUser = "replayed"

// Run replays each capture through a proxy of its own, over an empty directory.
func (c *evalClientsCmd) Run(ctx context.Context, a *app) error {
	captures, err := clients.Load(c.Dir, c.Names)
	if err != nil {
		return &failure{wrong: err.Error(), next: "Name the folder that holds the captures.", code: exitUsage}
	}
	var reports []clients.Report
	faults := 0
	for _, capture := range captures {
		rep, err := replayCapture(ctx, capture, a.env)
		if err != nil {
			return err
		}
		reports = append(reports, rep)
		faults += len(rep.Faults)
	}
	if a.json {
		if err := a.printJSON(map[string]any{"reports": reports}); err != nil {
			return err
		}
	} else {
		for _, r := range reports {
			fmt.Fprintf(a.out, "%-20s %3d requests, %2d turns, %2d side calls, %2d of sub-agents, %2d sessions, %2d not replayed: %d faults\n",
				r.Client, r.Requests, r.Turns, r.Side, r.Subagents, r.Sessions, r.Other, len(r.Faults))
			for _, f := range r.Faults {
				fmt.Fprintln(a.out, "  ", f)
			}
		}
	}
	if faults > 0 {
		return &failure{wrong: fmt.Sprintf("%d faults", faults)}
	}
	return nil
}

func replayCapture(ctx context.Context, c clients.Capture, env environ) (clients.Report, error) {
	dir, err := os.MkdirTemp("", "hindsight-eval")
	if err != nil {
		return clients.Report{}, fmt.Errorf("make a directory for the replay: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	up := &clients.Upstream{}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return clients.Report{}, fmt.Errorf("listen for the replay's upstream: %w", err)
	}
	srv := &http.Server{Handler: up, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // until Close below
	defer func() { _ = srv.Close() }()

	set := map[string]string{
		"LLM_API_BASE": "http://" + ln.Addr().String() + "/v1", "HINDSIGHT_DATA_DIR": dir, "HINDSIGHT_LOG_LEVEL": "error",
		"HINDSIGHT_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_LISTEN": "127.0.0.1:0", "HINDSIGHT_REFLECT_MODEL": "rules", "HINDSIGHT_SESSION_PER_HOUR": "0",
		"HINDSIGHT_TENANT": "eval", "HINDSIGHT_DEFAULT_USER": evalUser,
	}
	env.get = func(name string) string { return set[name] }
	cfg, err := load(settings{}, setting{}, env, true)
	if err != nil {
		return clients.Report{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	st, err := startStack(ctx, cfg)
	if err != nil {
		cancel()
		return clients.Report{}, err
	}
	defer func() { cancel(); _ = st.wait() }() // the report is what counts
	if err := st.store.Ready(ctx); err != nil {
		return clients.Report{}, err
	}
	return clients.Replay(ctx, clients.Target{
		Proxy: st.proxyURL(), Admin: st.adminURL(), Token: strings.TrimSpace(st.token()), DefaultUser: evalUser, Upstream: up,
	}, c)
}
