package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/internal/kill"
	"hindsight/store"
)

// load is all clients, and what they did.
type load struct {
	cfg Config
	c   *kill.Child
	up  *upstream

	http *http.Client

	resting sync.RWMutex // held by requests, and for a while by whoever measures

	mu  sync.Mutex
	rep *Report
}

// fates are what happens to requests, each as often as it stands here.
var fates = []string{
	whole, whole, whole, whole, whole, whole, stream, stream, stream, stream, stream, stream,
	leave, leave, early, refused, models, limited, broken, cut, reset,
}

// lifetime is how long a user is there before everything of them is erased, so that
// what is kept doesn't grow by itself.
const lifetime = 20 * time.Second

// filled is how many exchanges fill what the binary holds of the last ones, which is
// bounded by number (proxy/session): until then it grows.
const filled = 1 << 16

// fill makes so many, of users who are erased then.
func (l *load) fill(ctx context.Context) error {
	errs := make([]error, l.cfg.Workers)
	var all sync.WaitGroup
	for w := range l.cfg.Workers {
		all.Go(func() {
			user := fmt.Sprintf("fill%d", w)
			for n := 0; n < filled/l.cfg.Workers && ctx.Err() == nil && errs[w] == nil; n++ {
				tag := fmt.Sprintf("%s-%d", user, n)
				_, errs[w] = l.send(user, tag, "write", whole, []map[string]string{{"role": "user", "content": "Tell me about " + tag}})
				l.count(whole)
			}
			errs[w] = errors.Join(errs[w], l.erase(user))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// erase erases a user, once what they said is on disk.
func (l *load) erase(user string) error {
	pause(context.Background(), time.Second)
	if _, err := kill.Call(context.Background(), http.MethodDelete, l.c.Admin+"/api/v1/tenants/kill/scopes/"+url.PathEscape(string(store.UserScope(user))), nil, nil); err != nil {
		return fmt.Errorf("erase %s: %w", user, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.Erased++
	return nil
}

// client is one after another of many users.
func (l *load) client(ctx context.Context, worker int) error {
	rng := rand.New(rand.NewPCG(l.cfg.Seed, uint64(worker)))
	for n := 0; ctx.Err() == nil; n++ {
		user := fmt.Sprintf("w%dn%d", worker, n)
		until := time.Now().Add(lifetime)
		for i := 0; ctx.Err() == nil && time.Now().Before(until); i++ {
			if err := l.talk(ctx, user, i, rng); err != nil {
				return fmt.Errorf("user %s: %w", user, err)
			}
		}
		if err := l.erase(user); err != nil {
			return err
		}
	}
	return nil
}

// talk is a conversation: of three turns where they are answered, else of one.
func (l *load) talk(ctx context.Context, user string, n int, rng *rand.Rand) error {
	var history []map[string]string
	for turn := range 3 {
		fate := fates[rng.IntN(len(fates))]
		if turn > 0 && fate != whole && fate != stream {
			return nil
		}
		tag := fmt.Sprintf("%s-%d-%d", user, n, turn)
		words := fmt.Sprintf("My number%s is %d.", strings.Repeat("x", n%7), n*10+turn)
		history = append(history, map[string]string{"role": "user", "content": words + " (" + tag + ")"})
		l.resting.RLock()
		answer, err := l.send(user, tag, "on", fate, history)
		l.resting.RUnlock()
		if err != nil {
			return fmt.Errorf("%s: %w", fate, err)
		}
		l.count(fate)
		if !pause(ctx, 20*time.Millisecond+rand.N(60*time.Millisecond)) || answer == "" {
			return nil
		}
		history = append(history, map[string]string{"role": "assistant", "content": answer})
	}
	return nil
}

func (l *load) count(fate string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.Sent[fate]++
	switch fate {
	case refused:
		l.rep.Refused++
	case whole, stream, leave, cut: // those that had no answer leave nothing
		l.rep.Exchanges++
	}
}

// sent is how many requests there were.
func (l *load) sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, of := range l.rep.Sent {
		n += of
	}
	return n
}

// statuses are what the answers to a request must say.
var statuses = map[string]int{
	whole: 200, stream: 200, leave: 200, cut: 200, models: 200, refused: 413, limited: 429, broken: 500, reset: 502,
}

// send makes one request and does with it what is its fate. The answer's text is
// empty where the conversation ends with it.
func (l *load) send(user, tag, memory, fate string, history []map[string]string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute) // one that was begun is ended
	defer stop()
	in := map[string]any{"model": fakellm.Model, "messages": history}
	switch fate {
	case stream, leave, cut:
		in["stream"] = true
	case refused:
		in["padding"] = strings.Repeat("x", 300<<10)
	}
	body, _ := json.Marshal(in) // strings and a boolean
	method, path := http.MethodPost, "/v1/chat/completions"
	if fate == models {
		method, path, body = http.MethodGet, "/v1/models", nil
	}
	req, err := http.NewRequestWithContext(ctx, method, l.c.Proxy+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{"Hindsight-User": user, "Hindsight-Memory": memory, "Content-Type": "application/json", headerTag: tag, headerFate: fate} {
		req.Header.Set(name, value)
	}
	if fate == early {
		there := l.up.awaits(tag)
		go func() {
			select {
			case <-there:
			case <-ctx.Done():
			}
			stop()
		}()
	}
	resp, err := l.http.Do(req)
	if fate == early {
		if err == nil {
			_ = resp.Body.Close()
			return "", errors.New("was answered")
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != statuses[fate] {
		return "", fmt.Errorf("status %d instead of %d", resp.StatusCode, statuses[fate])
	}
	if fate == leave {
		_, err := io.ReadFull(resp.Body, make([]byte, 10))
		return "", err
	}
	raw, err := io.ReadAll(resp.Body)
	switch {
	case fate == cut && err == nil:
		return "", errors.New("ended as if it were whole")
	case fate == cut:
		return "", nil
	case err != nil:
		return "", err
	case fate == whole || fate == stream:
		return kill.AnswerOf(raw, fate == stream), nil
	}
	return "", nil
}

// addUp waits until the binary is at rest and holds its counters against what was
// done.
func (l *load) addUp(ctx context.Context) error {
	rep := l.rep
	var m map[string]float64
	for n := 0; n < 30; n++ { // what comes after the last answer takes a moment
		var err error
		if m, err = metrics(ctx, l.c); err != nil {
			return err
		}
		rep.Requests, rep.Journal, rep.Dropped = sum(m, "hindsight_requests_total{"), m["hindsight_journal_exchanges_total"], sum(m, `hindsight_journal_dropped_total{kind="exchange"`)
		if m["hindsight_inflight"] == 0 && rep.Journal+rep.Dropped >= float64(rep.Exchanges) && n > 2 {
			break
		}
		pause(ctx, time.Second)
	}
	rep.Forwarded = l.up.forwarded()
	fault := func(format string, args ...any) { rep.Faults = append(rep.Faults, fmt.Sprintf(format, args...)) }
	if n := l.sent(); n != rep.Forwarded+rep.Refused || float64(n) != rep.Requests {
		fault("%d requests were sent, %d forwarded and %d refused, and %.0f counted", n, rep.Forwarded, rep.Refused, rep.Requests)
	}
	if rep.Journal+rep.Dropped != float64(rep.Exchanges) {
		fault("%d exchanges, and %.0f journalled and %.0f dropped", rep.Exchanges, rep.Journal, rep.Dropped)
	}
	if n := m["hindsight_client_gone_total"]; n != float64(rep.Sent[leave]+rep.Sent[early]) {
		fault("%d clients left, and %.0f were counted", rep.Sent[leave]+rep.Sent[early], n)
	}
	return nil
}

// metrics are the binary's, by name and labels.
func metrics(ctx context.Context, c *kill.Child) (map[string]float64, error) {
	raw, err := kill.Call(ctx, http.MethodGet, c.Admin+"/metrics", nil, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = v
		}
	}
	return out, nil
}

// sum adds up what begins with a prefix.
func sum(m map[string]float64, prefix string) float64 {
	n := 0.0
	for name, v := range m {
		if strings.HasPrefix(name, prefix) {
			n += v
		}
	}
	return n
}
