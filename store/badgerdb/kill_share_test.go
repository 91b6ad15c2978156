package badgerdb

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// fleetDir, set in the environment, makes the test binary a sidecar that changes
// and ships what it has, and takes in what others have, until it is killed.
const fleetDir = "HINDSIGHT_TEST_FLEET_DIR"

func liveInFleet(dir string) {
	ctx := context.Background()
	s := victimStore(Config{Dir: dir, Share: true, Linger: 5 * time.Millisecond})
	go func() { // what is printed is delivered: it outlives us in the pipe
		for {
			list, err := s.Outbox(ctx, 7)
			check(err)
			var seqs []uint64
			for _, sh := range list {
				fmt.Println(deliveryOf(sh))
				seqs = append(seqs, sh.Seq)
			}
			check(s.Shipped(ctx, seqs))
			if len(list) == 0 {
				<-s.OutboxWake()
			}
		}
	}()
	for i := 0; ; i++ {
		name := fmt.Sprintf("%d.%d", os.Getpid(), i)
		m, _, err := s.PutMemory(ctx, written("fact "+name))
		check(err)
		_, err = s.EditMemory(ctx, m.ID, func(m *store.Memory) error { m.Importance = 0.9; return nil })
		check(err)
		if i%3 == 0 {
			if i%6 == 0 {
				_, err = s.EraseMemory(ctx, m.ID)
			} else {
				_, err = s.ForgetMemory(ctx, m.ID)
			}
			check(err)
		}
		s.Finish(said(ann, "own"+name, "x"+name, "hello", time.Now()))
		check(s.Flush(ctx))
		// And from another sidecar: two exchanges of one session, of which the first
		// is reflected a moment later, and what that taught.
		x, y := said(ann, "their"+name, "a"+name, "hi", time.Now()), said(ann, "their"+name, "b"+name, "ho", time.Now().Add(time.Second))
		check(s.AbsorbRecords(ctx, []store.SharedRecord{sharedExchange(x, false), sharedExchange(y, false)}))
		theirs := written("learned " + name)
		theirs.ID, theirs.State, theirs.Revision, theirs.CreatedAt = "m"+name, store.Active, 1, time.Now()
		check(s.AbsorbMemories(ctx, []store.SharedMemory{{Memory: theirs}}))
		check(s.AbsorbRecords(ctx, []store.SharedRecord{sharedExchange(x, true)}))
	}
}

func sharedExchange(x *store.Exchange, reflected bool) store.SharedRecord {
	y := *x
	if reflected {
		y.Events = nil
	}
	return store.SharedRecord{
		Kind: store.RecordExchange, ID: x.ID, Tenant: x.Owner.Tenant, Scope: x.Owner.SkillScope(), Session: x.Session,
		Time: x.Finished, Reflected: reflected, Data: appendExchange([]byte{recordForm}, &y, nil),
	}
}

// deliveryOf is a line that says what a shipment is of, and in which form.
func deliveryOf(sh store.Shipment) string {
	switch {
	case sh.Memory != nil:
		return "memory:" + sh.Memory.Memory.ID + " " + sh.Memory.Memory.Digest()
	case sh.Gone != "":
		return "memory:" + sh.Gone + " gone"
	}
	return fmt.Sprintf("%s:%s %v", sh.Record.Kind, sh.Record.ID, sh.Record.Reflected)
}

// Killed at any moment, everything that a directory holds of its own has been
// delivered as it is, or waits in the outbox.
func TestKilledWhileItShipsAndTakesIn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	t.Parallel()
	dir := t.TempDir()
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	delivered := map[string]string{}
	waited := 0
	for round := range rounds {
		v := newVictim(t, fleetDir, dir)
		for lines := 1; v.Scan(); lines++ {
			if what, form, ok := strings.Cut(v.Text(), " "); ok {
				delivered[what] = form
			}
			if lines == 30+7*round {
				v.kill()
			}
		}
		v.end(t)
		s := open(t, Config{Dir: dir, Share: true})
		waited += shippedOrWaiting(t, s.Store, delivered)
		wholeSessions(t, s.Store)
		s.stop()
	}
	t.Logf("%d things delivered, %d waited after a kill", len(delivered), waited)
	if len(delivered) == 0 || waited == 0 {
		t.Error("the kills met too little")
	}
}

func shippedOrWaiting(t *testing.T, s *Store, delivered map[string]string) int {
	t.Helper()
	now := map[string]string{}
	for _, sh := range must[[]store.Shipment](t)(s.Outbox(t.Context(), 1_000_000)) {
		what, form, _ := strings.Cut(deliveryOf(sh), " ")
		if _, twice := now[what]; twice {
			t.Errorf("%s waits twice", what)
		}
		now[what] = form
	}
	if n, _ := s.OutboxDepth(); n != len(now) {
		t.Errorf("depth %d, %d rows", n, len(now))
	}
	is := func(what, form string) {
		if now[what] != form && delivered[what] != form {
			t.Errorf("%s is %s, was delivered as %q and waits as %q", what, form, delivered[what], now[what])
		}
	}
	ms, _, err := s.ScopeMemories(t.Context(), "acme", ann.Scope())
	if err != nil {
		t.Fatal(err)
	}
	here := map[string]bool{}
	for _, m := range ms {
		here["memory:"+m.ID] = true
		if !strings.HasPrefix(m.Text, "learned") { // that came from the fleet
			is("memory:"+m.ID, m.Digest())
		}
	}
	for what := range delivered {
		if strings.HasPrefix(what, "memory:") && !here[what] {
			is(what, "gone")
		}
	}
	err = s.view(func(v view) error {
		for r := range v.rows([]byte{famSession}, nil) {
			x, err := r.session()
			if err != nil {
				return err
			}
			for e := range v.rows(join(famExchange, r.key()[1:]), nil) {
				y, err := e.exchange(seqOf(e.item.Key()[1:]), &x)
				if err != nil {
					return err
				}
				if strings.HasPrefix(y.ID, "x") {
					is("exchange:"+y.ID, "false")
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(now)
}

// wholeSessions checks that what was taken in fits together.
func wholeSessions(t *testing.T, s *Store) {
	t.Helper()
	for cursor := ""; ; {
		list, next, err := s.Sessions(t.Context(), store.SessionFilter{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			xs := must[[]store.Exchange](t)(s.Exchanges(t.Context(), x.Owner, x.ID, 0, 0))
			seen, tokens := map[string]bool{}, 0
			last := uint64(0)
			for _, e := range xs {
				if seen[e.ID] {
					t.Errorf("session %s has %s twice", x.ID, e.ID)
				}
				seen[e.ID] = true
				last = max(last, e.Seq)
				if e.Seq > x.Cursor {
					tokens += e.Tokens
				}
			}
			if x.LastSeq != last || x.NewTokens != tokens {
				t.Errorf("%+v with %s", x, ids(xs))
			}
		}
		if cursor = next; cursor == "" {
			return
		}
	}
}
