package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// ownerClient is a client of the process that holds a data directory. The error
// says that there is none.
func ownerClient(ctx context.Context, dir string) (*client, error) {
	probe, err := badgerdb.DialOwner(ctx, dir)
	if err != nil {
		return nil, err
	}
	_ = probe.Close() // nothing was said on it
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return badgerdb.DialOwner(ctx, dir)
	}}
	return &client{
		http: &http.Client{Transport: t}, base: "http://" + store.Product, where: dir,
		close: func() error { t.CloseIdleConnections(); return nil },
	}, nil
}

// directoryOf is the data directory as it is configured.
func directoryOf(cfg Config) badgerdb.Config {
	return badgerdb.Config{
		Dir: cfg.Store.Dir, IdentityKeyFile: cfg.Identity.KeyFile, Share: cfg.Store.Shared != nil,
		EncryptionKeyFile: cfg.Store.KeyFile, OldEncryptionKeyFile: cfg.Store.OldKeyFile,
		Screen: extract.Redact,
	}
}

// runStore opens the store of a data directory for one command, once it is ready.
// shut ends it and returns what went wrong. Its life is the command's, not a
// call's: an interrupt must not close it under a write.
func runStore(ctx context.Context, dir badgerdb.Config) (st *badgerdb.Store, shut func() error, err error) {
	if st, err = badgerdb.New(dir); err != nil {
		return nil, nil, &failure{wrong: err.Error(), next: "Correct the configuration.", code: exitUsage}
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ran := make(chan error, 1)
	go func() { ran <- st.Run(running) }()
	shut = func() error { stop(); return <-ran }
	if err := st.Ready(ctx); err != nil {
		return nil, nil, errors.Join(err, shut())
	}
	return st, shut, nil
}

// openDirectory opens a data directory that nobody holds, for one command. It
// is its owner that long: other commands come in through its socket.
func (a *app) openDirectory(ctx context.Context, cfg Config) (*client, error) {
	dir := cfg.Store.Dir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, &failure{
			wrong: fmt.Sprintf("no server is running and there is no data in %s", dir),
			next:  "Start `hindsight serve`, or name its directory (--data-dir) or its address (--admin).",
		}
	}
	h, err := holdDirectory(ctx, cfg, false)
	if err != nil {
		return nil, unusable(dir, err)
	}
	srv := &http.Server{Handler: h.handler, ReadHeaderTimeout: 5 * time.Second}
	if l, err := badgerdb.ListenOwner(dir); err == nil { // without it others wait for us to end
		go func() { _ = srv.Serve(l) }() // until Shutdown
	}
	return &client{
		http: &http.Client{Transport: local{h.handler}}, base: "http://" + store.Product, where: dir,
		close: func() error {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			err := srv.Shutdown(late)
			return errors.Join(err, h.close())
		},
	}, nil
}

// unusable is the error of a directory that can't be opened.
func unusable(dir string, err error) error {
	var off *store.Off
	if errors.As(err, &off) {
		return &failure{wrong: off.Reason, next: "The data directory is " + dir + "; `hindsight doctor` says more."}
	}
	return err
}

// enqueuer closes sessions where no server runs: their reflection waits for the
// next one.
type enqueuer struct{ store *badgerdb.Store }

// Settle has nothing to wait for: no answer is under way here.
func (enqueuer) Settle(context.Context) error { return nil }

// Close ends a session and queues its reflection.
func (e enqueuer) Close(ctx context.Context, session string) (store.Job, error) {
	s, err := e.store.FindSession(ctx, session)
	if err != nil {
		return store.Job{}, err
	}
	job, _, err := e.store.Enqueue(ctx, s.Owner, s.ID, store.TriggerExplicit)
	return job, err
}

// nobodys lends no credential: no caller is near.
type nobodys struct{}

// Credential implements hreflect.Credentials.
func (nobodys) Credential(string) (header, value string, ok bool) { return "", "", false }
