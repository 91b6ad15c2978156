package badgerdb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// Erased words leave the directory: memory, older forms, exchanges, blocks, why
// records, what a reflection threw away, and the contexts of other memories. What
// was made of the memory goes, what was made of another too is kept without it.
func TestErasedWordsLeaveTheDirectory(t *testing.T) {
	t.Parallel()
	clk := newClock()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, Now: clk.now})
	holds := func() string {
		t.Helper()
		if err := s.with(func(h *handle) error { return s.writeOut(h) }); err != nil {
			t.Fatal(err)
		}
		return fileWith(t, dir)
	}
	x := said(ann, "s", "x", "I am a "+word+" by trade.", clk.now())
	x.Places = []store.Place{{Key: store.Hash{7}, Turn: 1}}
	s.Finish(x)
	s.Finish(said(ann, "s", "y", "And I live in Oslo.", clk.now()))
	s.SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "s", Key: store.Hash{1}, Text: "The user is a " + word, Refs: []store.Ref{{ID: "mtrade", Revision: 1}}, Created: clk.now()}})
	s.SaveWhy(store.Why{Exchange: "x", Session: "s", Owner: ann, Time: clk.now(), Query: word})
	flush(t, s.Store)
	if _, _, err := s.Enqueue(t.Context(), ann, "s", store.TriggerIdle); err != nil {
		t.Fatal(err)
	}
	evidence := store.Evidence{Session: "s", Turn: 1, Quote: "I am a " + word + " by trade", Time: clk.now()}
	m := written("The user is a " + word + ".")
	m.ID, m.Evidence = "mtrade", []store.Evidence{evidence}
	oslo := written("The user lives in Oslo.")
	oslo.ID = "moslo"
	oslo.Evidence = []store.Evidence{{Session: "s", Turn: 2, Quote: "I live in Oslo", Time: clk.now(), Context: "I am a " + word + " by trade. And I live in Oslo."}}
	must[store.Job](t)(s.Apply(t.Context(), claim(t, s.Store, "c"), store.Outcome{
		Memories: []store.Memory{m, oslo}, Dropped: []store.Dropped{{Text: "The user is a " + word + ".", Reason: "weak"}},
	}))
	must[store.Memory](t)(s.EditMemory(t.Context(), "mtrade", func(m *store.Memory) error { m.Importance = 1; return nil }))
	must[store.Memory](t)(s.EditMemory(t.Context(), "moslo", func(m *store.Memory) error { m.Importance = 1; return nil }))
	own := written("A printer is among us, a " + word + ".")
	own.Scope, own.SourceIDs = store.Shared, []string{"mtrade"}
	own = put(t, s.Store, own)
	both := written("Somebody prints.")
	both.Scope, both.SourceIDs = store.Shared, []string{"mtrade", "mother"}
	both.Evidence = []store.Evidence{evidence, {Session: "bobs", Turn: 1, Quote: "I print", Time: clk.now()}}
	both = put(t, s.Store, both)
	if holds() == "" && s.cfg.EncryptionKeyFile == "" {
		t.Fatal("the words aren't there before")
	}

	if err := s.UseVectors(t.Context(), fixtureModel, false); err != nil {
		t.Fatal(err)
	}
	if err := s.PutVectors(t.Context(), []store.Memory{must[store.Memory](t)(s.Memory(t.Context(), "mtrade"))}, [][]float32{fixtureVector}); err != nil {
		t.Fatal(err)
	}

	got := must[store.Receipt](t)(s.EraseMemory(t.Context(), "mtrade"))
	want := store.Receipt{
		Tenant: "acme", Scope: ann.Scope(), Memory: "mtrade", Erased: []store.Scope{},
		Memories: 1, Promoted: 1, Remade: 2, Revisions: 1, Vectors: 1, Evidence: 1, Exchanges: 1, Ledger: 1, Why: 1, Jobs: 1,
		ErasedAt: clk.now(), State: store.ErasureSweeping, OutOfReach: store.BeyondMemory(false),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("receipt (-want +got):\n%s", d)
	}
	for _, id := range []string{"mtrade", own.ID} {
		if _, err := s.Memory(t.Context(), id); !errors.Is(err, store.ErrNotFound) || !s.Gone(id) {
			t.Errorf("%s: %v, gone %v", id, err, s.Gone(id))
		}
	}
	if k := must[store.Memory](t)(s.Memory(t.Context(), both.ID)); len(k.Evidence) != 1 || k.Evidence[0].Session != "bobs" || len(k.SourceIDs) != 1 {
		t.Errorf("made of another too: %+v", k)
	}
	if k := must[store.Memory](t)(s.Memory(t.Context(), "moslo")); len(k.Evidence) != 1 || k.Evidence[0].Context != "" || k.State != store.Active {
		t.Errorf("the neighbour: %+v", k)
	}
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))); got != "2:y " {
		t.Errorf("exchanges %s", got)
	}
	if p := must[[]store.Place](t)(s.Places(t.Context(), ann, "s")); len(p) != 1 {
		t.Errorf("places %v", p)
	}
	ended := func() store.Receipt {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for { // the keeper squeezes in its own time
			rec := must[store.Receipt](t)(s.Erasure(t.Context(), "acme", ann.Scope(), "mtrade"))
			if rec.State == store.ErasureDone {
				return rec
			}
			if time.Now().After(deadline) {
				t.Fatalf("receipt %+v", rec)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	want.State = store.ErasureDone
	if d := cmp.Diff(want, ended()); d != "" {
		t.Errorf("the receipt that is kept (-want +got):\n%s", d)
	}
	if where := fileWith(t, dir); where != "" {
		t.Errorf("the words stand in %s", where)
	}
	if _, err := s.Erasure(t.Context(), "acme", ann.Scope(), ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the receipt of the scope, which wasn't erased: %v", err)
	}
	// As a kill between the erasure and the merging of the files leaves it.
	want.State = store.ErasureSweeping
	if err := s.change(func(t *tx) error { return s.putReceipt(t, receipt{Receipt: want}) }); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = open(t, Config{Dir: dir, Now: clk.now})
	ended()
	if where := fileWith(t, dir); where != "" {
		t.Errorf("after a restart the words stand in %s", where)
	}
}

// word is one that stands nowhere else.
const word = "Xylographer"

// fileWith names a file of the directory that holds it.
func fileWith(t *testing.T, dir string) string {
	t.Helper()
	for _, path := range must[[]string](t)(filepath.Glob(filepath.Join(dir, "*"))) {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(word)) {
			return filepath.Base(path)
		}
	}
	return ""
}

// Erasing an agent's part of a user takes the evidence of its sessions out of
// what they taught elsewhere.
func TestErasedScopeIsFollowed(t *testing.T) {
	t.Parallel()
	clk := newClock()
	s := open(t, Config{Now: clk.now})
	coder := store.Owner{Tenant: "acme", User: "ann", Agent: "coder"}
	s.Finish(said(coder, "with", "x1", "hi", clk.now()))
	tell(t, s.Store, said(ann, "without", "x2", "hi", clk.now()))
	quote := func(session string) store.Evidence {
		return store.Evidence{Session: session, Turn: 1, Quote: "I said so in " + session, Time: clk.now()}
	}
	alone, joint, other := written("From the agent alone."), written("From both."), written("From without.")
	alone.Evidence = []store.Evidence{quote("with")}
	joint.Evidence = []store.Evidence{quote("with"), quote("without")}
	other.Evidence = []store.Evidence{quote("without")}
	alone, joint, other = put(t, s.Store, alone), put(t, s.Store, joint), put(t, s.Store, other)
	skill := written("A skill.")
	skill.Type, skill.Scope = store.Solution, coder.SkillScope()
	put(t, s.Store, skill)
	must[store.Memory](t)(s.EditMemory(t.Context(), joint.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))

	r := must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", coder.SkillScope()))
	if r.Sessions != 1 || r.Memories != 2 || r.Remade != 1 || r.Revisions != 1 {
		t.Errorf("receipt %+v", r)
	}
	if _, err := s.Memory(t.Context(), alone.ID); !errors.Is(err, store.ErrNotFound) || !s.Gone(alone.ID) {
		t.Errorf("alone: %v", err)
	}
	if m := must[store.Memory](t)(s.Memory(t.Context(), joint.ID)); len(m.Evidence) != 1 || m.Evidence[0].Session != "without" {
		t.Errorf("joint: %+v", m.Evidence)
	}
	if n := len(must[[]store.Memory](t)(s.Revisions(t.Context(), joint.ID))); n != 0 {
		t.Errorf("%d older forms hold the evidence", n)
	}
	if m := must[store.Memory](t)(s.Memory(t.Context(), other.ID)); len(m.Evidence) != 1 {
		t.Errorf("other: %+v", m.Evidence)
	}
}
