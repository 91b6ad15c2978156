package badgerdb

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// What older programs wrote is kept in testdata and read by every test run. An
// archive is of one format: a plain directory, one that is a fleet's and encrypted,
// a full backup and an incremental one of the plain one. `go test -tags fixtures -run
// TestWriteFixtures ./store/badgerdb` writes that of the present format; one that is
// there isn't written again, it is what that program wrote.
const fixtureName = "testdata/format-1.tar.gz"

// What lies in the directories of a fixture: every family. The outbox, the notes of
// copies and the data keys are in the second alone, the parts of a large exchange
// in the first.
const (
	plainFamilies = "GNOTabcdefghijklmnopqrsuvwxz"
	fleetFamilies = "BCGKNOTabcefghijklmnopqrsuvwxz"
)

// fixture unpacks one and returns the configurations of its directories.
func fixture(t *testing.T) (root string, plain, fleet Config) {
	t.Helper()
	root = t.TempDir()
	f, err := os.Open(fixtureName)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.FromSlash(h.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	plain, fleet = fixtureConfigs(root)
	return root, plain, fleet
}

func fixtureConfigs(root string) (plain, fleet Config) {
	c := newClock()
	c.add(9 * 24 * time.Hour)
	plain = Config{Dir: filepath.Join(root, "plain"), Now: c.now}
	fleet = Config{Dir: filepath.Join(root, "fleet"), Now: c.now, Share: true, EncryptionKeyFile: filepath.Join(root, "encryption.key")}
	return plain, fleet
}

func TestEncryptedAndPlainDirectoriesOfTheFirstFormat(t *testing.T) {
	t.Parallel()
	_, plain, fleet := fixture(t)
	if got := families(t, plain.Dir); got != plainFamilies {
		t.Errorf("the plain one holds %s, want %s", got, plainFamilies)
	}
	if got := families(t, fleet.Dir); got != fleetFamilies {
		t.Errorf("the fleet's holds %s, want %s", got, fleetFamilies)
	}
	s := open(t, plain).Store
	holdsEverything(t, s)
	if xs := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "large", 0, 0)); len(xs) != 1 || len(xs[0].Events) != 1 || xs[0].Events[0].Text != fixtureLarge {
		t.Error("the large exchange isn't as it was")
	}
	s = open(t, fleet).Store
	holdsEverything(t, s)
	rows := must[[]store.Shipment](t)(s.Outbox(t.Context(), 1000))
	ships := false
	for _, r := range rows {
		ships = ships || r.Memory != nil && r.Memory.Memory.Text == "The user likes green tea."
	}
	if !ships {
		t.Errorf("of %d rows of the outbox none delivers the memory", len(rows))
	}
	if copies := must[[]store.Copy](t)(s.Copies(t.Context())); len(copies) == 0 || copies[0].Used.IsZero() {
		t.Errorf("copies: %+v", copies)
	}
}

func TestEncryptedOrNotBackupsOfTheFirstFormatAreRestored(t *testing.T) {
	t.Parallel()
	root, plain, _ := fixture(t)
	r := restored(t, plain, filepath.Join(root, "full.backup"), filepath.Join(root, "more.backup"))
	holdsEverything(t, r.Store)
	if m := byText(t, r.Store, "The gate code is 5577."); m.ID == "" {
		t.Error("what came with the incremental backup isn't there")
	}
}

// families are the first bytes of all keys, in order.
func families(t *testing.T, dir string) string {
	t.Helper()
	s := must[*Store](t)(New(Config{Dir: dir}))
	db := must[*badger.DB](t)(badger.Open(badgerOptions(dir, s)))
	defer db.Close()
	var out []byte
	if err := db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if f := it.Item().Key()[0]; !bytes.Contains(out, []byte{f}) {
				out = append(out, f)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func byText(t *testing.T, s *Store, text string) (found store.Memory) {
	t.Helper()
	list, _, err := s.Memories(t.Context(), store.MemoryFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Text == text {
			found = m
		}
	}
	return found
}

var (
	fixtureKey    = store.Hash{7}
	fixtureLarge  = strings.Repeat("many words of a long answer ", 12_000)
	fixtureBegan  = "began and never ended"
	fixtureModel  = model("fixture")
	fixtureVector = []float32{0.6, 0.8, 0}
)

// everything writes a record of every kind.
func everything(t *testing.T, s running, c *clock) {
	t.Helper()
	ctx := t.Context()
	lived(t, s.Store, bob, "oregano")
	must[store.Receipt](t)(s.EraseScope(ctx, "acme", bob.Scope()))
	if err := s.UseVectors(ctx, fixtureModel, false); err != nil {
		t.Fatal(err)
	}
	tea := put(t, s.Store, written("The user likes tea."))
	tea = must[store.Memory](t)(s.EditMemory(ctx, tea.ID, func(m *store.Memory) error { m.Text = "The user likes green tea."; return nil }))
	if err := s.PutVectors(ctx, []store.Memory{tea}, [][]float32{fixtureVector}); err != nil {
		t.Fatal(err)
	}
	cake := put(t, s.Store, written("The user likes cake."))
	must[store.Memory](t)(s.ForgetMemory(ctx, cake.ID))

	x := said(ann, "old", "old-1", "I moved to Lisbon.", c.now())
	x.Places = []store.Place{{Key: fixtureKey, Turn: 1}}
	x.Anchors = []store.Anchor{{Key: fixtureKey, Session: "old", Length: 2, Time: c.now()}}
	tell(t, s.Store, x)
	reflectSession(t, s.Store, "old")
	c.add(8 * 24 * time.Hour)
	if err := s.sweep(ctx, s.h); err != nil { // the exchange goes, its places stay
		t.Fatal(err)
	}
	tell(t, s.Store, said(ann, "new", "new-1", "My badge is B4411.", c.now()))
	reflectSession(t, s.Store, "new")
	tell(t, s.Store, said(ann, "new", "new-2", "And my locker is 12.", c.now()))
	if _, ok, err := s.Enqueue(ctx, ann, "new", store.TriggerExplicit); err != nil || !ok {
		t.Fatalf("enqueue: %v, %v", ok, err)
	}
	s.SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "new", Key: fixtureKey, Text: "a block", Checks: []string{tea.ID}, Created: c.now(), LastUsed: c.now()}})
	s.SaveWhy(store.Why{Exchange: "new-1", Session: "new", Owner: ann, Time: c.now(), Query: "what badge?"})
	if err := s.SetFact(ctx, "a fact", "its value"); err != nil {
		t.Fatal(err)
	}
	s.UseCopy("acme", ann.Scope())
	version, seen := s.versions()
	if err := s.keep(t, version, seen, pieces("index")); err != nil {
		t.Fatal(err)
	}
	put(t, s.Store, written("The user's boat is called Marlin.")) // the snapshot doesn't show it
	begun := said(ann, "new", fixtureBegan, "What is", c.now())
	begun.Status, begun.Finished = "", time.Time{}
	s.Begin(begun)
	flush(t, s.Store)
}

// holdsEverything reads what everything has written.
func holdsEverything(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	if err := s.UseVectors(ctx, fixtureModel, false); err != nil {
		t.Fatal(err)
	}
	tea := byText(t, s, "The user likes green tea.")
	if old := must[[]store.Memory](t)(s.Revisions(ctx, tea.ID)); len(old) != 1 || old[0].Text != "The user likes tea." {
		t.Errorf("older forms: %+v", old)
	}
	if v := scopeVectors(t, s)[tea.ID]; len(v) != len(fixtureVector) || v[0] < 0.59 || v[0] > 0.61 {
		t.Errorf("its vector: %v", v)
	}
	if byText(t, s, "The user's boat is called Marlin.").ID == "" {
		t.Error("a memory is missing")
	}
	k := readReady(t, s)
	if !strings.HasPrefix(k.parts, "index|") || len(k.changed) == 0 {
		t.Errorf("the index's snapshot: %+v", k)
	}
	if err := s.view(func(v view) error {
		x, err := v.stone(v.h.at("acme", ann.Scope()), v.h.text(ann.Scope(), "The user likes cake."))
		if !x.stands() {
			t.Error("nothing says what was forgotten")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if bobs, _, err := s.Memories(ctx, store.MemoryFilter{Scope: bob.Scope(), Limit: 9}); err != nil || len(bobs) != 0 {
		t.Errorf("of the erased scope: %v, %v", bobs, err)
	}
	if !s.tooOld(s.h.at("acme", bob.Scope()), newClock().now().Add(-time.Hour)) {
		t.Error("the erasure isn't known")
	}
	xs := must[[]store.Exchange](t)(s.Exchanges(ctx, ann, "new", 0, 0))
	if len(xs) != 3 || xs[0].Events[0].Text != "My badge is B4411." || xs[2].ID != fixtureBegan || xs[2].Status != store.Aborted {
		t.Errorf("the conversation: %+v", xs)
	}
	if x := must[store.Exchange](t)(s.Exchange(ctx, "new-1")); x.Session != "new" {
		t.Errorf("an exchange by its id: %+v", x)
	}
	if p := must[[]store.Place](t)(s.Places(ctx, ann, "old")); len(p) != 1 || p[0].Key != fixtureKey {
		t.Errorf("places of an exchange that has gone: %v", p)
	}
	if a := must[[][]store.Anchor](t)(s.Anchors(ctx, ann, []store.Hash{fixtureKey})); len(a) != 1 || len(a[0]) != 1 || a[0][0].Session != "old" {
		t.Errorf("anchors: %v", a)
	}
	if l := must[[]store.LedgerEntry](t)(s.LoadLedger(ctx, ann, "new")); len(l) != 1 || l[0].Text != "a block" {
		t.Errorf("the ledger: %v", l)
	}
	if s.Offered(tea.ID).IsZero() {
		t.Error("that a block asked to check it isn't known")
	}
	if w := must[store.Why](t)(s.Why(ctx, "new-1")); w.Query != "what badge?" {
		t.Errorf("why: %+v", w)
	}
	if jobs := must[[]store.Job](t)(s.Jobs(ctx, store.Queued)); len(jobs) != 1 || jobs[0].Session != "new" {
		t.Errorf("jobs: %+v", jobs)
	}
	if v, ok, err := s.Fact(ctx, "a fact"); v != "its value" || !ok || err != nil {
		t.Errorf("the fact: %q, %v, %v", v, ok, err)
	}
	if list, _, err := s.Sessions(ctx, store.SessionFilter{Tenant: "acme", Limit: 9}); err != nil || len(list) < 2 {
		t.Errorf("sessions: %v, %v", list, err)
	}
	if ts := must[[]store.Tenant](t)(s.Tenants(ctx)); len(ts) != 1 || ts[0].ID != "acme" {
		t.Errorf("tenants: %+v", ts)
	}
}
