package session

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"hindsight/store"
)

// DefaultTenant is the tenant of the first credential that is seen where
// nothing names one.
const DefaultTenant = "default"

// shown is the credential that a request came with.
type shown struct {
	header string // canonical name; empty: none was shown
	value  string // whole, as sent
	token  string // without its scheme
	hash   store.Hash
}

// credentialOf finds the credential: Authorization, else x-api-key, else api-key.
func credentialOf(h http.Header) shown {
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key"} {
		v := strings.Clone(strings.TrimSpace(h.Get(name)))
		if v == "" {
			continue
		}
		token := v
		if name == "Authorization" {
			if scheme, rest, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "Bearer") {
				token = strings.TrimSpace(rest)
			}
		}
		if token != "" {
			return shown{header: name, value: v, token: token}
		}
	}
	return shown{}
}

// name is the credential in facts: its hash, or a word where there is none.
func (s shown) name() string {
	if s.header == "" {
		return "none"
	}
	return s.hash.String()
}

// expires says whether the credential is a token that its issuer replaces by
// itself: it names nobody for long, so it is never a tenant and never kept.
func (s shown) expires() bool {
	t := s.token
	for _, prefix := range []string{"sk-ant-oat", "ya29.", "gho_", "ghu_", "AWS4-"} {
		if strings.HasPrefix(t, prefix) {
			return true
		}
	}
	return isJWT(t)
}

// isJWT says whether a token has a JWT's form: three parts, the first a JSON
// object in base64.
func isJWT(t string) bool {
	return strings.HasPrefix(t, "eyJ") && strings.Count(t, ".") == 2
}

// keyOf finds the Hindsight key that was shown. All keys are compared, so that
// the time tells nothing.
func (k *Tracker) keyOf(s shown) (Key, bool) {
	if s.header == "" {
		return Key{}, false
	}
	sum := sha256.Sum256([]byte(s.token))
	found := -1
	for i := range k.cfg.Keys {
		if subtle.ConstantTimeCompare(sum[:], k.cfg.Keys[i].SHA256[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return Key{}, false
	}
	key := k.cfg.Keys[found]
	return key, key.Role == "" || key.Role == "proxy"
}

// tenantOf says whose tenant a request of passthrough mode is in. claims means
// that the tenant is `default` only if this request is the first one that an
// upstream accepts.
func (k *Tracker) tenantOf(ctx context.Context, s shown) (tenant string, claims bool, err error) {
	switch {
	case k.cfg.Tenant != "":
		return k.cfg.Tenant, false, nil
	case s.expires():
		return "", false, nil
	}
	if k.cfg.Implied {
		first, err := k.fact(ctx, factFirst)
		if err != nil {
			return "", false, err
		}
		if first == "" || first == s.name() {
			return DefaultTenant, first == "", nil
		}
	}
	if s.header == "" {
		return "", false, nil
	}
	return "cred-" + s.hash.String(), false, nil
}
