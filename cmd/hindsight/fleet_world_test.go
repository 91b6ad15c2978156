//go:build weaviate

package main

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"hindsight/internal/fakellm"
	"hindsight/internal/weaviatetest"
)

// crew is several sidecars on one real Weaviate and one model, each with a
// directory of its own.
type crew struct {
	t       *testing.T
	server  *weaviatetest.Server
	members []*world
}

// newCrew starts n sidecars with extra environment.
func newCrew(t *testing.T, n int, env ...string) *crew {
	t.Helper()
	return newCrewOn(t, weaviatetest.New(t), n, env...)
}

// newCrewOn starts them on a server that may not have been started.
func newCrewOn(t *testing.T, server *weaviatetest.Server, n int, env ...string) *crew {
	t.Helper()
	c := &crew{t: t, server: server}
	env = append(c.env(7), env...)
	for i := range n {
		more := env
		if i > 0 {
			more = append(more[:len(more):len(more)], "LLM_API_BASE="+c.members[0].env["LLM_API_BASE"])
		}
		c.members = append(c.members, newWorld(t, more...))
	}
	return c
}

// env is what makes a sidecar one of the crew's, with an identity key that ends in
// a byte.
func (c *crew) env(end byte) []string {
	c.t.Helper()
	key := filepath.Join(c.t.TempDir(), "identity.key")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(append(make([]byte, 31), end))+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return []string{
		"VECTOR_DB_URL=" + c.server.URL, "HINDSIGHT_WEAVIATE_GRPC=" + c.server.GRPC, "MEMORY_COLLECTION=agent_memory",
		"HINDSIGHT_IDENTITY_KEY_FILE=" + key, "HINDSIGHT_TENANT=acme",
	}
}

// say sends a conversation's next turn to a member.
func (c *crew) say(member int, talk *conversation, words string) reply {
	c.t.Helper()
	talk.w = c.members[member]
	return talk.say(words)
}

// settled waits until nothing of a member waits for the shared memory.
func (c *crew) settled(member int) {
	c.t.Helper()
	w := c.members[member]
	w.flush()
	w.until("everything is delivered", func() bool {
		rows, _ := w.st.store.OutboxDepth()
		return rows == 0
	})
}

// question is a request of a user of whom nothing else is known.
func question(user, words string) string {
	return fmt.Sprintf(`{"model":%q,"user":%q,"messages":[{"role":"user","content":%q}]}`, fakellm.Model, user, words)
}

// ready is what a member says of itself.
func (c *crew) ready(member int) (memory, reason string) {
	c.t.Helper()
	var v struct{ Memory, Reason string }
	c.members[member].decode(c.members[member].admin(http.MethodGet, "/readyz", ""), &v)
	return v.Memory, v.Reason
}
