package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"hindsight/store"
	"hindsight/store/badgerdb"
)

// way is the way of `hindsight mcp` to the memory: through the socket of whoever
// holds the data directory, else by holding it itself until a server asks for
// it. It follows the directory from owner to owner: a call that one of them
// could not answer goes to the next.
type way struct {
	cfg Config

	mu   sync.Mutex // held while the way is being found, too
	to   *stop      // nil: to be found
	lost time.Time  // when the last owner went; zero: there was none
}

var _ http.RoundTripper = (*way)(nil)

// stop is where a way leads.
type stop struct {
	transport http.RoundTripper
	end       func() error
}

// The patience of a way. After an owner went, another that is to take its place
// comes first: a server that asked for the directory opens it within moments.
const (
	newOwnerComes = time.Second
	lookAgain     = 20 * time.Millisecond
)

// RoundTrip implements [http.RoundTripper]. The answer is read whole: half of one
// is none.
func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		to, err := w.find(r.Context())
		if err != nil {
			return nil, err
		}
		resp, err := attempt(to.transport, r)
		if err == nil {
			return resp, nil
		}
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		w.leave(to)
	}
}

func attempt(t http.RoundTripper, r *http.Request) (*http.Response, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fmt.Errorf("send the call again: %w", err)
		}
		again.Body = body
	}
	resp, err := t.RoundTrip(again)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return resp, nil
}

// find returns where the way leads, and finds it first where that isn't known.
func (w *way) find(ctx context.Context) (*stop, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.to == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, err := ownerClient(ctx, w.cfg.Store.Dir); err == nil {
			w.to = &stop{c.http.Transport, c.close}
			break
		}
		if time.Since(w.lost) >= newOwnerComes {
			h, err := w.own(ctx)
			if err == nil {
				w.to = h
				break
			}
			var off *store.Off
			if !errors.As(err, &off) || !off.Held {
				return nil, err
			}
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return w.to, nil
}

// leave gives up a way that no longer leads anywhere.
func (w *way) leave(from *stop) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == from {
		w.to, w.lost = nil, time.Now()
		_ = from.end() // nobody is there any more
	}
}

// close gives up what is held.
func (w *way) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return nil
	}
	end := w.to.end
	w.to = nil
	return end()
}

// yieldPath is where a process that holds the directory without being a server is
// asked to give it up. It stands on the owner's socket only.
const yieldPath = "/owner/yield"

// yieldWait is how long the calls under way may take when the directory is given
// up. They are made again, to the new owner.
const yieldWait = 2 * time.Second

// own opens the directory and answers for it until that is given up.
func (w *way) own(ctx context.Context) (*stop, error) {
	h, err := holdDirectory(ctx, w.cfg, true)
	if err != nil {
		return nil, err
	}
	o := &owned{held: h, way: w}
	o.ctx, o.cut = context.WithCancel(context.Background())
	l, err := badgerdb.ListenOwner(w.cfg.Store.Dir)
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	o.listener = l
	o.srv = &http.Server{Handler: o, ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return o.ctx }}
	go func() { _ = o.srv.Serve(l) }() // until it is closed
	o.at = &stop{transport: local{o}, end: o.end}
	return o.at, nil
}

// owned is a data directory in the hands of `hindsight mcp`.
type owned struct {
	held     *held
	way      *way
	at       *stop
	srv      *http.Server
	listener net.Listener
	ctx      context.Context // of the calls that came by the socket
	cut      context.CancelFunc

	mu    sync.Mutex
	calls sync.WaitGroup
	over  bool
	once  sync.Once
	err   error
}

// ServeHTTP answers calls of this process and of others while the directory is
// held; later ones break off, and their callers look for the new owner.
func (o *owned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == yieldPath && r.Method == http.MethodPost {
		o.yield(w)
		return
	}
	if !o.enter() {
		panic(http.ErrAbortHandler)
	}
	defer o.calls.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(o.ctx, cancel)()
	o.held.handler.ServeHTTP(w, r.WithContext(ctx))
	if o.ctx.Err() != nil {
		panic(http.ErrAbortHandler) // it was cut off: what it says is about that
	}
}

func (o *owned) enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return false
	}
	o.calls.Add(1)
	return true
}

// yield gives the directory up and says so once that is done.
func (o *owned) yield(w http.ResponseWriter) {
	// Our own calls wait for the new owner before others could come between.
	o.way.mu.Lock()
	if o.way.to == o.at {
		o.way.to, o.way.lost = nil, time.Now()
	}
	o.way.mu.Unlock()
	if err := o.release(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	go func() { // this very call is one that it waits for
		late, cancel := context.WithTimeout(context.Background(), yieldWait)
		defer cancel()
		if o.srv.Shutdown(late) != nil {
			_ = o.srv.Close()
		}
	}()
}

// release closes the socket, lets the calls under way end, and closes the
// directory.
func (o *owned) release() error {
	o.once.Do(func() {
		o.mu.Lock()
		o.over = true
		o.mu.Unlock()
		_ = o.listener.Close() // the socket's file goes with it
		ended := make(chan struct{})
		go func() { o.calls.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(yieldWait):
			o.cut()
			<-ended
		}
		o.cut()
		o.err = o.held.close()
	})
	return o.err
}

// end gives the directory up when the process ends.
func (o *owned) end() error {
	return errors.Join(o.release(), o.srv.Close())
}

// askToYield asks who holds a directory to give it up. It says whether that was
// done: a server doesn't.
func askToYield(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := ownerClient(ctx, dir)
	if err != nil {
		return false // it is only just opening, or of another version
	}
	defer func() { _ = c.close() }() // nothing was kept
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+yieldPath, nil)
	if err != nil {
		return false
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // it is empty
	return resp.StatusCode == http.StatusNoContent
}
