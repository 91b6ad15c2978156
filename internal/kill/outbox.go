package kill

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hindsight/internal/weaviateserver"
	"hindsight/store"
	"hindsight/store/weaviatedb"
)

// Shared is the Weaviate that the outbox is delivered to. A nil one stands for
// none.
type Shared struct {
	Server *weaviateserver.Server
	key    store.IdentityKey
}

// Share starts Weaviate, if one is named, and has the binary use it.
func Share(cfg *Config) (*Shared, error) {
	if cfg.Weaviate == "" {
		fmt.Fprintln(cfg.Log, "no Weaviate is named: the load runs without an outbox")
		return nil, nil
	}
	home := cfg.Dir + "-weaviate"
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("start Weaviate: %w", err)
	}
	server, err := weaviateserver.Prepare(cfg.Weaviate, home)
	if err != nil {
		return nil, err
	}
	s := &Shared{Server: server, key: store.IdentityKey{7}}
	file := filepath.Join(home, "identity.key")
	if err := os.WriteFile(file, []byte(hex.EncodeToString(s.key[:])), 0o600); err != nil {
		return nil, fmt.Errorf("write the identity key: %w", err)
	}
	if err := server.Start(); err != nil {
		server.Kill()
		return nil, err
	}
	cfg.Env = append(cfg.Env[:len(cfg.Env):len(cfg.Env)],
		"VECTOR_DB_URL="+server.URL, "HINDSIGHT_WEAVIATE_GRPC="+server.GRPC, "HINDSIGHT_IDENTITY_KEY_FILE="+file)
	return s, nil
}

// End ends it.
func (s *Shared) End() {
	if s != nil {
		s.Server.Kill()
	}
}

// compare waits until everything is delivered and holds what Weaviate has against
// what the binary lists.
func (s *Shared) compare(ctx context.Context, c *Child, r *run) error {
	if s == nil {
		return nil
	}
	err := until(ctx, func() (bool, error) {
		raw, err := get(ctx, c.Admin+"/metrics")
		return strings.Contains(string(raw), "\nhindsight_outbox_depth 0\n"), err
	})
	if err != nil {
		return fmt.Errorf("wait until the outbox is delivered: %w", err)
	}
	db, err := weaviatedb.New(weaviatedb.Config{URL: s.Server.URL, GRPC: s.Server.GRPC, Key: s.key})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = db.Run(ctx) }() // ends with the context
	if err := until(ctx, func() (bool, error) { on, _ := db.State(); return on, nil }); err != nil {
		return fmt.Errorf("wait for Weaviate: %w", err)
	}
	for user := range r.users() {
		listed, err := memoriesOf(ctx, c, user)
		if err != nil {
			return err
		}
		has := map[string]store.Memory{}
		for cursor := ""; ; {
			page, next, err := db.Load(ctx, "kill", store.UserScope(user), cursor, 1000)
			if err != nil {
				return err
			}
			for _, m := range page {
				if m.Memory.State == store.Active {
					has[m.Memory.ID] = m.Memory
				}
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		for _, m := range listed {
			if is, ok := has[m.ID]; !ok || is.Text != m.Text || is.Revision != m.Revision {
				r.rep.fault("%s of %s is %q at revision %d, and in Weaviate %q at revision %d", m.ID, user, m.Text, m.Revision, is.Text, is.Revision)
			}
			delete(has, m.ID)
			r.rep.Delivered++
		}
		for id, m := range has {
			r.rep.fault("Weaviate has %s of %s, which isn't listed: %q", id, user, m.Text)
		}
	}
	return nil
}
