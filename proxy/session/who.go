package session

import (
	"context"
	"errors"

	"hindsight/store"
)

// The words for why memory does nothing, see the contract.
const (
	noTenant  = "no_tenant"
	noUser    = "no_user"
	storeOff  = "store"
	deadline  = "deadline"
	temporary = "temporary"
	sideCall  = "side_call"
)

// off is the word for a look-up that failed.
func off(ctx context.Context, err error) string {
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return deadline
	}
	return storeOff
}

// who finds tenant, user and agent. It returns false where memory ends here:
// then t says why.
func (k *Tracker) who(ctx context.Context, t *Turn, in Incoming, sig signals) bool {
	w := t.work
	w.shown = credentialOf(in.Header)
	var bound Key
	if k.cfg.AuthMode == Keys {
		t.Keyed = true
		var ok bool
		if bound, ok = k.keyOf(w.shown); !ok {
			t.Denied, t.Off = true, noTenant
			return false
		}
	}
	if t.Mode == Off {
		return false
	}
	if k.elsewhere(in.Header) {
		t.Off = noUser
		return false
	}
	key, err := k.st.Key()
	if err != nil {
		t.Off = storeOff
		return false
	}
	if w.shown.header != "" {
		w.shown.hash = key.Hash("credential", w.shown.token)
	}
	tenant := bound.Tenant
	if k.cfg.AuthMode != Keys {
		tenant, w.claims, err = k.tenantOf(ctx, w.shown)
	}
	if err == nil && tenant != "" {
		tenant, err = k.st.TenantAlias(ctx, tenant)
	}
	switch {
	case err != nil:
		t.Off = off(ctx, err)
		return false
	case tenant == "":
		t.Off = noTenant
		return false
	}
	user, err := k.userIn(ctx, t, key, tenant, bound, in, sig)
	switch {
	case err != nil:
		t.Off = off(ctx, err)
		return false
	case user == "":
		t.Off = noUser
		return false
	}
	t.Owner = store.Owner{Tenant: tenant, User: user, Agent: k.agentOf(in.Header, bound)}
	w.hasher = k.hasherOf(key, tenant, user)
	t.Mode = bound.allowed(t.Mode, t.Owner)
	return t.Mode != Off
}

// userIn says who the user is in a tenant, "" where nobody is named and nobody
// implied. It notes in t.work what the request teaches of the tenant, to be
// believed once an upstream has accepted it.
func (k *Tracker) userIn(ctx context.Context, t *Turn, key store.IdentityKey, tenant string, bound Key, in Incoming, sig signals) (string, error) {
	w := t.work
	who := named{user: bound.User}
	if who.user == "" {
		who = k.userOf(in.Header, in.Req, sig.values, t.Received)
	}
	if !k.cfg.Implied || k.cfg.DefaultUser != "" {
		if who.user == "" && !who.refused {
			return k.cfg.DefaultUser, nil
		}
		return who.user, nil
	}
	w.tenantFacts = k.tenantFacts(key, tenant)
	alone, second, err := k.implied(ctx, w.tenantFacts, w.shown)
	if err != nil {
		return "", err
	}
	w.crowd = alone && who.user != "" || second
	if who.user != "" || who.refused || !alone {
		return who.user, nil
	}
	w.implied = true
	return ImpliedUser, nil
}

// accepted believes what a request teaches of its tenant: an upstream has
// answered it with 2xx. It returns false if the request belongs to nobody
// after all, because another credential was accepted first.
func (k *Tracker) accepted(t *Turn) bool {
	w := t.work
	if w.claims {
		if now, _ := k.settle(factFirst, w.shown.name()); now != w.shown.name() {
			return false
		}
	}
	seen, ended := w.tenantFacts[0], w.tenantFacts[1]
	if seen == "" {
		return true
	}
	now, _ := k.settle(seen, w.shown.name())
	if !w.crowd && now == w.shown.name() {
		return true
	}
	k.endImplied(ended, "a second credential or a named user was seen")
	return true
}

// tooMany is why an implied user ends.
const tooMany = "too many sessions are open at once"

// endImplied ends the implied user of a tenant for good.
func (k *Tracker) endImplied(fact, why string) {
	if _, made := k.settle(fact, "ended"); made {
		k.log.Warn("requests that name no user get no memory from now on: more than one person seems to be here; send Hindsight-User or set HINDSIGHT_DEFAULT_USER", "why", why)
	}
}
