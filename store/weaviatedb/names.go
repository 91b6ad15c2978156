package weaviatedb

import (
	"encoding/hex"

	"hindsight/store"
)

// Every name of a tenant, a scope or a memory that Weaviate looks for is a hash
// under the identity key: no user can choose one that breaks a query, and a
// listing of tenants tells nothing.

// metaTenant holds what belongs to the whole collection.
const metaTenant = "meta"

// tenantName is the tenant of Weaviate in which a Hindsight tenant's State lies,
// and with LayoutShared its memories.
func (d *DB) tenantName(tenant string) string { return d.cfg.Key.Hash("tenant", tenant).String() }

// place is the hash of a scope.
func (d *DB) place(tenant string, sc store.Scope) string {
	return d.cfg.Key.Hash("scope", tenant, string(sc)).String()
}

// memoryTenant is the tenant of Weaviate in which a scope's memories lie.
func (d *DB) memoryTenant(tenant string, sc store.Scope) string {
	if d.cfg.Layout == LayoutIsolated {
		return d.place(tenant, sc)
	}
	return d.tenantName(tenant)
}

// memoryID is the UUID of a memory, recordID that of a record.
func (d *DB) memoryID(tenant, id string) string {
	return uuid(d.cfg.Key.Hash("weaviate memory", tenant, id))
}

func (d *DB) recordID(tenant string, kind store.RecordKind, id string) string {
	return uuid(d.cfg.Key.Hash("weaviate record", tenant, string(kind), id))
}

// uuid gives a hash the form of a UUID of version 8 (RFC 9562).
func uuid(h store.Hash) string {
	h[6] = h[6]&0x0f | 0x80
	h[8] = h[8]&0x3f | 0x80
	s := hex.EncodeToString(h[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
