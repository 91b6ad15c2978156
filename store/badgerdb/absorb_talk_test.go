package badgerdb

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestASessionGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 3)
	x := func(i int) *store.Exchange {
		c.add(time.Second)
		x := said(ann, "s", fmt.Sprint("x", i), fmt.Sprint("word ", i), c.now())
		x.Turn = i
		x.Places = []store.Place{{Key: store.Hash{byte(i)}, Turn: i}}
		x.Anchors = []store.Anchor{{Key: store.Hash{100, byte(i)}, Session: "s", Length: 2 * i, Time: c.now()}}
		return x
	}
	for i := 1; i <= 6; i++ {
		s := all[i%3]
		tell(t, s.Store, x(i))
		if i == 4 {
			all[1].SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "s", Key: store.Hash{9}, Text: "block", Created: c.now(), LastUsed: c.now()}})
			cloud.settle(all...)
		}
	}
	cloud.settle(all...)
	for i, s := range all {
		list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))
		var ids []string
		for _, x := range list {
			ids = append(ids, x.ID)
		}
		if got := strings.Join(ids, " "); got != "x1 x2 x3 x4 x5 x6" {
			t.Errorf("sidecar %d has %s", i, got)
		}
		if n := len(must[[]store.Place](t)(s.Places(t.Context(), ann, "s"))); n != 6 {
			t.Errorf("sidecar %d has %d places", i, n)
		}
		for k := byte(1); k <= 6; k++ {
			if got := must[[][]store.Anchor](t)(s.Anchors(t.Context(), ann, []store.Hash{{100, k}})); len(got[0]) != 1 || got[0][0].Session != "s" || got[0][0].Length != 2*int(k) {
				t.Errorf("sidecar %d: anchor %d is %+v", i, k, got)
			}
		}
		if n := len(must[[]store.LedgerEntry](t)(s.LoadLedger(t.Context(), ann, "s"))); n != 1 {
			t.Errorf("sidecar %d has %d blocks", i, n)
		}
		sess := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
		if sess.LastSeq != 6 || sess.Turns != 6 || !sess.LastSeen.Equal(list[5].Finished) || sess.NewTokens != 6*list[0].Tokens {
			t.Errorf("sidecar %d: %+v", i, sess)
		}
	}
	// Taken in again, nothing moves.
	before := must[store.Session](t)(all[0].Session(t.Context(), ann, "s"))
	cloud.give(all[0].Store, func(a, b string) int { return cmp.Compare(b, a) })
	if d := gocmp.Diff(before, must[store.Session](t)(all[0].Session(t.Context(), ann, "s"))); d != "" {
		t.Errorf("taken in twice:\n%s", d)
	}
}

func TestASessionThatWasReflectedElsewhereIsNotReflectedAgain(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 2)
	a, b := all[0], all[1]
	for i := range 4 {
		c.add(time.Second)
		tell(t, all[i%2].Store, said(ann, "s", fmt.Sprint("x", i), fmt.Sprint("word ", i), c.now()))
	}
	cloud.settle(all...)
	// Another turn at b, which a doesn't know, and a job there that waits.
	c.add(time.Second)
	tell(t, b.Store, said(ann, "s", "late", "late word", c.now()))
	if _, ok, err := b.Enqueue(t.Context(), ann, "s", store.TriggerIdle); err != nil || !ok {
		t.Fatal(ok, err)
	}
	j, ok, err := b.Claim(t.Context(), "b", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	reflectSession(t, a.Store, "s")
	cloud.settle(all...)
	for k, r := range cloud.records {
		if r.Kind != store.RecordExchange {
			continue
		}
		x := must[store.Exchange](t)(readExchange(r.Data[1:], nil))
		if late := x.ID == "late"; r.Reflected == late || (len(x.Events) > 0) != late {
			t.Errorf("%s is shared with %d events, reflected %v", k, len(x.Events), r.Reflected)
		}
	}
	sess := must[store.Session](t)(b.Session(t.Context(), ann, "s"))
	list := must[[]store.Exchange](t)(b.Exchanges(t.Context(), ann, "s", sess.Cursor, 0))
	if len(list) != 1 || list[0].ID != "late" || sess.NewTokens != list[0].Tokens {
		t.Errorf("material at b: %s of %+v", ids(list), sess)
	}
	if _, err := b.Apply(t.Context(), j, store.Outcome{}); !errors.Is(err, store.ErrStale) {
		t.Errorf("b applies what a has reflected: %v", err)
	}
	if j = must[store.Job](t)(b.Job(t.Context(), j.ID)); j.State != store.Done {
		t.Errorf("the job at b is %s", j.State)
	}
	reflectSession(t, b.Store, "s")
	cloud.settle(all...)
	for i, s := range all {
		sess := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
		if sess.Cursor != sess.LastSeq || sess.NewTokens != 0 {
			t.Errorf("sidecar %d: %+v", i, sess)
		}
		if due := must[[]store.Session](t)(s.Due(t.Context(), c.now().Add(time.Hour), 0, 1)); len(due) != 0 {
			t.Errorf("sidecar %d: due %+v", i, due)
		}
	}
}

func TestAReflectedExchangeBehindANewOneIsNoMaterial(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 2)
	a, b := all[0], all[1]
	tell(t, b.Store, said(ann, "s", "own", "own word", c.now()))
	c.add(time.Second)
	tell(t, a.Store, said(ann, "s", "theirs", "their word", c.now()))
	// a knows nothing of b's, and b takes a's in before and after its reflection.
	cloud.deliver(a.Store)
	cloud.give(b.Store, cmp.Compare[string])
	reflectSession(t, a.Store, "s")
	cloud.deliver(a.Store)
	cloud.give(b.Store, cmp.Compare[string])
	list := must[[]store.Exchange](t)(b.Exchanges(t.Context(), ann, "s", 0, 0))
	if len(list) != 2 || len(list[0].Events) != 1 || len(list[1].Events) != 0 {
		t.Errorf("material at b: %+v", list)
	}
	sess := must[store.Session](t)(b.Session(t.Context(), ann, "s"))
	if sess.Cursor != 0 || sess.NewTokens != list[0].Tokens {
		t.Errorf("%+v", sess)
	}
	reflectSession(t, b.Store, "s")
	if sess = must[store.Session](t)(b.Session(t.Context(), ann, "s")); sess.Cursor != 2 || sess.NewTokens != 0 {
		t.Errorf("%+v", sess)
	}
}
