package kill

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
	"strings"
	"sync"
	"time"

	"hindsight/store"
)

// told is what clients have said and heard, over all rounds.
type told struct {
	mu       sync.Mutex
	count    int // finished, over all rounds
	finished []exchange
	seen     map[string]bool // by id: the binary has shown that it is recorded
	owed     []exchange
}

// exchange is one whose last byte a client has read.
type exchange struct {
	id, session, user string
	fact              string // the sentence that it taught
	answer            string
	memory            string // what memory did for it
	at                time.Time
	before            time.Duration // the kill
}

func (t *told) add(x exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished = append(t.finished, x)
	t.count++
}

func (t *told) see(ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		t.seen[id] = true
	}
}

// owe moves what had finished early enough before a kill to what the binary owes
// us, and what it had shown as recorded; or that alone.
func (t *told) owe(killed time.Time, shown bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.finished {
		if x.before = killed.Sub(x.at); t.seen[x.id] || !shown && x.before >= Settled {
			t.owed = append(t.owed, x)
		}
	}
	t.finished = t.finished[:0]
}

// talk holds conversations of three turns, one after another, until the child
// is gone; every other one is closed and its reflection waited for, so that kills
// meet that too.
func talk(ctx context.Context, c *Child, worker string, all *told) error {
	for n := 0; ctx.Err() == nil; n++ {
		var history []map[string]string
		session := ""
		for turn := range 3 {
			fact := fmt.Sprintf("My code%s is %d.", letters(fmt.Sprintf("%s-%d-%d", worker, n, turn)), 10_000+n*10+turn)
			history = append(history, map[string]string{"role": "user", "content": fact})
			x, err := say(ctx, c, worker, history, turn%2 == 1)
			if err != nil {
				return err
			}
			x.fact, x.user, session = fact, worker, x.session
			all.add(x)
			history = append(history, map[string]string{"role": "assistant", "content": x.answer})
			think(ctx)
			ids, err := recorded(ctx, c, x.session)
			if err != nil {
				return err
			}
			all.see(ids)
		}
		if n%2 == 0 {
			// Whether it still gets through is the kill's business.
			_, _ = Call(ctx, http.MethodPost, sessionURL(c, session)+"/close?wait=10s", nil, nil)
		}
	}
	return nil
}

// recorded are the ids of a session's exchanges that the binary shows as ended.
func recorded(ctx context.Context, c *Child, id string) ([]string, error) {
	raw, err := get(ctx, sessionURL(c, id))
	if errors.Is(err, errNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := readSession(id, raw)
	var ids []string
	for _, x := range s.Exchanges {
		if x.Status == store.Complete {
			ids = append(ids, x.ID)
		}
	}
	return ids, err
}

// session is one as the management API shows it.
type session struct {
	Events    []store.Event
	Exchanges []struct {
		ID     string
		Status store.ExchangeStatus
	}
}

func sessionURL(c *Child, id string) string {
	return c.Admin + "/api/v1/sessions/" + url.PathEscape(id)
}

func readSession(id string, raw []byte) (s session, err error) {
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read session %s: %w", id, err)
	}
	return s, nil
}

// think is what people do between two turns, and lets 200 rounds be compared.
func think(ctx context.Context) {
	wait(ctx, 20*time.Millisecond+rand.N(60*time.Millisecond))
}

// letters spells a name in letters alone, which the scripted model's rules want.
func letters(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			b.WriteByte(byte('a' + r - '0'))
		case r == '-':
			b.WriteByte('x')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func childGone(c *Child) bool {
	select {
	case <-c.exited:
		return true
	case <-time.After(2 * time.Second): // killed, and not yet waited for
		select {
		case <-c.exited:
			return true
		default:
			return false
		}
	}
}

func say(ctx context.Context, c *Child, user string, history []map[string]string, stream bool) (exchange, error) {
	body, err := json.Marshal(map[string]any{"model": "scripted-1", "stream": stream, "messages": history})
	if err != nil {
		return exchange{}, err
	}
	var head http.Header
	raw, err := Call(ctx, http.MethodPost, c.Proxy+"/v1/chat/completions", body, func(req *http.Request) func(*http.Response) {
		req.Header.Set("Hindsight-User", user)
		req.Header.Set("Content-Type", "application/json")
		return func(resp *http.Response) { head = resp.Header }
	})
	if err != nil {
		return exchange{}, err
	}
	x := exchange{id: head.Get("Hindsight-Exchange"), session: head.Get("Hindsight-Session"), memory: head.Get("Hindsight-Status"), at: time.Now()}
	if x.id == "" || x.session == "" {
		return x, fmt.Errorf("an answer without exchange or session: %s", x.memory)
	}
	x.answer = AnswerOf(raw, stream)
	return x, nil
}

// AnswerOf is the text of an answer of chat completions.
func AnswerOf(raw []byte, stream bool) string {
	type choices struct {
		Choices []struct {
			Message struct{ Content string } `json:"message"`
			Delta   struct{ Content string } `json:"delta"`
		} `json:"choices"`
	}
	if !stream {
		var v choices
		if json.Unmarshal(raw, &v) != nil || len(v.Choices) == 0 {
			return ""
		}
		return v.Choices[0].Message.Content
	}
	text := ""
	for line := range strings.Lines(string(raw)) {
		var v choices
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &v) == nil && len(v.Choices) > 0 {
			text += v.Choices[0].Delta.Content
		}
	}
	return text
}

var errNotFound = errors.New("there is none")

// Call makes one request with the admin token and reads the answer to its end.
// prepare may change the request and look at the answer's head.
func Call(ctx context.Context, method, u string, body []byte, prepare func(*http.Request) func(*http.Response)) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, u, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	see := func(*http.Response) {}
	if prepare != nil {
		see = prepare(req) //nolint:bodyclose // it returns a function, not an answer
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", u, err)
	}
	if resp.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%s %s: %w: %.200s", method, u, errNotFound, raw)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s answered %s: %.200s", method, u, resp.Status, raw)
	}
	see(resp)
	return raw, nil
}

func memoryOn(readyz []byte) bool {
	var v struct {
		Memory string `json:"memory"`
	}
	return json.Unmarshal(readyz, &v) == nil && v.Memory == "on"
}
