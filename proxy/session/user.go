package session

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

// ImpliedUser is the user of nameless requests on a loopback listener, until
// more than one person shows.
const ImpliedUser = "local"

// MaxImplied is how many sessions may be open at once before it is clear that
// more than one person is there.
const MaxImplied = 20

const (
	headerUser = "Hindsight-User"
	headerJWT  = "X-Openwebui-User-Jwt"
)

// named is what the request says of its user. refused means that it tried to
// name one and couldn't: then no default may take the place.
type named struct {
	user    string
	refused bool
}

// userOf reads the user's signals, the strongest first. externals are the
// values by which the same request names its session: one client puts that
// into `user`.
func (k *Tracker) userOf(h http.Header, req *dialect.Request, externals []string, now time.Time) named {
	if n, ok := k.userHeader("hindsight_user", h[headerUser]); ok {
		return n
	}
	if !k.cfg.TrustHeaders {
		return named{}
	}
	for _, header := range k.userHeaders {
		if n, ok := k.userHeader(header.Name, h[header.Name]); ok {
			return n
		}
	}
	if sub := jwtSubject(h.Get(headerJWT), k.cfg.OpenWebUISecret, now); sub != "" {
		return named{user: sub}
	}
	if req == nil {
		return named{}
	}
	account, session, claude := claudeUser(req.Metadata["user_id"])
	if !claude {
		account = req.Metadata["user_id"]
	}
	for _, s := range []struct{ name, value string }{
		{"safety_identifier", req.SafetyIdentifier}, {"user", req.User}, {"metadata.user_id", account},
	} {
		if s.value != "" && (s.value == session || slices.Contains(externals, s.value)) {
			continue
		}
		if n, ok := k.userSignal(s.name, s.value); ok {
			return n
		}
	}
	return named{}
}

// userHeader judges the values of a header. Different ones name nobody: whoever stands
// in front of us has added one to the one that the client sent.
func (k *Tracker) userHeader(name string, values []string) (named, bool) {
	value := ""
	for _, v := range values {
		if v != "" && value != "" && v != value {
			k.refuse(strings.ToLower(name))
			return named{refused: true}, true
		}
		value = cmp.Or(value, v)
	}
	return k.userSignal(name, value)
}

// userSignal judges one value; false: there is none.
func (k *Tracker) userSignal(name, value string) (named, bool) {
	if value == "" {
		return named{}, false
	}
	if isTemplate(value) || !validID(value) {
		k.refuse(strings.ToLower(name))
		return named{refused: true}, true
	}
	return named{user: strings.Clone(value)}, true // it outlives the request
}

// claudeUser reads Claude Code's metadata.user_id, of which only a part is a
// user: the account, else the device. false: it is of no such form.
func claudeUser(v string) (user, session string, ok bool) {
	if rest, ok := strings.CutPrefix(v, "user_"); ok { // before 2.1.78
		device, rest, first := strings.Cut(rest, "_account_")
		account, session, second := strings.Cut(rest, "_session_")
		switch {
		case !first || !second || len(device) != 64 || !isUUID(session):
			return "", "", false
		case account != "":
			return account, session, true
		}
		return device, session, true
	}
	if !strings.HasPrefix(v, "{") {
		return "", "", false
	}
	var form struct {
		Device  string `json:"device_id"`
		Account string `json:"account_uuid"`
		Session string `json:"session_id"`
	}
	if json.Unmarshal([]byte(v), &form) != nil || form.Device == "" && form.Account == "" && form.Session == "" {
		return "", "", false
	}
	if form.Account != "" {
		return form.Account, form.Session, true
	}
	return form.Device, form.Session, true
}

// jwtSubject is the `sub` of a token that was signed with secret (HS256) and
// isn't over; else "".
func jwtSubject(token string, secret []byte, now time.Time) string {
	parts := strings.Split(token, ".")
	if len(secret) == 0 || len(parts) != 3 {
		return ""
	}
	var head struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		Sub string  `json:"sub"`
		Exp float64 `json:"exp"`
	}
	sum, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !decodeJSON(parts[0], &head) || head.Alg != "HS256" {
		return ""
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if !hmac.Equal(mac.Sum(nil), sum) || !decodeJSON(parts[1], &claims) {
		return ""
	}
	if claims.Exp != 0 && now.Unix() >= int64(claims.Exp) {
		return ""
	}
	if !validID(claims.Sub) || isTemplate(claims.Sub) {
		return ""
	}
	return claims.Sub
}

func decodeJSON(part string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, into) == nil
}

// tenantFacts are the names of a tenant's facts.
func (k *Tracker) tenantFacts(key store.IdentityKey, tenant string) [2]string {
	of := ownerKey{key: key, tenant: tenant}
	k.mu.Lock()
	defer k.mu.Unlock()
	names, ok := k.factNames.get(of)
	if !ok {
		h := key.Hash("tenant", tenant).String()
		names = [2]string{factSeen + h, factImplied + h}
		k.factNames.put(of, names)
	}
	return names
}

// implied says whether a nameless request is user `local`: not once the
// tenant has seen a second credential, a named user or too many sessions.
// second means that this request itself shows the second credential. names are
// those of the tenant's two facts.
func (k *Tracker) implied(ctx context.Context, names [2]string, s shown) (ok, second bool, err error) {
	seen, err := k.fact(ctx, names[0])
	if err != nil {
		return false, false, err
	}
	ended, err := k.fact(ctx, names[1])
	if err != nil || ended != "" {
		return false, false, err
	}
	if seen != "" && seen != s.name() {
		return false, true, nil
	}
	return true, false, nil
}
