package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
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
	Attacks evalAttacksCmd `cmd:"" help:"Play 60 conversations in which somebody else speaks for the user, and harmless ones that look alike, through the product."`
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
	up := &clients.Upstream{}
	st, stop, err := evalStack(ctx, env, up, map[string]string{"HINDSIGHT_REFLECT_MODEL": "rules", "HINDSIGHT_DEFAULT_USER": evalUser})
	if err != nil {
		return clients.Report{}, err
	}
	defer stop()
	return clients.Replay(ctx, clients.Target{
		Proxy: st.proxyURL(), Admin: st.adminURL(), Token: strings.TrimSpace(st.token()), DefaultUser: evalUser, Upstream: up,
	}, c)
}

// evalStack starts the product in front of an upstream of this process, over an
// empty directory and with nothing of the deployment's configuration; set is
// what it is told besides. stop ends both and removes the directory.
func evalStack(ctx context.Context, env environ, upstream http.Handler, set map[string]string) (st *stack, stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	dir, err := os.MkdirTemp("", "hindsight-eval")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory for the replay: %w", err)
	}
	ends = append(ends, func() { _ = os.RemoveAll(dir) })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the replay's upstream: %w", err)
	}
	srv := &http.Server{Handler: upstream, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // until Close
	ends = append(ends, func() { _ = srv.Close() })

	all := map[string]string{
		"LLM_API_BASE": "http://" + ln.Addr().String() + "/v1", "HINDSIGHT_DATA_DIR": dir, "HINDSIGHT_LOG_LEVEL": "error",
		"HINDSIGHT_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_LISTEN": "127.0.0.1:0", "HINDSIGHT_SESSION_PER_HOUR": "0", "HINDSIGHT_TENANT": evalTenant,
	}
	maps.Copy(all, set)
	env.get = func(name string) string { return all[name] }
	cfg, err := load(settings{}, setting{}, env, true)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	if st, err = startStack(ctx, cfg); err != nil {
		cancel()
		return nil, nil, err
	}
	ends = append(ends, func() { cancel(); _ = st.wait() }) // the report is what counts
	return st, stop, st.store.Ready(ctx)
}
