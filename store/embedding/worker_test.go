package embedding

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hindsight/store"
)

// shelf is a store of memories by id, in memory.
type shelf struct {
	mu      sync.Mutex
	waiting []store.Memory
	kept    []string
	model   store.EmbeddingModel
	fail    error
}

func newShelf(mems ...store.Memory) *shelf { return &shelf{waiting: mems} }

func (s *shelf) Ready(context.Context) error { return nil }

func (s *shelf) UseVectors(_ context.Context, m store.EmbeddingModel, renew bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model.Name != "" && s.model.Name != m.Name && !renew {
		return &store.OtherModel{Stored: s.model, Configured: m}
	}
	s.model = m
	return nil
}

func (s *shelf) Unembedded(ctx context.Context, n int) ([]store.Memory, error) {
	s.mu.Lock()
	out := s.waiting[:min(n, len(s.waiting))]
	s.waiting = s.waiting[len(out):]
	s.mu.Unlock()
	if len(out) > 0 {
		return out, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *shelf) PutVectors(_ context.Context, mems []store.Memory, values [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for i := range mems {
		if len(values[i]) > 0 {
			s.kept = append(s.kept, mems[i].ID)
		}
	}
	return nil
}

func (s *shelf) CountVectors(context.Context) (int, int, error) { return 0, 0, nil }

func (s *shelf) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept)
}

func (s *shelf) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// toy is a model that refuses texts with "bad" in them.
type toy struct {
	mu    sync.Mutex
	name  string
	down  error
	block bool // questions hang
	mute  bool // texts hang
	calls int
}

func (m *toy) hang() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mute = true
}

func (m *toy) Name() string { return m.name }

func (m *toy) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mute {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m.calls++
	if m.down != nil {
		return nil, m.down
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if strings.Contains(t, "bad") {
			return nil, &Refused{Status: 400, Detail: "bad"}
		}
		out[i] = []float32{1, 0}
	}
	return out, nil
}

func (m *toy) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if m.block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	v, err := m.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func (m *toy) set(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = err
}

func text(id, text string) store.Memory { return store.Memory{ID: id, Text: text} }

// working runs a worker inside a bubble of synthetic time.
func working(t *testing.T, m *toy, s *shelf, fn func(t *testing.T, w *Worker)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := New(Config{}, m, s)
		var wg sync.WaitGroup
		wg.Go(func() { w.Run(ctx) })
		synctest.Wait()
		fn(t, w)
		cancel()
		wg.Wait()
	})
}

func TestOneBadTextHoldsNobodyUp(t *testing.T) {
	s := newShelf(text("1", "good"), text("2", "bad"), text("3", "good too"))
	working(t, &toy{name: "m"}, s, func(t *testing.T, w *Worker) {
		if got := s.ids(); !slices.Equal(got, []string{"1", "3"}) {
			t.Errorf("embedded %v", got)
		}
		if reason, _ := w.State(); reason != "" {
			t.Errorf("state %q", reason)
		}
	})
}

func TestNothingIsLostWhileSomethingFails(t *testing.T) {
	m, s := &toy{name: "m", down: errors.New("no route")}, newShelf(text("1", "good"))
	s.set(errors.New("disk full"))
	working(t, m, s, func(t *testing.T, w *Worker) {
		if reason, lasting := w.State(); !strings.Contains(reason, "no route") || lasting {
			t.Errorf("state %q, lasting %v", reason, lasting)
		}
		if _, err := w.Question(t.Context(), "q"); err == nil {
			t.Error("a question got a vector before there are any")
		}
		m.set(nil)
		time.Sleep(time.Minute)
		if len(s.ids()) != 0 {
			t.Error("kept on a full disk")
		}
		s.set(nil)
		time.Sleep(time.Minute)
		if got := s.ids(); !slices.Equal(got, []string{"1"}) {
			t.Errorf("embedded %v", got)
		}
	})
}

func TestOnlyReembedReplacesAnotherModel(t *testing.T) {
	s := newShelf(text("1", "good"))
	s.model = store.EmbeddingModel{Name: "old"}
	working(t, &toy{name: "new"}, s, func(t *testing.T, w *Worker) {
		if reason, lasting := w.State(); !strings.Contains(reason, "old") || !strings.Contains(reason, "new") || !lasting {
			t.Errorf("state %q, lasting %v", reason, lasting)
		}
		time.Sleep(time.Hour)
		if len(s.ids()) != 0 {
			t.Error("embedded without being asked")
		}
		w.Reembed()
		synctest.Wait()
		if got := s.ids(); !slices.Equal(got, []string{"1"}) || s.model.Name != "new" {
			t.Errorf("embedded %v with %s", got, s.model.Name)
		}
	})
}

func TestQuestionsAreRememberedAndCutShort(t *testing.T) {
	m := &toy{name: "m"}
	working(t, m, newShelf(), func(t *testing.T, w *Worker) {
		before := m.calls
		for range 3 {
			if v, err := w.Question(t.Context(), "q"); err != nil || len(v) != 2 {
				t.Errorf("%v, %v", v, err)
			}
		}
		if m.calls != before+1 {
			t.Errorf("%d calls for one question", m.calls-before)
		}
		m.block = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := w.Question(ctx, "slow"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestWhatOfAMemoryIsEmbedded(t *testing.T) {
	for _, c := range [][3]string{
		{"tea", "Ann prefers Tea.", "Ann prefers Tea."},
		{"", "x", "x"},
		{"payments API", "needs a header", "payments API: needs a header"},
	} {
		if got := Text(&store.Memory{Subject: c[0], Text: c[1]}); got != c[2] {
			t.Errorf("%q and %q give %q", c[0], c[1], got)
		}
	}
}

func TestOldQuestionsMakeRoom(t *testing.T) {
	q := newQuestions(2)
	q.put("a", nil)
	q.put("b", nil)
	q.get("a")
	q.put("c", nil)
	_, a := q.get("a")
	_, b := q.get("b")
	if !a || b || q.recent.Len() != 2 {
		t.Errorf("a kept %v, b kept %v, %d in all", a, b, q.recent.Len())
	}
}

// TestAheadIsBounded embeds what is about to be written, and gives up on a model that
// doesn't answer.
func TestAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &toy{name: "a"}
		w := New(Config{}, m, newShelf())
		mems := []store.Memory{{ID: "1", Text: "one"}, {ID: "2", Text: "two"}}
		if got := w.Ahead(t.Context(), mems); got != nil {
			t.Errorf("%v before the model is in use", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		synctest.Wait()
		if got := w.Ahead(ctx, mems); len(got) != 2 || got["1"] == nil {
			t.Errorf("%v", got)
		}
		m.hang()
		if got := w.Ahead(ctx, mems); len(got) != 2 {
			t.Errorf("embedded a moment ago: %v", got)
		}
		mems[0].Text = "three"
		start := time.Now()
		if got := w.Ahead(ctx, mems); len(got) != 0 || time.Since(start) != aheadWithin {
			t.Errorf("%v after %s", got, time.Since(start))
		}
	})
}
