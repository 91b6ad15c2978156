package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/weaviatedb"
)

// migrateCmd is `hindsight migrate`.
type migrateCmd struct {
	DataDir setting `name:"data-dir" key:"data_dir" placeholder:"PATH" help:"The data directory."`
	To      string  `required:"" enum:"weaviate,directory" placeholder:"WHERE" help:"weaviate: from the data directory into the Weaviate of VECTOR_DB_URL; directory: from there into the data directory."`
}

// moved is what a migration says at its end.
type moved struct {
	To       string `json:"to"`
	Memories int    `json:"memories"`
	Checksum string `json:"checksum"` // of the memories' digests, the same on both sides
	Scopes   int    `json:"scopes"`
	Records  int    `json:"records"`
}

// Run moves everything and compares counts and checksums of both sides. It can be
// interrupted and run again: what is there already is passed over.
func (c *migrateCmd) Run(ctx context.Context, a *app) (err error) {
	cfg, err := load(settings{DataDir: c.DataDir}, a.config, a.env, false)
	if err != nil {
		return err
	}
	if cfg.Store.Shared == nil {
		return &failure{wrong: "VECTOR_DB_URL isn't set", next: "Set it to the Weaviate's URL, and HINDSIGHT_IDENTITY_KEY_FILE to the key of the data directory.", code: exitUsage}
	}
	if c.To == "weaviate" {
		// The directory keeps all of it: it is compared at the end.
		cfg.Store.Shared.Cache = math.MaxInt64
	}
	dir := directoryOf(cfg)
	dir.Share = c.To == "weaviate" // what waits for delivery is noted then
	st, shut, err := runStore(ctx, dir)
	if err != nil {
		return unusable(dir.Dir, err)
	}
	defer func() { err = errors.Join(err, shut()) }()
	var out moved
	if c.To == "weaviate" {
		out, err = a.toWeaviate(ctx, cfg, st)
	} else {
		out, err = a.toDirectory(ctx, cfg, st)
	}
	if ctx.Err() != nil {
		return &failure{wrong: "interrupted", next: "Run it again: what has been moved is passed over."}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out)
	}
	return a.say("All %d memories of %d scopes are in %s, and the same on both sides (checksum %s).", out.Memories, out.Scopes, map[bool]string{true: "Weaviate", false: cfg.Store.Dir}[c.To == "weaviate"], out.Checksum)
}

// toWeaviate delivers all that the directory has, as serve would, and waits for it.
func (a *app) toWeaviate(ctx context.Context, cfg Config, st *badgerdb.Store) (out moved, err error) {
	if err := withVectors(ctx, cfg, st); err != nil {
		return out, err
	}
	sh, err := newShared(cfg, st, nil, nil)
	if err != nil {
		return out, err
	}
	leave := sync.OnceFunc(sh.start())
	defer leave()
	if err := awaitShared(ctx, sh.db); err != nil {
		return out, err
	}
	out = moved{To: "weaviate"}
	for again := false; ; again = true {
		n, err := a.delivered(ctx, sh, st)
		if err != nil {
			return out, err
		}
		out.Records += n
		differ, sum, err := compareSides(ctx, sh.db, st)
		if err != nil {
			return out, err
		}
		out.Memories, out.Scopes, out.Checksum = sum.memories, sum.scopes, sum.hex()
		out.Records = max(0, out.Records-out.Memories)
		if len(differ) == 0 {
			return out, nil
		}
		if again {
			return out, differing(differ)
		}
		for tenant, ids := range differ {
			if err := st.Reship(ctx, tenant, ids); err != nil {
				return out, fmt.Errorf("deliver again what differs: %w", err)
			}
		}
	}
}

// withVectors takes the directory's model into use, so that its vectors go along.
func withVectors(ctx context.Context, cfg Config, st *badgerdb.Store) error {
	m, err := newModel(cfg)
	if m == nil || err != nil {
		return err
	}
	v, err := newVectors(cfg, st, nil, nil, nil)
	if err != nil {
		return err
	}
	p, err := v.Progress(ctx)
	if err != nil || p.Memories == 0 {
		return err
	}
	return v.fill(ctx, nil)
}

// delivered waits until nothing waits for delivery and says how much it was.
func (a *app) delivered(ctx context.Context, sh *shared, st *badgerdb.Store) (n int, err error) {
	total, _ := st.OutboxDepth()
	shown := a.long("delivering", total)
	defer shown.end()
	for {
		left, _ := st.OutboxDepth()
		total = max(total, left)
		shown.of(total)
		shown.at(total - left)
		if left == 0 {
			return total, nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
		if on, reason := sh.db.State(); !on {
			if err := awaitShared(ctx, sh.db); err != nil {
				return 0, &failure{wrong: "Weaviate went away: " + reason, next: "Run it again when it is back: what has been moved is passed over."}
			}
		}
	}
}

// sharedPatience is how long a command waits for Weaviate.
const sharedPatience = 30 * time.Second

// runShared connects a command with Weaviate, and returns once that can be used.
// leave ends it. An interrupt must not close it under a call.
func runShared(ctx context.Context, cfg weaviatedb.Config) (db *weaviatedb.DB, leave func() error, err error) {
	if db, err = weaviatedb.New(cfg); err != nil {
		return nil, nil, fmt.Errorf("configure the shared memory: %w", err)
	}
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { _ = db.Run(connected) }) // State says what is wrong
	leave = func() error { disconnect(); running.Wait(); return db.Close() }
	if err := awaitShared(ctx, db); err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return db, leave, nil
}

func awaitShared(ctx context.Context, db *weaviatedb.DB) error {
	for end := time.Now().Add(sharedPatience); ; {
		on, reason := db.State()
		switch {
		case on:
			return nil
		case time.Now().After(end):
			return &failure{wrong: reason, next: "`hindsight doctor` says more."}
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// sum counts memories and sums their digests up, in any order.
type sum struct {
	memories, scopes int
	digest           [sha256.Size]byte
}

func (s *sum) add(id, digest string) {
	s.memories++
	for i, b := range sha256.Sum256([]byte(id + " " + digest)) {
		s.digest[i] ^= b
	}
}

func (s *sum) hex() string { return hex.EncodeToString(s.digest[:8]) }

// compareSides looks at every memory on both sides. differ are those that Weaviate
// doesn't have as the directory does, by tenant.
func compareSides(ctx context.Context, db *weaviatedb.DB, st *badgerdb.Store) (differ map[string][]string, here sum, err error) {
	tenants, err := st.Tenants(ctx)
	if err != nil {
		return nil, here, err
	}
	differ = map[string][]string{}
	for _, t := range tenants {
		for _, sc := range t.Scopes {
			ms, _, err := st.ScopeMemories(ctx, t.ID, sc.Scope)
			if err != nil {
				return nil, here, fmt.Errorf("read the directory's memories: %w", err)
			}
			stamps, err := db.Changed(ctx, t.ID, []store.Scope{sc.Scope}, time.Time{})
			if err != nil {
				return nil, here, fmt.Errorf("compare: %w", err)
			}
			there := make(map[string]string, len(stamps))
			for _, s := range stamps {
				there[s.ID] = s.Digest
			}
			here.scopes++
			for i := range ms {
				d := ms[i].Digest()
				here.add(ms[i].ID, d)
				if there[ms[i].ID] != d {
					differ[t.ID] = append(differ[t.ID], ms[i].ID)
				}
			}
		}
	}
	return differ, here, nil
}

func differing(differ map[string][]string) error {
	n, one := 0, ""
	for _, ids := range differ {
		n += len(ids)
		one = ids[0]
	}
	return &failure{
		wrong: fmt.Sprintf("%d memories aren't the same on both sides, %s for example", n, one),
		next:  "Something else writes to one of them, or refuses them: stop every other sidecar, look at hindsight's and Weaviate's log, and run it again.",
	}
}

// toDirectory takes in all that is in Weaviate.
func (a *app) toDirectory(ctx context.Context, cfg Config, st *badgerdb.Store) (out moved, err error) {
	db, leave, err := runShared(ctx, weaviateOf(cfg.Store.Shared, nil, nil))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if m, ok, err := db.StoredModel(ctx); err != nil {
		return out, err
	} else if ok {
		if err := st.UseVectors(ctx, m, false); err != nil {
			return out, err // it names both models
		}
	}
	out = moved{To: "directory"}
	var there sum
	scopes := map[scopeOf]map[string]string{} // ids and digests
	var shown *bar
	err = db.Everything(ctx,
		func(total int) { shown = a.long("taking in", total) },
		func(ms []store.SharedMemory) error {
			for i := range ms {
				m := &ms[i].Memory
				k := scopeOf{m.Tenant, m.Scope}
				if scopes[k] == nil {
					scopes[k] = map[string]string{}
				}
				d := m.Digest()
				scopes[k][m.ID] = d
				there.add(m.ID, d)
			}
			shown.at(there.memories)
			return st.AbsorbMemories(ctx, ms)
		},
		func(rs []store.SharedRecord) error {
			out.Records += len(rs)
			return st.AbsorbRecords(ctx, rs)
		})
	shown.end()
	if err != nil {
		return out, err
	}
	differ := map[string][]string{}
	for k, want := range scopes {
		ms, _, err := st.ScopeMemories(ctx, k.tenant, k.scope)
		if err != nil {
			return out, fmt.Errorf("read the directory's memories: %w", err)
		}
		have := map[string]string{}
		for i := range ms {
			have[ms[i].ID] = ms[i].Digest()
		}
		for id, d := range want {
			if have[id] != d {
				differ[k.tenant] = append(differ[k.tenant], id)
			}
		}
	}
	out.Memories, out.Scopes, out.Checksum = there.memories, len(scopes), there.hex()
	if len(differ) > 0 {
		return out, differing(differ)
	}
	return out, nil
}

type scopeOf struct {
	tenant string
	scope  store.Scope
}
