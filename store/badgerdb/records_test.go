package badgerdb

import (
	"fmt"
	goreflect "reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// filled sets every field below v to something that isn't zero, so that a field
// that the records forget shows.
func filled(v goreflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(goreflect.ValueOf(time.Date(2026, 11, 29, 10, 0, *n, 0, time.UTC)))
		return
	case store.Hash:
		v.Set(goreflect.ValueOf(store.Hash{0: byte(*n), 15: 1}))
		return
	}
	switch v.Kind() {
	case goreflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), n)
		}
	case goreflect.Slice:
		v.Set(goreflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(v.Index(i), n)
		}
	case goreflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case goreflect.Bool:
		v.SetBool(true)
	case goreflect.Int:
		v.SetInt(int64(*n))
	case goreflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		panic("a kind that records don't have: " + v.Kind().String())
	}
}

func TestRecordsKeepEveryField(t *testing.T) {
	t.Parallel()
	n := 0
	var x store.Exchange
	filled(goreflect.ValueOf(&x).Elem(), &n)
	x.Again, x.SessionInfo.New = false, false // for the writer alone
	got := must[store.Exchange](t)(readExchange(appendExchange(nil, &x, nil), nil))
	if d := cmp.Diff(x, got); d != "" {
		t.Errorf("an exchange (-want +got):\n%s", d)
	}
	var sess store.Session
	filled(goreflect.ValueOf(&sess).Elem(), &n)
	if d := cmp.Diff(sess, must[store.Session](t)(readSession(appendSession(nil, &sess)))); d != "" {
		t.Errorf("a session (-want +got):\n%s", d)
	}

	// Under its session an exchange doesn't say again what that says.
	sess.ID = store.DrawSession(sess.Started)
	x.ID, x.Session, x.Owner = store.ExchangeID(sess.ID, "abc"), sess.ID, sess.Owner
	short := appendExchange(nil, &x, &sess)
	if s := string(short); strings.Contains(s, sess.ID[1:]) || strings.Contains(s, sess.Owner.User) {
		t.Errorf("it says again what its session says: %q", s)
	}
	x.Anchors = nil // they lie under keys of their own
	if d := cmp.Diff(x, must[store.Exchange](t)(readExchange(short, &sess))); d != "" {
		t.Errorf("under its session (-want +got):\n%s", d)
	}
	x.Owner.Agent = ""
	if d := cmp.Diff(x, must[store.Exchange](t)(readExchange(appendExchange(nil, &x, &sess), &sess))); d != "" {
		t.Errorf("of another agent (-want +got):\n%s", d)
	}
}

func TestRecordsOfWordsThatNoListHasAndOfNothing(t *testing.T) {
	t.Parallel()
	x := store.Exchange{
		ID: "x", Session: "s", Status: "new status", Started: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC),
		Events: []store.Event{{Kind: "new kind", Time: time.Date(2020, 1, 1, 0, 0, 0, 1, time.UTC), Turn: -3}, {}, {Text: "t"}},
		Places: []store.Place{{}, {Turn: 1}}, Injected: []store.Ref{{}, {Revision: 2}},
	}
	got := must[store.Exchange](t)(readExchange(appendExchange(nil, &x, nil), nil))
	if d := cmp.Diff(x, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRecordsPassOverWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	x := *said(ann, "s", "x", "hi", time.Now())
	b := appendText(appendNum(appendExchange(nil, &x, nil), 120, 7), 121, "of a later version")
	if got := must[store.Exchange](t)(readExchange(b, nil)); got.ID != "x" || got.Events[0].Text != "hi" {
		t.Errorf("%+v", got)
	}
}

func FuzzRecords(f *testing.F) {
	x := said(ann, "s", "x", "hi", time.Now())
	x.Places = []store.Place{{Key: store.Hash{1}, Turn: 2}}
	b := appendExchange(nil, x, nil)
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte{xEventText<<1 | 1, 2, 'h', 'i', xPlaceTurn << 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := readExchange(b, nil)
		if err != nil {
			return
		}
		// What can be read can be written and read again.
		again := must[store.Exchange](t)(readExchange(appendExchange(nil, &x, nil), nil))
		if len(again.Events) != len(x.Events) || len(again.Places) != len(x.Places) || again.ID != x.ID {
			t.Errorf("%+v became %+v", x, again)
		}
		_, _ = readSession(b)
	})
}

// drawnTalk is an exchange of a session that the tracker has drawn.
func drawnTalk(o store.Owner, session, own, text string, at time.Time) *store.Exchange {
	x := said(o, session, store.ExchangeID(session, own), text, at)
	x.Places = []store.Place{{Key: store.Hash{7, own[0]}, Turn: 1}}
	return x
}

func TestDrawnSessionsNeedNoIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	at := time.Date(2026, 11, 29, 10, 0, 0, 5, time.UTC)
	id, other := store.DrawSession(at), store.DrawSession(at)
	first := drawnTalk(ann, id, "a", "one", at)
	first.SessionInfo.New = true
	s.Finish(first)
	s.Finish(drawnTalk(ann, id, "b", "two", at.Add(time.Minute)))
	tell(t, s.Store, drawnTalk(store.Owner{Tenant: "else", User: "ann"}, other, "a", "theirs", at))
	if n := count(t, s.Store, famByID); n != 0 {
		t.Errorf("%d rows in the index by id", n)
	}
	check := func(s *Store, tenant string) {
		t.Helper()
		if x := must[store.Session](t)(s.FindSession(t.Context(), id)); x.ID != id || x.Owner.Tenant != tenant || !x.Started.Equal(at) {
			t.Errorf("FindSession = %+v", x)
		}
		if x := must[store.Session](t)(s.FindSession(t.Context(), other)); x.ID != other {
			t.Errorf("FindSession of the other = %+v", x)
		}
		x := must[store.Exchange](t)(s.Exchange(t.Context(), store.ExchangeID(id, "b")))
		if x.ID != store.ExchangeID(id, "b") || x.Events[0].Text != "two" || x.Session != id || x.Owner.Tenant != tenant {
			t.Errorf("Exchange = %+v", x)
		}
		if _, err := s.Exchange(t.Context(), store.ExchangeID(id, "c")); err == nil {
			t.Error("an exchange that never was is found")
		}
		list, _, err := s.Sessions(t.Context(), store.SessionFilter{Tenant: tenant})
		if err != nil || len(list) != 1 || list[0].ID != id {
			t.Errorf("Sessions = %v, %v", list, err)
		}
	}
	check(s.Store, "acme")
	s.stop()
	s = open(t, Config{Dir: dir})
	check(s.Store, "acme")
	if err := s.LinkTenants(t.Context(), "acme", "moved"); err != nil {
		t.Fatal(err)
	}
	check(s.Store, "moved")
	if r := must[store.Receipt](t)(s.EraseScope(t.Context(), "moved", ann.Scope())); r.Sessions != 1 || r.Exchanges != 2 {
		t.Errorf("erased %+v", r)
	}
	if _, err := s.FindSession(t.Context(), id); err == nil {
		t.Error("an erased session is found")
	}
}

func TestARepeatedRequestReplacesWhatItsIDSays(t *testing.T) {
	t.Parallel()
	for _, batches := range []int{1, 3} {
		s := open(t, Config{Linger: time.Hour})
		at := time.Now()
		id := store.DrawSession(at)
		settle := func() {
			if batches > 1 {
				flush(t, s.Store)
			}
		}
		x := drawnTalk(ann, id, "a", "first words", at)
		x.Status, x.SessionInfo.New = store.Aborted, true
		s.Finish(x)
		settle()
		s.Finish(drawnTalk(ann, id, "b", "second", at))
		settle()
		again := drawnTalk(ann, id, "a", "first words and an answer", at)
		again.Again, again.Places = true, []store.Place{{Key: store.Hash{9}, Turn: 2}}
		tell(t, s.Store, again)
		list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, id, 0, 0))
		if got, want := ids(list), fmt.Sprintf("2:%s 3:%s ", store.ExchangeID(id, "b"), store.ExchangeID(id, "a")); got != want {
			t.Errorf("in %d batches: %s, want %s", batches, got, want)
		}
		sess := must[store.Session](t)(s.Session(t.Context(), ann, id))
		if want := store.Tokens("second") + again.Tokens; sess.NewTokens != want {
			t.Errorf("in %d batches: %d new tokens, want %d", batches, sess.NewTokens, want)
		}
		// The places of the first try are still the session's.
		if p := must[[]store.Place](t)(s.Places(t.Context(), ann, id)); len(p) != 3 {
			t.Errorf("in %d batches: places %v", batches, p)
		}
	}
}

func TestTheRealEndReplacesWhatAnOpeningMadeOfIt(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Retry: 10 * time.Millisecond})
	at := time.Now()
	id := store.DrawSession(at)
	x := drawnTalk(ann, id, "a", "hi", at)
	x.Status, x.Finished = "", time.Time{}
	s.Begin(x)
	flush(t, s.Store)
	s.broken <- &commitError{fmt.Errorf("disk on fire")} // it opens anew, in the same process
	until(t, "the begun exchange to be ended", func() bool {
		list, err := s.Exchanges(t.Context(), ann, id, 0, 0)
		return err == nil && len(list) == 1 && list[0].Status == store.Aborted
	})
	tell(t, s.Store, drawnTalk(ann, id, "a", "hi there", at))
	list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, id, 0, 0))
	if len(list) != 1 || list[0].Status != store.Complete {
		t.Errorf("exchanges %+v", list)
	}
}

func TestPlacesOutliveTheirExchanges(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	x := said(ann, "s", "x", "hi", c.now())
	for i := range placesPiece + 5 {
		x.Places = append(x.Places, store.Place{Key: store.Hash{byte(i), byte(i >> 8), 1}, Turn: i})
	}
	s.Finish(x)
	reflected := func() { // of everything until now
		t.Helper()
		if _, ok, err := s.Enqueue(t.Context(), ann, "s", store.TriggerExplicit); err != nil || !ok {
			t.Fatal(ok, err)
		}
		j, ok, err := s.Claim(t.Context(), "me", time.Minute)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		must[store.Job](t)(s.Apply(t.Context(), j, store.Outcome{}))
	}
	reflected()
	y := said(ann, "s", "y", "again", c.now())
	y.Places = []store.Place{{Key: x.Places[3].Key, Turn: 99}}
	tell(t, s.Store, y)
	c.add(keepReflected + time.Hour)
	if err := s.with(func(h *handle) error { return s.sweep(t.Context(), h) }); err != nil {
		t.Fatal(err)
	}
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))); got != "2:y " {
		t.Fatalf("exchanges %s", got)
	}
	p := must[[]store.Place](t)(s.Places(t.Context(), ann, "s"))
	if len(p) != placesPiece+5 || p[3].Turn != 99 || p[placesPiece+4].Turn != placesPiece+4 {
		t.Errorf("%d places", len(p))
	}
	if r := must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", ann.Scope())); r.Places != 2 { // of the exchange that had gone, in two pieces
		t.Errorf("%d records of places erased", r.Places)
	}
	if n := count(t, s.Store, famPlaces); n != 0 {
		t.Errorf("%d rows of places left", n)
	}
}
