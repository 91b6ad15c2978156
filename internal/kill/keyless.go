package kill

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// Keyless kills a binary that has no key of its own before a session is
// reflected. After the start there is no credential: the job has to wait, ask
// nobody, and run once the caller comes back. It returns what didn't hold.
func Keyless(ctx context.Context, cfg Config) (faults []string, err error) {
	var asked atomic.Int64
	model := fakellm.New(fakellm.Config{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 4000 { // a reflection: its prompt alone is longer than all that is said here
			asked.Add(1)
		}
		model.ServeHTTP(w, r)
	}))
	defer up.Close()
	env := cfg.Env
	cfg.Env = append(slices.Clone(env), "LLM_API_KEY=", "HINDSIGHT_SESSION_IDLE=1h")
	first, err := Start(ctx, cfg, up.URL+"/v1")
	if err != nil {
		return nil, err
	}
	history := []map[string]string{{"role": "user", "content": "My codeword is otter."}}
	if _, err := say(ctx, first, "keyless", history, false); err != nil {
		first.Kill()
		return nil, err
	}
	select {
	case <-time.After(2 * Settled):
	case <-ctx.Done():
	}
	first.Kill()

	cfg.Env = append(slices.Clone(env), "LLM_API_KEY=", "HINDSIGHT_SESSION_IDLE=1s")
	second, err := Start(ctx, cfg, up.URL+"/v1")
	if err != nil {
		return nil, err
	}
	defer second.Kill()
	if err := until(ctx, func() (bool, error) { return inState(ctx, second, store.WaitingForKey, 1) }); err != nil {
		return nil, fmt.Errorf("wait for the job that waits for a key: %w", err)
	}
	if n := asked.Load(); n != 0 {
		faults = append(faults, fmt.Sprintf("a model was asked %d times without a key", n))
	}
	// The caller comes back, in another conversation.
	if _, err := say(ctx, second, "keyless", []map[string]string{{"role": "user", "content": "How deep is the sea?"}}, false); err != nil {
		return faults, err
	}
	err = until(ctx, func() (bool, error) {
		kept, err := memoriesOf(ctx, second, "keyless")
		return len(kept) > 0, err
	})
	if err != nil {
		return faults, fmt.Errorf("wait for the memory: %w", err)
	}
	if err := drained(ctx, second); err != nil {
		return faults, err
	}
	kept, err := memoriesOf(ctx, second, "keyless")
	if err != nil {
		return faults, err
	}
	if len(kept) != 1 || !strings.Contains(kept[0].Text, "otter") || asked.Load() == 0 {
		faults = append(faults, fmt.Sprintf("%d memories after the caller came back, %d calls", len(kept), asked.Load()))
	}
	return faults, nil
}

// inState says whether so many reflections are in a state.
func inState(ctx context.Context, c *Child, state store.JobState, n int) (bool, error) {
	p, err := pageOfJobs(ctx, c, "limit=1")
	return p.Counts[state] == n, err
}

// until polls for 30 s.
func until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
