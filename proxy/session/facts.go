package session

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// The durable facts. Names carry hashes only.
const (
	factFirst   = "first_credential" // whose tenant `default` is
	factSeen    = "tenant_credential:"
	factImplied = "implied_user_ended:"
)

// facts are the durable facts as this process knows them; mu guards them and
// is never held over a call of the store.
type facts struct {
	mu      sync.Mutex
	known   map[string]string // "" means: looked up, not set
	unsaved map[string]string
	news    chan struct{} // holds one when there is something to save
}

// fact returns a durable fact, "" where it isn't set.
func (k *Tracker) fact(ctx context.Context, name string) (string, error) {
	k.facts.mu.Lock()
	v, ok := k.facts.known[name]
	k.facts.mu.Unlock()
	if ok {
		return v, nil
	}
	v, _, err := k.st.Fact(ctx, name)
	if err != nil {
		return "", fmt.Errorf("look up %s: %w", name, err)
	}
	k.facts.mu.Lock()
	defer k.facts.mu.Unlock()
	if now, ok := k.facts.known[name]; ok {
		return now, nil
	}
	k.facts.known[name] = v
	return v, nil
}

// settle fixes a fact in memory unless it is fixed already, and says what it
// is now and whether this call made it so. saveFacts writes it down.
func (k *Tracker) settle(name, value string) (now string, made bool) {
	k.facts.mu.Lock()
	defer k.facts.mu.Unlock()
	if v := k.facts.known[name]; v != "" {
		return v, false
	}
	k.facts.known[name] = value
	k.facts.unsaved[name] = value
	select {
	case k.facts.news <- struct{}{}:
	default: // Run knows already
	}
	return value, true
}

// saveTimeout bounds the writing of facts, which happens a few times in the
// life of a store.
const saveTimeout = 2 * time.Second

// saveFacts writes down what settle has fixed; what can't be written is tried
// again later. No request waits for it, so the time is our own, and what is
// unsaved when the process stops is still to be written.
func (k *Tracker) saveFacts() {
	k.facts.mu.Lock()
	unsaved := k.facts.unsaved
	k.facts.unsaved = map[string]string{}
	k.facts.mu.Unlock()
	if len(unsaved) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	for name, value := range unsaved {
		if err := k.st.SetFact(ctx, name, value); err != nil {
			k.log.Warn("a fact about a tenant isn't on disk yet", "err", err)
			k.facts.mu.Lock()
			k.facts.unsaved[name] = value
			k.facts.mu.Unlock()
		}
	}
}
