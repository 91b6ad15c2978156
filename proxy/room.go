package proxy

import "sync/atomic"

// room bounds what all exchanges hold together, in bytes: request bodies that
// have been read, and copies of answers. Who gets none goes on without memory
// and is never refused.
type room struct {
	limit int64
	held  atomic.Int64
}

// take asks for n bytes more.
func (r *room) take(n int64) bool {
	if r.held.Add(n) > r.limit {
		r.held.Add(-n)
		return false
	}
	return true
}

// give hands n bytes back.
func (r *room) give(n int64) { r.held.Add(-n) }

// hold takes room for the exchange; it is given back when the exchange's last
// user has dropped it.
func (x *exchange) hold(n int64) bool {
	if !x.s.room.take(n) {
		return false
	}
	x.held.Add(n)
	return true
}

// use counts one more user of the exchange's bytes: the serving of the request
// is one from the beginning, the record of its turn another.
func (x *exchange) use() { x.users.Add(1) }

func (x *exchange) drop() {
	if x.users.Add(-1) == 0 {
		x.s.room.give(x.held.Swap(0))
	}
}
