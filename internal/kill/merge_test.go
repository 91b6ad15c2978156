package kill

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

var (
	ann   = store.Owner{Tenant: "t", User: "ann"}
	dawn  = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	facts = []string{"I live in Lisbon.", "My badge is B4411.", "The user has a dog."}
)

// at opens a store for as long as do runs.
func at(t *testing.T, dir string, do func(s *badgerdb.Store)) {
	t.Helper()
	s, err := badgerdb.New(badgerdb.Config{Dir: dir, Now: func() time.Time { return dawn.Add(48 * time.Hour) }, Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(s)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// state is what a merge changes: the memories, their histories, the session's
// cursor and its job.
type state struct {
	Memories  []store.Memory
	Revisions map[string][]store.Memory
	Cursor    uint64
	Job       store.JobState
}

func read(t *testing.T, s *badgerdb.Store) state {
	t.Helper()
	ms, _, err := s.ScopeMemories(t.Context(), "t", ann.Scope())
	if err != nil {
		t.Fatal(err)
	}
	out := state{Memories: ms, Revisions: map[string][]store.Memory{}}
	for _, m := range ms {
		if out.Revisions[m.ID], err = s.Revisions(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
	x, err := s.Session(t.Context(), ann, "s2")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := s.Jobs(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Session == "s2" {
			out.Job = j.State
		}
	}
	out.Cursor = x.Cursor
	return out
}

// learn records a session and reflects it; merge, where set, is called where
// the outcome is about to be written.
func learn(t *testing.T, s *badgerdb.Store, session string, day int, merge func(), found ...extract.Candidate) {
	t.Helper()
	when := dawn.AddDate(0, 0, day)
	s.Finish(&store.Exchange{
		ID: "x" + session, Session: session, Owner: ann, Status: store.Complete, Started: when, Finished: when, Zone: "UTC", Dialect: "chat", Turn: 1, Tokens: 9,
		Events: []store.Event{{Kind: store.UserInput, Time: when, Turn: 1, Text: "words"}},
	})
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Enqueue(t.Context(), ann, session, store.TriggerExplicit); err != nil {
		t.Fatal(err)
	}
	j, ok, err := s.Claim(t.Context(), "c", time.Hour)
	if err != nil || !ok {
		t.Fatalf("claim: %v %v", ok, err)
	}
	known, _, err := s.ScopeMemories(t.Context(), "t", ann.Scope())
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		c := &found[i]
		c.Type, c.By, c.Turn, c.Time, c.Importance, c.Confidence, c.Quote = store.UserFact, store.ByUser, 1, when, 0.8, 0.9, c.Text
		for _, m := range known {
			if m.Text == c.RelationID {
				c.RelationID = m.ID
			}
		}
	}
	out := lifecycle.Fit(lifecycle.Input{Job: j, Existing: known, Found: extract.Result{Candidates: found}, Now: when})
	merge()
	if _, err := s.Apply(t.Context(), j, out); err != nil {
		t.Fatal(err)
	}
}

// A merge that retires, joins and revises is killed after every part of what it
// writes: the log ends there, as it does for a process that died. Whoever opens
// the directory then finds all of the merge or nothing of it.
func TestKilledInsideAMerge(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	home := t.TempDir()
	dir, begun := filepath.Join(home, "data"), filepath.Join(home, "begun")
	var before, after state
	at(t, dir, func(s *badgerdb.Store) {
		learn(t, s, "s1", 0, func() {}, extract.Candidate{Text: facts[0]}, extract.Candidate{Text: facts[1]}, extract.Candidate{Text: facts[2], Subject: "dog"})
		learn(t, s, "s2", 1, func() {
			before = read(t, s)
			copyAll(t, dir, begun)
		},
			extract.Candidate{Text: "I moved to Oslo."}, extract.Candidate{Text: "My badge is B4411."},
			extract.Candidate{Text: "The user has a dog named Biscuit.", Subject: "dog", Relation: extract.Refines, RelationID: facts[2]})
		after = read(t, s)
		copyAll(t, dir, filepath.Join(home, "merged"))
	})
	if cmp.Equal(before, after) || len(after.Memories) != 4 {
		t.Fatalf("the merge changed nothing: %+v", after)
	}
	logs, spans := written(t, begun, filepath.Join(home, "merged"))
	cuts := 40
	if testing.Short() {
		cuts = 8
	}
	seen := map[string]int{}
	for n, name := range logs {
		for i := range cuts + 1 {
			cut := spans[n][0] + (spans[n][1]-spans[n][0])*int64(i)/int64(cuts)
			dead := filepath.Join(home, "dead")
			if err := os.RemoveAll(dead); err != nil {
				t.Fatal(err)
			}
			copyAll(t, filepath.Join(home, "merged"), dead)
			blank(t, filepath.Join(dead, name), cut)
			at(t, dead, func(s *badgerdb.Store) {
				got := read(t, s)
				switch {
				case cmp.Equal(got, before):
					seen["before"]++
				case cmp.Equal(got, after):
					seen["after"]++
				default:
					t.Errorf("%s cut at %d: neither before nor after: %s", name, cut, cmp.Diff(after, got))
				}
			})
		}
	}
	t.Logf("%v", seen)
	if seen["before"] == 0 || seen["after"] == 0 {
		t.Errorf("the cuts were not inside the merge: %v", seen)
	}
}

// copyAll copies a directory with what is in it, sockets and locks aside.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(dst, 0o700)
		case !d.Type().IsRegular() || d.Name() == "LOCK":
			return nil
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		out, err := os.Create(dst)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
		return out.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// written finds the logs that a merge wrote to, and from where to where.
func written(t *testing.T, from, to string) (names []string, spans [][2]int64) {
	t.Helper()
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".mem") && !strings.HasSuffix(path, ".vlog") {
			return err
		}
		rel, err := filepath.Rel(to, path)
		if err != nil {
			return err
		}
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		was, err := os.ReadFile(filepath.Join(from, rel))
		if err != nil {
			return err
		}
		first, last := int64(-1), int64(-1)
		for i := range now {
			if i >= len(was) || now[i] != was[i] {
				if first < 0 {
					first = int64(i)
				}
				last = int64(i) + 1
			}
		}
		if first >= 0 {
			names, spans = append(names, rel), append(spans, [2]int64{first, last})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("the merge wrote to no log")
	}
	return names, spans
}

// blank overwrites the end of a log with what an unwritten log holds.
func blank(t *testing.T, path string, from int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > from {
		if _, err := f.WriteAt(make([]byte, info.Size()-from), from); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
