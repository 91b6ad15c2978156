package session

import (
	"errors"
	"fmt"
	"time"

	"hindsight/store"
)

// Config says how requests are told apart. The zero Config trusts no header
// but Hindsight-User, implies nothing and passes credentials through.
type Config struct {
	AuthMode string // passthrough (also when empty) or keys
	Keys     []Key
	// Tenant is that of callers without a key binding. Empty: each credential
	// is its own tenant.
	Tenant string
	// DefaultUser is the user of requests that name none.
	DefaultUser string
	// Implied says that the listener is a loopback one outside a container:
	// the first credential is tenant `default`, and nameless requests are user
	// `local` until more than one person shows.
	Implied bool
	// TrustHeaders lets every known header and body field name the user, not
	// Hindsight-User alone.
	TrustHeaders bool
	// Origins are the hosts of web pages whose requests have memory, in lower case,
	// with or without a port; those of this machine have it anyway.
	Origins []string
	// OpenWebUISecret verifies X-OpenWebUI-User-Jwt; empty: the header is ignored.
	OpenWebUISecret []byte

	// LeaveKept lets no block into a request that the upstream keeps (stored
	// answers, conversations): it would lie there for good. What is said in it is
	// recorded all the same.
	LeaveKept bool

	// AdoptHistory records, with the first request of a session, the history that
	// it brings and that never passed through us.
	AdoptHistory bool

	// Others are asked about conversations whose newest turn isn't known here;
	// nil: this process is alone.
	Others Others

	// PerHour is how many sessions a user's scope may gain in an hour; one more is
	// paused. 0: any number.
	PerHour int
	// Holdout is the share of sessions, from 0 to 1, that are given no memories, so
	// that what memories do can be seen.
	Holdout float64

	Zone     *time.Location   // of users who send none; nil means UTC
	Idle     time.Duration    // a session without requests for so long isn't open; default 10 min
	Sessions int              // sessions held in memory; default 4096
	Now      func() time.Time // default time.Now
}

// Key is one Hindsight key of auth.mode keys. Read and Write name scopes; empty
// means the caller's own ones.
type Key struct {
	Name   string
	SHA256 [32]byte
	Tenant string
	User   string
	Agent  string
	Read   []store.Scope
	Write  []store.Scope
	Role   string // proxy (also when empty), mcp or admin
}

// The values of auth.mode.
const (
	Passthrough = "passthrough"
	Keys        = "keys"
)

func (c Config) withDefaults() Config {
	if c.AuthMode == "" {
		c.AuthMode = Passthrough
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Idle <= 0 {
		c.Idle = 10 * time.Minute
	}
	if c.Sessions <= 0 {
		c.Sessions = 4096
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Validate names every field that can't be used.
func (c Config) Validate() error {
	var bad []error
	add := func(format string, a ...any) { bad = append(bad, fmt.Errorf(format, a...)) }
	if c.AuthMode != "" && c.AuthMode != Passthrough && c.AuthMode != Keys {
		add("auth.mode %q: want passthrough or keys", c.AuthMode)
	}
	if c.AuthMode == Keys && len(c.Keys) == 0 {
		add("auth.mode keys needs auth.keys")
	}
	for _, f := range []struct{ name, value string }{{"tenant", c.Tenant}, {"default user", c.DefaultUser}} {
		if f.value != "" && (!validID(f.value) || isTemplate(f.value)) {
			add("%s %q: want 1 to 200 bytes, no template", f.name, f.value)
		}
	}
	seen := map[[32]byte]string{}
	for i, k := range c.Keys {
		where := fmt.Sprintf("auth.keys[%d] (%s)", i, k.Name)
		if k.SHA256 == [32]byte{} {
			add("%s: no sha256", where)
		} else if first, ok := seen[k.SHA256]; ok {
			add("%s: the same key as %s", where, first)
		}
		seen[k.SHA256] = where
		if !validID(k.Tenant) {
			add("%s: tenant %q: want 1 to 200 bytes", where, k.Tenant)
		}
		for _, f := range []struct{ name, value string }{{"user", k.User}, {"agent", k.Agent}} {
			if f.value != "" && !validID(f.value) {
				add("%s: %s %q: want 1 to 200 bytes", where, f.name, f.value)
			}
		}
		switch k.Role {
		case "", "proxy", "mcp", "admin":
		default:
			add("%s: role %q: want proxy, mcp or admin", where, k.Role)
		}
	}
	return errors.Join(bad...)
}
