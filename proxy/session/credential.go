package session

import (
	"time"

	"hindsight/store"
)

// credentialKept is how long a credential stays in memory after the last
// request that came with it.
const credentialKept = 10 * time.Minute

// held is a caller's credential. It is in memory only, never on disk or in a
// log.
type held struct {
	Credential
	last time.Time
}

// hold keeps the credential that an upstream has just accepted, and notes it
// as the session's. Tokens that expire and Hindsight's own keys aren't kept.
// The caller holds mu.
func (k *Tracker) hold(t *Turn, now time.Time) {
	w, l := t.work, t.work.live
	switch {
	case l.cred.IsZero() && !l.answered:
		l.cred = w.shown.hash
	case l.cred != w.shown.hash:
		l.mixed = true
	}
	l.dialect = w.dialect
	if t.Keyed || w.shown.header == "" || w.shown.expires() {
		return
	}
	k.creds[w.shown.hash] = held{Credential{Header: w.shown.header, Value: w.shown.value, Dialect: w.dialect}, now}
}

// Credential returns the credential with which a session was recorded, for
// work on that very session: not if it was recorded with several, and not when
// it was last seen more than 10 minutes ago.
func (k *Tracker) Credential(session string) (Credential, bool) {
	k.mu.Lock()
	l, ok := k.live.get(session)
	if !ok || l.mixed {
		k.mu.Unlock()
		return Credential{}, false
	}
	hash, dialect := l.cred, l.dialect
	k.mu.Unlock()
	c, ok := k.CredentialOf(hash)
	c.Dialect = dialect
	return c, ok
}

// CredentialOf returns a credential by its hash, as session records have it:
// for sessions that this process hasn't seen since its start.
func (k *Tracker) CredentialOf(hash store.Hash) (Credential, bool) {
	now := k.cfg.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropCredentials(now)
	c, ok := k.creds[hash]
	return c.Credential, ok
}

// dropCredentials forgets those that were not seen for too long. The caller
// holds mu.
func (k *Tracker) dropCredentials(now time.Time) {
	for hash, c := range k.creds {
		if now.Sub(c.last) > credentialKept {
			delete(k.creds, hash)
		}
	}
}
