package embedding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// Starting is the state of a worker that hasn't found out yet.
const Starting = "the embedder is starting"

// Store keeps the vectors. Unembedded waits for memories that lack one.
type Store interface {
	Ready(ctx context.Context) error
	UseVectors(ctx context.Context, m store.EmbeddingModel, renew bool) error
	Unembedded(ctx context.Context, n int) ([]store.Memory, error)
	PutVectors(ctx context.Context, mems []store.Memory, values [][]float32) error
	CountVectors(ctx context.Context) (have, want int, err error)
}

// Config of a Worker. Zero fields get the defaults that stand beside them.
type Config struct {
	// Ready, where set, is called when the model's vectors have come into use and
	// before memories are embedded. An error is tried again.
	Ready func(ctx context.Context) error
	// Retry is the longest wait after something went wrong: 30 s.
	Retry time.Duration
	Log   *slog.Logger          // nil: discard
	Reg   prometheus.Registerer // nil: no metrics
}

// Worker keeps every memory embedded, in the background and one batch at a time,
// and answers questions. Until [Worker.Run] has found that the data's vectors are
// of its model, questions have no vector, and if they are of another one, they
// get none: [Worker.State] says why, and [Worker.Reembed] mends it.
type Worker struct {
	cfg     Config
	model   Model
	store   Store
	log     *slog.Logger
	metrics *workerMetrics
	asked   *questions
	said    *questions    // the same of texts to be found
	room    chan struct{} // how many questions are embedded at a time

	renew chan struct{} // vectors of another model are to be made anew

	mu     sync.Mutex
	state  string // why there are no vectors; empty: there are
	wrong  bool   // that won't mend itself
	ready  bool   // Config.Ready has succeeded
	wanted bool   // a renewal was asked for and hasn't begun
}

// New returns a worker; it does nothing before Run.
func New(cfg Config, m Model, st Store) *Worker {
	if cfg.Retry == 0 {
		cfg.Retry = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Worker{
		cfg: cfg, model: m, store: st, log: cfg.Log, metrics: newWorkerMetrics(cfg.Reg),
		asked: newQuestions(keptQuestions), said: newQuestions(keptTexts), room: make(chan struct{}, runtime.GOMAXPROCS(0)),
		renew: make(chan struct{}, 1), state: Starting,
	}
}

// batch is how many memories are embedded together and written in one go.
const batch = 32

// Run embeds until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	wait := time.Second
	for ctx.Err() == nil {
		err := w.begin(ctx)
		if err == nil {
			wait = time.Second
			err = w.fill(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		var other *store.OtherModel
		if errors.As(err, &other) {
			w.turn(other.Error(), true)
			select {
			case <-w.renew:
			case <-ctx.Done():
			}
			continue
		}
		w.turn(fmt.Sprintf("the embedder %s can't be used (%v)", w.model.Name(), err), false)
		select {
		case <-time.After(wait):
			wait = min(2*wait, w.cfg.Retry)
		case <-ctx.Done():
		}
	}
}

// begin takes the model into use.
func (w *Worker) begin(ctx context.Context) error {
	if err := w.store.Ready(ctx); err != nil {
		return err
	}
	is, err := identify(ctx, w.model)
	if err != nil {
		return err
	}
	w.mu.Lock()
	renew := w.wanted
	w.wanted = false
	w.mu.Unlock()
	if err := w.store.UseVectors(ctx, is, renew); err != nil {
		return err
	}
	// The first question may be waiting: it needs the model and not what Ready does.
	w.turn("", false)
	if w.cfg.Ready != nil {
		if err := w.cfg.Ready(ctx); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.ready = true
	w.mu.Unlock()
	return nil
}

// turn notes whether there are vectors; the log hears of changes only.
func (w *Worker) turn(state string, wrong bool) {
	w.mu.Lock()
	was := w.state
	w.state, w.wrong = state, wrong
	w.mu.Unlock()
	w.metrics.on(state == "")
	switch {
	case was == state:
	case state == "":
		w.log.Info("recall by vectors is on", "embedder", w.model.Name())
	default:
		w.log.Warn("recall goes by words alone", "reason", state)
	}
}

// fill embeds what has no vector yet, until ctx ends or it can't.
func (w *Worker) fill(ctx context.Context) error {
	for {
		mems, err := w.store.Unembedded(ctx, batch)
		if err != nil {
			return err
		}
		for wait := time.Second; ; wait = min(2*wait, w.cfg.Retry) {
			if err = w.embed(ctx, mems); err == nil || ctx.Err() != nil {
				break
			}
			w.log.Warn("memories wait for their vectors", "memories", len(mems), "err", err)
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// embed makes and keeps the vectors of some memories. Ones whose text the model
// refuses are left without.
func (w *Worker) embed(ctx context.Context, mems []store.Memory) error {
	texts := make([]string, len(mems))
	for i := range mems {
		texts[i] = Text(&mems[i])
	}
	vectors, err := w.model.Embed(ctx, texts)
	var refused *Refused
	switch {
	case errors.As(err, &refused) && len(mems) > 1:
		for i := range mems {
			if err := w.embed(ctx, mems[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	case errors.As(err, &refused):
		w.log.Warn("a memory stays without a vector", "memory", mems[0].ID, "err", err)
		w.metrics.refused()
		return nil
	case err != nil:
		return err
	}
	if err := w.store.PutVectors(ctx, mems, vectors); err != nil {
		return err
	}
	w.metrics.embedded(len(mems))
	return nil
}

// aheadWithin is how long what was just learned waits for its vectors.
const aheadWithin = 3 * time.Second

// Ahead gives the vectors of memories that are about to be written, by id, so that
// they can be found by meaning as soon as they are there. It takes a few milliseconds
// a memory with the built-in model and never longer than 3 s. Whatever has none then
// gets it in the background.
func (w *Worker) Ahead(ctx context.Context, mems []store.Memory) map[string][]float32 {
	if reason, _ := w.State(); reason != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, aheadWithin)
	defer cancel()
	out := make(map[string][]float32, len(mems))
	for ; len(mems) > 0; mems = mems[min(batch, len(mems)):] {
		some := mems[:min(batch, len(mems))]
		texts := make([]string, len(some))
		for i := range some {
			texts[i] = Text(&some[i])
		}
		vectors, err := w.Embed(ctx, texts)
		if err != nil {
			return out // the background says what is wrong
		}
		for i, v := range vectors {
			out[some[i].ID] = v
		}
	}
	w.metrics.embedded(len(out))
	return out
}

// State says why recall goes by words alone, empty where it doesn't. lasting says
// that it won't mend itself.
func (w *Worker) State() (reason string, lasting bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, w.wrong
}

// Progress counts.
func (w *Worker) Progress(ctx context.Context) (store.EmbeddingProgress, error) {
	p := store.EmbeddingProgress{Embedder: w.model.Name()}
	w.mu.Lock()
	if p.Reason = w.state; p.Reason == "" && !w.ready {
		p.Reason = Starting
	}
	w.mu.Unlock()
	var err error
	p.Embedded, p.Memories, err = w.store.CountVectors(ctx)
	return p, err
}

// Reembed has vectors of another model replaced by this one's, in the background.
// It changes nothing where they are this one's.
func (w *Worker) Reembed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == "" {
		return
	}
	w.wanted = true
	if w.wrong {
		w.state, w.wrong = Starting, false
	}
	select {
	case w.renew <- struct{}{}:
	default:
	}
}

// Question gives the vector of a question. It returns when ctx ends at the latest;
// what it made until then is there for the next time. The error says why there is
// none.
func (w *Worker) Question(ctx context.Context, text string) ([]float32, error) {
	if reason, _ := w.State(); reason != "" {
		return nil, errors.New(reason)
	}
	if v, ok := w.asked.get(text); ok {
		return v, nil
	}
	select {
	case w.room <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("embed a question: %w", ctx.Err())
	}
	type answer struct {
		v   []float32
		err error
	}
	got := make(chan answer, 1)
	go func() { // ends with the model's call, which a cancelled ctx ends or shortens
		defer func() { <-w.room }()
		v, err := w.model.EmbedQuery(ctx, text)
		if err == nil {
			w.asked.put(text, v)
		}
		got <- answer{v, err}
	}()
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("embed a question: %w", ctx.Err())
	}
}

// Embed embeds texts to be found. The last ones are remembered: what is compared
// with the memories is often written next.
func (w *Worker) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var missing []string
	for i, text := range texts {
		if v, ok := w.said.get(text); ok {
			out[i] = v
		} else {
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	vectors, err := w.model.Embed(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i] == nil {
			w.said.put(texts[i], vectors[0])
			out[i], vectors = vectors[0], vectors[1:]
		}
	}
	return out, nil
}

func contains(text, part string) bool {
	return strings.Contains(store.Fold(text), store.Fold(part))
}
