package badgerdb

import (
	"encoding/binary"
	"time"

	"hindsight/store"
)

// The first byte of a key says what family it belongs to. Families of a scope
// continue with the hashes of tenant and scope (the place, which also seals the
// value); what belongs to a user lies at the place of the user's own scope.
const (
	famTenant    = 'T' // tenant, zeros                      -> tenantRecord
	famScope     = 'c' // tenant, scope                      -> scopeRecord
	famErased    = 'z' // tenant, scope                      -> time before which nothing is learned
	famSession   = 's' // tenant, scope, session             -> store.Session
	famExchange  = 'x' // tenant, scope, session, seq        -> store.Exchange
	famPart      = 'd' // tenant, scope, exchange, seq, n    -> part of a large exchange
	famBegun     = 'b' // tenant, scope, exchange            -> begun
	famPlaces    = 'p' // tenant, scope, session, seq, n     -> places of an exchange that is gone
	famAnchor    = 'a' // tenant, scope, key, time, session  -> store.Anchor
	famLedger    = 'l' // tenant, scope, session, key        -> store.LedgerEntry
	famWhy       = 'w' // tenant, scope, session, exchange   -> store.Why
	famJob       = 'j' // tenant, scope, job                 -> store.Job
	famMemory    = 'm' // tenant, scope, memory              -> store.Memory
	famRevision  = 'r' // tenant, scope, memory, revision    -> store.Memory
	famText      = 'f' // tenant, scope, text                -> id of the memory that says it
	famVector    = 'q' // tenant, scope, memory              -> its vector
	famForgotten = 'g' // tenant, scope, text                -> tombstone
	famReady     = 'N' // tenant, scope                      -> readyRecord: which snapshot of the index is good
	famReadyPart = 'n' // tenant, scope, snapshot, n         -> part of a snapshot
	famDataKey   = 'K' // tenant, scope                      -> slot of the scope's data key in the keyring; not sealed
	famUnready   = 'h' // tenant, scope, snapshot, memory    -> nothing: changed since
	famCopy      = 'C' // tenant, scope                      -> copyRecord: when it was last used
	famHidden    = 'H' // tenant, scope                      -> version until which what lies there is erased; not sealed
	famReceipt   = 'E' // tenant, scope, maybe memory        -> receipt of the last erasure

	// Without a place: nothing but hashes, numbers and harmless values.
	famFormat    = 'v' //                            -> formatRecord
	famFact      = 'k' // name                       -> value
	famGone      = 'G' // memory                     -> nothing, or when it was erased
	famOffered   = 'O' // memory                     -> when it was last shown to be checked
	famByID      = 'i' // kind, id                   -> place and what follows it
	famSessions  = 'o' // tenant, time, session      -> scope
	famMemories  = 'u' // tenant, time, memory       -> scope
	famReflected = 'e' // time, place, session       -> from, to
	famOutbox    = 'B' // number, place              -> waiting, sealed by the tenant's key
)

const (
	hashLen  = len(store.Hash{})
	placeLen = 2 * hashLen
)

// place is where the values of a scope lie: hashes of the tenant and of the
// scope in it.
type place [placeLen]byte

func (p place) tenant() []byte { return p[:hashLen] }
func (p place) scope() []byte  { return p[hashLen:] }

// conversation is the place of a session: its owner's, then its own hash.
type conversation [placeLen + hashLen]byte

func (c conversation) place() place { return place(c[:placeLen]) }

// names hashes every name that reaches a key.
type names struct{ id store.IdentityKey }

func (n names) tenant(t string) store.Hash { return n.id.Hash("tenant", t) }

func (n names) at(tenant string, sc store.Scope) place {
	var p place
	t := n.tenant(tenant)
	s := n.id.Hash("scope", tenant, string(sc))
	copy(p[:], t[:])
	copy(p[hashLen:], s[:])
	return p
}

func (n names) owner(o store.Owner) place { return n.at(o.Tenant, o.Scope()) }

// session is the hash of a session's id. That of a drawn one begins with its
// time: what is written together lies together, and merging it is cheap.
func (n names) session(id string) store.Hash {
	h := n.id.Hash("session", id)
	if at, ok := store.DrawnAt(id); ok {
		binary.BigEndian.PutUint64(h[:], nanos(at))
	}
	return h
}

func (n names) exchange(id string) store.Hash { return n.id.Hash("exchange", id) }
func (n names) memory(id string) store.Hash   { return n.id.Hash("memory", id) }
func (n names) job(id string) store.Hash      { return n.id.Hash("job", id) }

// text tells the folded text of a memory inside its scope. The tenant isn't in
// it, so that a tombstone, which keeps no words, survives linking tenants.
func (n names) text(sc store.Scope, text string) store.Hash {
	return n.id.Hash("text", string(sc), store.Fold(text))
}

func (n names) conversation(o store.Owner, session string) conversation {
	var c conversation
	p, h := n.owner(o), n.session(session)
	copy(c[:], p[:])
	copy(c[placeLen:], h[:])
	return c
}

// join makes a key.
func join(family byte, parts ...[]byte) []byte {
	n := 1
	for _, p := range parts {
		n += len(p)
	}
	k := make([]byte, 1, n)
	k[0] = family
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
func u32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// ascending and descending order times in keys; times before 1970 count as then.
func ascending(t time.Time) []byte  { return u64(nanos(t)) }
func descending(t time.Time) []byte { return u64(^nanos(t)) }

func nanos(t time.Time) uint64 {
	if t.Year() < 1970 || t.Year() > 2200 {
		return 0
	}
	return uint64(t.UnixNano())
}

// The kinds of the by-id index.
const (
	byMemory   = 'm'
	bySession  = 's'
	byExchange = 'x'
	byWhy      = 'w'
	byJob      = 'j'
)

func idKey(kind byte, id store.Hash) []byte { return join(famByID, []byte{kind}, id[:]) }
