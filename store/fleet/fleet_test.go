package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hindsight/store"
)

const (
	staging = "The staging port is 5433."
	billing = "The billing port is 8080."
)

func TestWhatOneWritesTheOtherFinds(t *testing.T) {
	c := newCloud()
	a, b := join(t, c, Config{}), join(t, c, Config{})
	if texts, _, err := b.search(time.Second); err != nil || len(texts) > 0 {
		t.Fatalf("before anything is known: %q %v", texts, err)
	}
	a.write(staging)
	until(t, "the other finds it", func() bool {
		texts, degraded, err := b.search(time.Second)
		return err == nil && degraded == "" && slices.Equal(texts, []string{staging})
	})
	until(t, "the other holds it", func() bool { return b.f.fresh(ann.Tenant, []store.Scope{ann.Scope()}) && len(b.texts()) == 1 })
	n := c.count("search")
	if texts, _, err := b.search(time.Second); err != nil || len(texts) != 1 {
		t.Errorf("from its own copy: %q %v", texts, err)
	}
	if c.count("search") != n {
		t.Error("a scope that is held and fresh is searched in the shared store")
	}
	b.write(billing)
	until(t, "the first holds what the second wrote", func() bool {
		_, _, err := a.search(time.Second)
		return err == nil && slices.Equal(a.texts(), []string{billing, staging})
	})
}

func TestDeliveryWaitsOutWhatGoesWrong(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.away = true
	a := join(t, c, Config{})
	kept := a.write(staging)
	if on, reason := a.f.State(); on || reason == "" {
		t.Errorf("state %v %q while the shared store is away", on, reason)
	}
	var refused int
	c.set(func() {
		c.away = false
		c.refuse = func(id string) error {
			if refused++; refused < 3 {
				return errors.New("no room")
			}
			return nil
		}
	})
	until(t, "it arrives", a.delivered)
	c.set(func() {
		if got := c.memories[ann.Tenant][kept.ID].Memory.Text; got != staging {
			t.Errorf("the shared store has %q", got)
		}
	})
}

// One object that is refused for good doesn't keep another scope's from arriving.
func TestARefusedMemoryHoldsBackItsScopeAlone(t *testing.T) {
	c := newCloud()
	bad := store.MemoryID(ann.Tenant, ann.Scope(), "", 0, 0, "", store.Fold(staging))
	c.refuse = func(id string) error {
		if id == bad {
			return errors.New("never")
		}
		return nil
	}
	a := join(t, c, Config{})
	a.write(staging)
	bob := store.Owner{Tenant: ann.Tenant, User: "bob"}
	if _, _, err := a.st.PutMemory(t.Context(), store.Memory{ID: "mbob", Tenant: bob.Tenant, Scope: bob.Scope(), Type: store.UserFact, Layer: store.Semantic, Text: "Bob's port is 1.", State: store.Active}); err != nil {
		t.Fatal(err)
	}
	until(t, "the other scope's arrives", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.memories[ann.Tenant]) == 1 })
	if a.delivered() {
		t.Error("a refused memory is taken for delivered")
	}
}

func TestAHungStoreCostsARequestItsShareOnce(t *testing.T) {
	c := newCloud()
	a := join(t, c, Config{Fresh: 50 * time.Millisecond})
	a.write(staging)
	until(t, "it is held and fresh", func() bool {
		_, degraded, err := a.search(time.Second)
		return err == nil && degraded == "" && a.delivered() && a.f.fresh(ann.Tenant, []store.Scope{ann.Scope()})
	})
	hung := make(chan struct{})
	c.set(func() { c.hung = hung })
	until(t, "the copy is old", func() bool { return !a.f.fresh(ann.Tenant, []store.Scope{ann.Scope()}) })
	for i := range 5 {
		begin := time.Now()
		texts, degraded, err := a.search(200 * time.Millisecond)
		if err != nil || degraded != Cache || !slices.Equal(texts, []string{staging}) {
			t.Errorf("search %d while it hangs: %q, degraded %q, %v", i, texts, degraded, err)
		}
		if took := time.Since(begin); i > 0 && took > 50*time.Millisecond {
			t.Errorf("search %d waits for a store that is known to hang: %s", i, took)
		}
	}
	close(hung)
	c.set(func() { c.hung = nil })
	until(t, "it is the truth again", func() bool { _, degraded, err := a.search(time.Second); return err == nil && degraded == "" })
}

func TestWithoutACopyAnAbsentStoreIsAnError(t *testing.T) {
	c := newCloud()
	c.away = true
	a := join(t, c, Config{})
	if _, _, err := a.search(time.Second); !errors.Is(err, errNothingHere) {
		t.Errorf("error %v", err)
	}
}

// What the shared store has lost sight of after it was away is put there anew.
func TestWhatWasDeliveredLastIsMendedAfterAReconnect(t *testing.T) {
	t.Parallel()
	c := newCloud()
	a := join(t, c, Config{})
	kept := a.write(staging)
	lost := a.write(billing)
	until(t, "both arrive", a.delivered)
	c.set(func() {
		for id, m := range c.memories[ann.Tenant] { // vectors, so that it can be searched for
			m.Vector = []float32{1}
			c.memories[ann.Tenant][id] = m
		}
		c.away = true
	})
	until(t, "it is seen to be away", func() bool { return !a.f.health.up() })
	c.set(func() {
		c.blind[kept.ID] = true
		delete(c.memories[ann.Tenant], lost.ID)
		c.away = false
	})
	until(t, "both are there and found", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !c.blind[kept.ID] && len(c.memories[ann.Tenant]) == 2
	})
}

// What an earlier life of the process delivered is looked for after every
// interruption, not only at the start.
func TestWhatAnEarlierLifeDeliveredIsMended(t *testing.T) {
	c := newCloud()
	cfg := Config{Poll: 10 * time.Millisecond}
	a := join(t, c, cfg)
	id := a.write(staging).ID
	until(t, "it arrives", a.delivered)
	c.set(func() {
		m := c.memories[ann.Tenant][id]
		m.Vector = []float32{1}
		c.memories[ann.Tenant][id] = m
	})
	a.leave()
	n := c.count("mend")
	a.enter(c, cfg)
	until(t, "the new life has looked", func() bool { return c.count("mend") > n })
	c.set(func() { c.away = true })
	until(t, "it is seen to be away", func() bool { return !a.f.health.up() })
	c.set(func() { c.blind[id], c.away = true, false })
	until(t, "it is found", func() (found bool) { c.set(func() { found = !c.blind[id] }); return found })
}

// What the shared store has lost of a memory in a crash, such as its last change
// or its vector, is delivered again.
func TestWhatIsLostOfAMemoryIsDeliveredAgain(t *testing.T) {
	c := newCloud()
	a := join(t, c, Config{})
	if err := a.st.UseVectors(t.Context(), store.EmbeddingModel{Name: "m", Dim: 2, Fingerprint: []float32{1, 0}}, false); err != nil {
		t.Fatal(err)
	}
	bare, old := a.write(staging), a.write(billing)
	until(t, "both arrive", a.delivered)
	has := func(id string) (m kept) { c.set(func() { m = c.memories[ann.Tenant][id] }); return m }
	was := map[string]kept{bare.ID: has(bare.ID), old.ID: has(old.ID)}
	changed, err := a.st.EditMemory(t.Context(), old.ID, func(m *store.Memory) error { m.Importance = 0.2; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := a.st.PutVectors(t.Context(), []store.Memory{bare, changed}, [][]float32{{1, 0}, {0, 1}}); err != nil {
		t.Fatal(err)
	}
	whole := func() bool {
		return a.delivered() && len(has(bare.ID).Vector) == 2 && len(has(old.ID).Vector) == 2 && has(old.ID).Memory.Importance == 0.2
	}
	until(t, "their vectors and the change arrive", whole)
	c.set(func() { c.away = true })
	until(t, "it is seen to be away", func() bool { return !a.f.health.up() })
	c.set(func() {
		for id, m := range was {
			c.memories[ann.Tenant][id] = m
		}
		c.away = false
	})
	until(t, "they are as they were", whole)
}

// An erased memory doesn't come back by a form that another still has to deliver,
// and that other learns of it even where it hasn't looked.
func TestErasedIsErasedWhateverComesAfter(t *testing.T) {
	t.Parallel()
	c := newCloud()
	a, b := join(t, c, Config{}), join(t, c, Config{Poll: time.Hour})
	kept := a.write(staging)
	until(t, "it arrives", a.delivered)
	until(t, "the other holds it", func() bool { _, _, err := b.search(time.Second); return err == nil && len(b.texts()) == 1 })
	c.set(func() {
		c.refuse = func(string) error { // until the erasure is known there
			if _, ok := c.records[ann.Tenant]["gone "+kept.ID]; !ok {
				return errors.New("not yet")
			}
			return nil
		}
	})
	if _, err := b.st.EditMemory(t.Context(), kept.ID, func(m *store.Memory) error { m.Text += " Really."; return nil }); err != nil {
		t.Fatal(err)
	}
	rec, err := a.st.EraseMemory(t.Context(), kept.ID)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Shared != store.ErasureWaiting || rec.Outbox == 0 || len(rec.OutOfReach) != 4 {
		t.Errorf("receipt %+v", rec)
	}
	until(t, "both have delivered", func() bool { return a.delivered() && b.delivered() })
	c.set(func() {
		if n := len(c.memories[ann.Tenant]); n != 0 {
			t.Errorf("the shared store has %d memories, want none", n)
		}
	})
	if len(a.texts()) > 0 || len(b.texts()) > 0 {
		t.Errorf("it is still held: %q %q", a.texts(), b.texts())
	}
}

func TestTheCopyIsBounded(t *testing.T) {
	t.Parallel()
	c := newCloud()
	a := join(t, c, Config{})
	var scopes []store.Scope
	for i := range 20 {
		sc := store.UserScope(fmt.Sprintf("user-%d", i))
		scopes = append(scopes, sc)
		if _, _, err := a.st.PutMemory(t.Context(), store.Memory{ID: fmt.Sprintf("m%d", i), Tenant: ann.Tenant, Scope: sc, Type: store.UserFact, Layer: store.Semantic, Text: staging, State: store.Active}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all arrive", a.delivered)
	var ahead atomic.Int64
	b := join(t, c, Config{Copy: 5000, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	for _, sc := range scopes {
		if !b.f.Refresh(t.Context(), ann.Tenant, sc) {
			t.Fatalf("%s can't be brought here", sc)
		}
	}
	held := func() (n int) {
		for _, sc := range scopes {
			ms, _, err := b.st.ScopeMemories(t.Context(), ann.Tenant, sc)
			if err != nil {
				t.Fatal(err)
			}
			n += len(ms)
		}
		return n
	}
	if n := held(); n != 20 {
		t.Errorf("%d scopes are held while they are in use, want 20", n)
	}
	ahead.Store(int64(2 * inUse))
	if !b.f.Refresh(t.Context(), ann.Tenant, scopes[19]) {
		t.Fatal("the last scope can't be brought here")
	}
	until(t, "the oldest have left", func() bool { return held() < 10 })
	if ms, _, _ := b.st.ScopeMemories(t.Context(), ann.Tenant, scopes[19]); len(ms) != 1 {
		t.Error("what was used last has left")
	}
	c.set(func() {
		if len(c.memories[ann.Tenant]) != 20 {
			t.Errorf("the shared store has %d memories, want 20: leaving the copy isn't forgetting", len(c.memories[ann.Tenant]))
		}
	})
	if !b.f.Refresh(t.Context(), ann.Tenant) || held() != 20 {
		t.Error("a tenant's scopes aren't brought back")
	}
}

func TestOneReflectsForAUser(t *testing.T) {
	t.Parallel()
	c := newCloud()
	a, b := join(t, c, Config{Name: "a"}), join(t, c, Config{Name: "b"})
	s := []store.Session{{ID: "s1", Owner: ann}}
	if !a.f.Take(t.Context(), s)(ann) {
		t.Fatal("nobody may reflect")
	}
	if b.f.Take(t.Context(), s)(ann) {
		t.Error("two reflect for one user")
	}
	bob := store.Owner{Tenant: ann.Tenant, User: "bob"}
	if !b.f.Take(t.Context(), []store.Session{{ID: "s2", Owner: bob}})(bob) {
		t.Error("another user's sessions wait too")
	}
	a.stop() // it hands over
	until(t, "the other may", func() bool { return b.f.Take(t.Context(), s)(ann) })
}

// A session that one sidecar leaves when it stops is known to the other.
func TestOpenSessionsAreHandedOver(t *testing.T) {
	c := newCloud()
	a, b := join(t, c, Config{}), join(t, c, Config{})
	if _, _, err := b.search(time.Second); err != nil { // it works for the tenant
		t.Fatal(err)
	}
	session := store.DrawSession(time.Now())
	x := store.Exchange{
		ID: store.ExchangeID(session, "x1"), Session: session, Owner: ann, Status: store.Complete, HTTP: 200, Started: time.Now(), Finished: time.Now(), Turn: 1,
		Events: []store.Event{{Kind: store.UserInput, Time: time.Now(), Turn: 1, Text: "The staging port is 5433."}}, Tokens: 9, Dialect: "chat",
		SessionInfo: store.SessionInfo{New: true},
	}
	a.st.Finish(&x)
	a.stop()
	until(t, "the other has it", func() bool {
		open, err := b.st.Unreflected(t.Context())
		return err == nil && len(open) == 1 && open[0].ID == session
	})
}

// A store that is away isn't waited for longer than Patience, then everybody goes
// on alone.
func TestReflectionGoesOnAloneAfterAWhile(t *testing.T) {
	c := newCloud()
	c.away = true
	a := join(t, c, Config{Patience: 100 * time.Millisecond})
	s := []store.Session{{ID: "s1", Owner: ann}}
	until(t, "it is seen to be away", func() bool { return !a.f.health.up() })
	until(t, "it goes on alone", func() bool { return a.f.Take(t.Context(), s)(ann) })
}

// A store that takes nothing, as one whose disk is full, is still read. What waits
// is told, and after Patience reflection goes on without leases.
func TestAStoreThatTakesNothingIsStillRead(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.full = errors.New("read-only")
	patient, a := join(t, c, Config{Patience: time.Hour}), join(t, c, Config{Patience: 100 * time.Millisecond})
	s := []store.Session{{ID: "s1", Owner: ann}}
	for _, m := range []*member{patient, a} {
		m.write(staging)
		until(t, "it says why", func() bool { why, _ := m.f.Refused(); return strings.Contains(why, "read-only") })
	}
	until(t, "one goes on alone", func() bool { return a.f.Take(t.Context(), s)(ann) })
	if patient.f.Take(t.Context(), s)(ann) {
		t.Error("a patient one doesn't wait for a lease")
	}
	for _, m := range []*member{patient, a} {
		if on, reason := m.f.State(); !on {
			t.Errorf("requests don't ask it any more: %s", reason)
		}
	}
	c.set(func() { c.full = nil })
	until(t, "what waited arrives", func() bool { return a.delivered() && patient.delivered() })
	until(t, "nothing is told any more", func() bool { why, _ := a.f.Refused(); return why == "" })
}

// A scope that nobody asks about for long isn't followed any more. One of which nothing
// is here is forgotten; another is brought up to date when it is used again, by what
// has changed alone.
func TestARestingScopeIsntFollowed(t *testing.T) {
	t.Parallel()
	c := newCloud()
	var ahead atomic.Int64
	const idle = 10 * time.Minute
	a, b := join(t, c, Config{}), join(t, c, Config{Idle: idle, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	followed := func(sc store.Scope) bool {
		b.f.copies.mu.Lock()
		defer b.f.copies.mu.Unlock()
		s := b.f.copies.scopes[scopeKey{ann.Tenant, sc}]
		return s != nil && s.whole
	}
	a.write(staging)
	until(t, "it is delivered", a.delivered)
	passer, regular := store.UserScope("passer-by"), store.UserScope("regular")
	for _, sc := range []store.Scope{ann.Scope(), passer, regular} {
		if !b.f.Refresh(t.Context(), ann.Tenant, sc) {
			t.Fatalf("%s can't be brought here", sc)
		}
	}
	ahead.Add(int64(idle / 2))
	b.f.touch(ann.Tenant, []store.Scope{regular})
	ahead.Add(int64(idle/2 + time.Minute))
	until(t, "what rests isn't followed", func() bool { return !followed(ann.Scope()) && !followed(passer) })
	if !followed(regular) {
		t.Error("a scope in use isn't followed")
	}
	until(t, "a passer-by is forgotten", func() bool {
		b.f.copies.mu.Lock()
		defer b.f.copies.mu.Unlock()
		return b.f.copies.scopes[scopeKey{ann.Tenant, passer}] == nil && len(b.f.copies.scopes) == 2
	})
	a.write(billing)
	until(t, "the change is delivered", a.delivered)
	loads := c.count("load")
	until(t, "it is up to date again", func() bool {
		b.f.touch(ann.Tenant, []store.Scope{ann.Scope()})
		return b.f.fresh(ann.Tenant, []store.Scope{ann.Scope()})
	})
	if got := b.texts(); !slices.Equal(got, []string{billing, staging}) {
		t.Errorf("held %q", got)
	}
	if n := c.count("load"); n != loads {
		t.Errorf("the scope was loaded whole, %d times", n-loads)
	}
}
