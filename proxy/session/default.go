package session

import "context"

// NamelessUser is the user of requests that name none, as things stand now, in
// the tenant that is set or implied; empty where such requests get no memory.
func (k *Tracker) NamelessUser(ctx context.Context) string {
	if k.cfg.DefaultUser != "" || !k.cfg.Implied {
		return k.cfg.DefaultUser
	}
	key, err := k.st.Key()
	if err != nil {
		return ""
	}
	tenant := k.cfg.Tenant
	if tenant == "" {
		tenant = DefaultTenant
	}
	ended, err := k.fact(ctx, k.tenantFacts(key, tenant)[1])
	if err != nil || ended != "" {
		return ""
	}
	return ImpliedUser
}
