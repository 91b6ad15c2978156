package session

// lru is a map that forgets what was not used for longest. Its entries lie in
// one slice, so that the garbage collector finds little to look at. It is not
// safe for concurrent use.
type lru[K comparable, V any] struct {
	max   int
	busy  func(V) bool // never forgotten while true; nil: nothing is
	items map[K]int32  // where in slots
	slots []slot[K, V] // the first is no entry: it joins both ends of the list
	free  []int32      // slots of forgotten entries
}

// slot is an entry in a ring, in order of use.
type slot[K comparable, V any] struct {
	key          K
	value        V
	newer, older int32
}

func newLRU[K comparable, V any](max int, busy func(V) bool) *lru[K, V] {
	return &lru[K, V]{max: max, busy: busy, items: map[K]int32{}, slots: make([]slot[K, V], 1)}
}

func (l *lru[K, V]) get(key K) (V, bool) {
	i, ok := l.items[key]
	if !ok {
		var zero V
		return zero, false
	}
	l.use(i)
	return l.slots[i].value, true
}

func (l *lru[K, V]) put(key K, value V) {
	if i, ok := l.items[key]; ok {
		l.slots[i].value = value
		l.use(i)
		return
	}
	const most = 8 // busy ones at the end must not make a put slow
	for i, n := l.slots[0].newer, 0; i != 0 && len(l.items) >= l.max && n < most; n++ {
		next := l.slots[i].newer
		if l.busy == nil || !l.busy(l.slots[i].value) {
			l.forget(i)
		}
		i = next
	}
	i := int32(len(l.slots))
	if n := len(l.free); n > 0 {
		i, l.free = l.free[n-1], l.free[:n-1]
	} else {
		l.slots = append(l.slots, slot[K, V]{})
	}
	l.slots[i].key, l.slots[i].value = key, value
	l.items[key] = i
	l.push(i)
}

// use makes an entry the newest.
func (l *lru[K, V]) use(i int32) {
	if l.slots[0].older == i {
		return
	}
	l.take(i)
	l.push(i)
}

func (l *lru[K, V]) take(i int32) {
	s := &l.slots[i]
	l.slots[s.newer].older, l.slots[s.older].newer = s.older, s.newer
}

func (l *lru[K, V]) push(i int32) {
	newest := l.slots[0].older
	l.slots[i].newer, l.slots[i].older = 0, newest
	l.slots[newest].newer, l.slots[0].older = i, i
}

func (l *lru[K, V]) forget(i int32) {
	l.take(i)
	delete(l.items, l.slots[i].key)
	l.slots[i] = slot[K, V]{}
	l.free = append(l.free, i)
}

// each calls f for all values, those used last first, until it returns false.
func (l *lru[K, V]) each(f func(V) bool) {
	for i := l.slots[0].older; i != 0; i = l.slots[i].older {
		if !f(l.slots[i].value) {
			return
		}
	}
}
