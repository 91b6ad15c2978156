package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hindsight/internal/bench"
	"hindsight/internal/weaviateserver"
	"hindsight/store"
	"hindsight/store/index"
	"hindsight/store/weaviatedb"
)

// benchStoreCmd is `hindsight bench store`.
type benchStoreCmd struct {
	Server   string   `required:"" placeholder:"PATH" help:"Weaviate's server program; each row has one of its own, in a directory that is removed."`
	Memories []int    `default:"10000" help:"How many memories."`
	Scopes   []int    `default:"1,1000,10000" help:"Over how many scopes."`
	Layouts  []string `default:"shared,isolated" enum:"shared,isolated" help:"The layouts."`
	Index    string   `default:"flat" enum:"flat,hnsw" help:"The vector index."`
	Ask      int      `default:"200" help:"Questions for the times of recall."`
	Into     string   `placeholder:"PATH" help:"Write the table into this Markdown file, between its marks."`
}

// storeRow is one measurement.
type storeRow struct {
	Layout      string        `json:"layout"`
	Memories    int           `json:"memories"`
	Scopes      int           `json:"scopes"`
	Insert      float64       `json:"memories_a_second"`
	Descriptors int           `json:"descriptors"`
	Resident    int64         `json:"resident_bytes"`
	Disk        int64         `json:"disk_bytes"`
	First       time.Duration `json:"first_query_ns"` // of a scope after a restart
	P50         time.Duration `json:"recall_p50_ns"`
	P95         time.Duration `json:"recall_p95_ns"`
}

// The marks in a document between which the table is written.
const (
	benchStoreOpen = "<!-- bench store: begin -->\n"
	benchStoreShut = "<!-- bench store: end -->\n"
)

// dimension is that of the built-in encoder's vectors.
const dimension = 512

// Run measures each combination on a server of its own.
func (cmd *benchStoreCmd) Run(ctx context.Context, a *app) error {
	var rows []storeRow
	for _, n := range cmd.Memories {
		for _, scopes := range cmd.Scopes {
			for _, layout := range cmd.Layouts {
				if scopes > n {
					continue
				}
				fmt.Fprintf(a.err, "%d memories over %d scopes, %s\n", n, scopes, layout)
				row, err := cmd.row(ctx, n, scopes, layout)
				if err != nil {
					return fmt.Errorf("%d memories over %d scopes, %s: %w", n, scopes, layout, err)
				}
				rows = append(rows, row)
			}
		}
	}
	if a.json {
		return a.printJSON(rows)
	}
	text := storeTable(cmd.Index, rows)
	if cmd.Into != "" {
		return between(cmd.Into, benchStoreOpen, benchStoreShut, text)
	}
	_, err := fmt.Fprint(a.out, text)
	return err
}

// row fills a server and asks it.
func (cmd *benchStoreCmd) row(ctx context.Context, n, scopes int, layout string) (r storeRow, err error) {
	dir, err := os.MkdirTemp("", "hindsight-bench-store")
	if err != nil {
		return r, fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := weaviateserver.Prepare(cmd.Server, dir)
	if err != nil {
		return r, err
	}
	if err := s.Start(); err != nil {
		return r, err
	}
	defer s.Kill()
	db, leave, err := runShared(ctx, weaviatedb.Config{
		URL: s.URL, GRPC: s.GRPC, Key: store.IdentityKey{1}, Layout: weaviatedb.Layout(layout), VectorIndex: weaviatedb.VectorIndex(cmd.Index),
		Timeout: time.Minute, Probe: 100 * time.Millisecond, // how long it takes is what is asked
	})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	r = storeRow{Layout: layout, Memories: n, Scopes: scopes}
	if r.Insert, err = fillStore(ctx, db, n, scopes); err != nil {
		return r, err
	}
	if r.Descriptors, err = s.Descriptors(); err != nil {
		return r, err
	}
	if r.Resident, err = s.Resident(); err != nil {
		return r, err
	}
	if r.Disk, err = diskUse(dir); err != nil {
		return r, err
	}
	s.Stop()
	if err := until(ctx, "the store didn't see its server go", func() bool { on, _ := db.State(); return !on }); err != nil {
		return r, err
	}
	if err := s.Start(); err != nil {
		return r, err
	}
	if err := awaitShared(ctx, db); err != nil {
		return r, err
	}
	if r.First, err = askStore(ctx, db, 0, scopes); err != nil {
		return r, err
	}
	took := make([]time.Duration, cmd.Ask)
	for i := range took {
		if took[i], err = askStore(ctx, db, i+1, scopes); err != nil {
			return r, err
		}
	}
	slices.Sort(took)
	r.P50, r.P95 = took[len(took)/2], took[len(took)*95/100]
	return r, nil
}

// diskUse sums the sizes of the files under a directory.
func diskUse(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // compacted meanwhile
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// fillStore writes n memories, the scopes in turn, and says how many a second.
func fillStore(ctx context.Context, db *weaviatedb.DB, n, scopes int) (float64, error) {
	each := n / scopes
	began := time.Now()
	var waiting []store.SharedMemory
	for user := range scopes {
		for i, m := range scopeMemories(user, each) {
			m.ID = store.MemoryID(m.Tenant, m.Scope, "", 0, 0, m.Subject, m.Text)
			m.State, m.Layer, m.CreatedAt, m.UpdatedAt = store.Active, store.Semantic, began, began
			waiting = append(waiting, store.SharedMemory{Memory: m, Vector: drawn(user*each + i)})
		}
		if len(waiting) < 400 && user < scopes-1 {
			continue
		}
		failed, err := db.PutMemories(ctx, "bench", waiting)
		if err != nil {
			return 0, err
		}
		for _, err := range failed {
			return 0, err
		}
		waiting = waiting[:0]
	}
	return float64(each*scopes) / time.Since(began).Seconds(), nil
}

// drawn is a vector of unit length, the same for the same number.
func drawn(n int) []float32 {
	rnd := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // a benchmark's
	v := make([]float32, dimension)
	sum := 0.0
	for i := range v {
		x := rnd.NormFloat64()
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// askStore asks the i-th question, of another scope each time where there are many.
func askStore(ctx context.Context, db *weaviatedb.DB, i, scopes int) (time.Duration, error) {
	thing, place := bench.Things[i%len(bench.Things)], bench.Places[i/len(bench.Things)%len(bench.Places)]
	q := index.Query{Tenant: "bench", Scopes: []store.Scope{store.UserScope(scopeUser(i * 7919 % scopes))}, Vector: drawn(-i), Now: time.Now()}
	for _, t := range index.Terms(fmt.Sprintf("Which port does the %s service in %s listen on, and who restarts it?", thing, place)) {
		if !slices.ContainsFunc(q.Terms, func(o index.Term) bool { return o.Text == t }) {
			q.Terms = append(q.Terms, index.Term{Text: t, Weight: 1})
		}
	}
	began := time.Now()
	res, err := db.Search(ctx, q)
	if err == nil && len(res.Hits) == 0 {
		err = errors.New("a question found nothing")
	}
	return time.Since(began), err
}

func storeTable(kind string, rows []storeRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; index %s, %d dimensions, one node on the same machine. First: the first question after a restart.\n\n", bench.Machine(), kind, dimension)
	b.WriteString("| memories | scopes | layout | insert a second | descriptors | resident | on disk | first | recall p50 | p95 |\n")
	b.WriteString("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %d | %s | %.0f | %d | %d MB | %d MB | %d ms | %.1f ms | %.1f ms |\n", r.Memories, r.Scopes, r.Layout, r.Insert,
			r.Descriptors, r.Resident>>20, r.Disk>>20, r.First.Milliseconds(), float64(r.P50.Microseconds())/1000, float64(r.P95.Microseconds())/1000)
	}
	return b.String()
}
