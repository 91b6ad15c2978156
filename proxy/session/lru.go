package session

import "container/list"

// lru is a map that forgets what was not used for longest. It is not safe for
// concurrent use.
type lru[K comparable, V any] struct {
	max   int
	busy  func(V) bool // never forgotten while true; nil: nothing is
	order *list.List   // front: used last
	items map[K]*list.Element
}

type lruItem[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](max int, busy func(V) bool) *lru[K, V] {
	return &lru[K, V]{max: max, busy: busy, order: list.New(), items: map[K]*list.Element{}}
}

func (l *lru[K, V]) get(key K) (V, bool) {
	e, ok := l.items[key]
	if !ok {
		var zero V
		return zero, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*lruItem[K, V]).value, true
}

func (l *lru[K, V]) put(key K, value V) {
	if e, ok := l.items[key]; ok {
		e.Value.(*lruItem[K, V]).value = value
		l.order.MoveToFront(e)
		return
	}
	l.items[key] = l.order.PushFront(&lruItem[K, V]{key, value})
	const most = 8 // busy ones at the end must not make a put slow
	for e, n := l.order.Back(), 0; e != nil && len(l.items) > l.max && n < most; n++ {
		item, before := e.Value.(*lruItem[K, V]), e.Prev()
		if l.busy == nil || !l.busy(item.value) {
			l.order.Remove(e)
			delete(l.items, item.key)
		}
		e = before
	}
}

// each calls f for all values, those used last first, until it returns false.
func (l *lru[K, V]) each(f func(V) bool) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if !f(e.Value.(*lruItem[K, V]).value) {
			return
		}
	}
}
