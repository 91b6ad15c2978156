package session

import "hindsight/store"

// ExplicitID is the id of the session that a client of an owner calls by a name
// of its own, for those who record a conversation that doesn't pass the proxy:
// a request through it that sends the same name joins the same session.
func ExplicitID(key store.IdentityKey, o store.Owner, external string) string {
	h := hasher{key: key.Derive("owner", o.Tenant, o.User)}
	return h.explicitID(external)
}

// ReportedKey is the place of an event that was reported instead of seen. It
// never equals that of a message.
func ReportedKey(key store.IdentityKey, o store.Owner, parts ...string) store.Hash {
	h := hasher{key: key.Derive("owner", o.Tenant, o.User)}
	return h.hash("reported event", parts...)
}
