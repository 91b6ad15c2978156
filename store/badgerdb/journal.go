package badgerdb

import (
	"context"
	"sync"
	"time"

	"hindsight/store"
)

// journal is the queue between the request path and the writer. Its lock is
// held for appends and swaps only.
type journal struct {
	max int64

	mu      sync.Mutex
	open    bool
	items   []item
	spare   []item // an emptied queue, for the next items
	bytes   int64
	handed  uint64        // taken, ever
	settled uint64        // on disk or dropped, of those
	urgent  bool          // somebody waits in Flush
	moved   chan struct{} // closed and replaced when settled moves or the store closes

	wake chan struct{} // holds one: something to do
}

// item is one thing handed over: an exchange begun or ended, ledger entries or
// a why record.
type item struct {
	kind  string
	x     *store.Exchange
	led   []store.LedgerEntry
	why   *store.Why
	size  int64
	taken time.Time
}

// The kinds of an item; they are also a metric's label.
const (
	itemBegin  = "begin"
	itemFinish = "exchange"
	itemLedger = "ledger"
	itemWhy    = "why"
)

// Why an item is dropped; also a metric's label.
const (
	dropFull  = "queue"   // the writer is behind
	dropOff   = "off"     // the store is closed
	dropSpace = "disk"    // below the watermark
	dropOther = "invalid" // can't be written: of another owner, not encodable
)

func newJournal(max int64) *journal {
	return &journal{max: max, moved: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// urgentBytes is how much may wait before the writer stops lingering.
const urgentBytes = 4 << 20

// add takes an item or says why not.
func (j *journal) add(it item) string {
	it.taken = time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case !j.open:
		return dropOff
	case j.bytes+it.size > j.max:
		return dropFull
	}
	j.items = append(j.items, it)
	j.bytes += it.size
	j.handed++
	if len(j.items) == 1 || j.bytes > urgentBytes {
		j.signal()
	}
	return ""
}

func (j *journal) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// take empties the queue. Its bytes stay counted until done.
func (j *journal) take() []item {
	j.mu.Lock()
	defer j.mu.Unlock()
	items := j.items
	j.items, j.spare, j.urgent = j.spare, nil, false
	return items
}

// spareItems is the longest queue that is kept for the next items.
const spareItems = 4096

// reuse gives a queue back that take gave, when nothing is read from it any more.
func (j *journal) reuse(items []item) {
	if cap(items) > spareItems {
		return
	}
	clear(items) // what they hold goes
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spare = items[:0]
}

// hurry says whether the writer should not linger.
func (j *journal) hurry() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.urgent || j.bytes > urgentBytes
}

// done settles items that are on disk or dropped.
func (j *journal) done(items []item) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range items {
		j.bytes -= items[i].size
	}
	j.settled += uint64(len(items))
	j.broadcast()
}

// back puts items at the front again after a failed commit.
func (j *journal) back(items []item) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.items = append(items[:len(items):len(items)], j.items...)
}

// setOpen opens or closes the queue for the request path. What waits stays.
func (j *journal) setOpen(open bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open = open
	j.broadcast()
	if open && len(j.items) > 0 {
		j.signal()
	}
}

func (j *journal) broadcast() {
	close(j.moved)
	j.moved = make(chan struct{})
}

func (j *journal) waiting() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}

// oldest is when the first item in the queue was taken, zero if it is empty.
func (j *journal) oldest() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.items) == 0 {
		return time.Time{}
	}
	return j.items[0].taken
}

func (s *Store) hand(it item) {
	if why := s.journal.add(it); why != "" {
		s.metrics.drop(it.kind, why)
	}
}

// Begin hands over an exchange whose answer has begun, so that its user input
// survives our death. It is replaced by Finish. The store owns x from now on.
func (s *Store) Begin(x *store.Exchange) { s.hand(item{kind: itemBegin, x: x, size: sizeOf(x)}) }

// Finish hands over an exchange that has ended. The store owns x from now on.
func (s *Store) Finish(x *store.Exchange) { s.hand(item{kind: itemFinish, x: x, size: sizeOf(x)}) }

// SaveLedger hands over blocks that were put into messages. The store owns
// entries from now on.
func (s *Store) SaveLedger(entries []store.LedgerEntry) {
	if len(entries) == 0 {
		return
	}
	n := int64(0)
	for i := range entries {
		n += int64(300 + len(entries[i].Text) + 64*len(entries[i].Refs))
	}
	s.offer(entries)
	s.hand(item{kind: itemLedger, led: entries, size: n})
}

// SaveWhy hands over what recall considered. The store owns w from now on.
func (s *Store) SaveWhy(w store.Why) {
	n := int64(300 + len(w.Query))
	for i := range w.Considered {
		n += int64(200 + len(w.Considered[i].Text) + 32*len(w.Considered[i].Parts))
	}
	s.hand(item{kind: itemWhy, why: &w, size: n})
}

// sizeOf is about what an exchange holds in memory, in bytes.
func sizeOf(x *store.Exchange) int64 {
	n := 700 + 20*len(x.Places) + 100*len(x.Anchors) + 64*len(x.Injected) + 16*len(x.Echoed)
	for i := range x.Events {
		e := &x.Events[i]
		n += 200 + len(e.Text) + len(e.ThirdParty) + len(e.Name) + len(e.CallID)
	}
	return int64(n)
}

// Flush returns when all that was handed over before the call is on disk or
// counted as dropped. The error is a *store.Off or the context's.
func (s *Store) Flush(ctx context.Context) error {
	j := s.journal
	j.mu.Lock()
	until := j.handed
	for j.settled < until {
		if !j.open {
			j.mu.Unlock()
			return s.with(func(*handle) error { return &store.Off{Reason: "closing"} })
		}
		j.urgent = true
		j.signal()
		moved := j.moved
		j.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		j.mu.Lock()
	}
	j.mu.Unlock()
	// With nothing to wait for, a closed store is still one that is off.
	return s.with(func(*handle) error { return nil })
}
