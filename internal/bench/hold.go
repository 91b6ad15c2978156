package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Hold opens so many requests at once, which the upstream answers only when all
// are there, and returns the most anonymous memory that the target's process
// had meanwhile, in bytes. upstream is its base URL.
func Hold(ctx context.Context, t Target, upstream string, requests int, script func() Script) (peak int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var most atomic.Int64
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			most.Store(max(most.Load(), RssAnon(t.PID)))
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	defer func() { close(stop); watching.Wait(); peak = most.Load() }()

	bodies := make([][]byte, requests)
	for i := range bodies {
		bodies[i] = script()(i, nil) // each opens a conversation
	}
	errs := make(chan error, requests)
	for _, body := range bodies {
		c, err := dial(ctx, t, http.Header{headerHold: {"1"}})
		if err != nil {
			return 0, fmt.Errorf("hold requests to %s: %w", t.Name, err)
		}
		defer c.close()
		go func() {
			got, err := c.ask(body)
			if err == nil && got.status != http.StatusOK {
				err = fmt.Errorf("status %d", got.status)
			}
			errs <- err
		}()
	}
	for held := 0; held < requests; {
		select {
		case err := <-errs:
			return 0, fmt.Errorf("hold requests to %s: one ended early: %w", t.Name, err)
		case <-ctx.Done():
			return 0, fmt.Errorf("hold requests to %s: %d of %d reached the upstream", t.Name, held, requests)
		case <-time.After(20 * time.Millisecond):
		}
		raw, err := fetch(ctx, upstream+"/held")
		if err != nil {
			return 0, err
		}
		if held, err = strconv.Atoi(string(raw)); err != nil {
			return 0, fmt.Errorf("read how many requests are held: %w", err)
		}
	}
	if _, err := fetch(ctx, upstream+"/release"); err != nil {
		return 0, err
	}
	for range requests {
		if err := <-errs; err != nil {
			return 0, fmt.Errorf("hold requests to %s: %w", t.Name, err)
		}
	}
	return 0, nil // peak is set at the end
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the benchmark's upstream: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	return io.ReadAll(resp.Body)
}
