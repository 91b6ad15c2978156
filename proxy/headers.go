package proxy

import (
	"net/http"
	"net/textproto"
	"strings"

	"hindsight/store"
)

// own is the prefix of our headers, in canonical form.
var own = textproto.CanonicalMIMEHeaderKey(store.Product) + "-"

// readHeader makes a header map of a request's raw header lines. The strings
// are views of raw, which nobody changes.
func readHeader(raw string) http.Header {
	n := strings.Count(raw, "\n")
	h := make(http.Header, n)
	values := make([]string, 0, n)
	var last string
	for len(raw) > 0 {
		var line string
		line, raw, _ = strings.Cut(raw, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' { // a folded line goes on with the one before
			if old := h[last]; len(old) > 0 {
				old[len(old)-1] += " " + textproto.TrimString(line)
			}
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		last = textproto.CanonicalMIMEHeaderKey(key)
		value = textproto.TrimString(value)
		if old, ok := h[last]; ok {
			h[last] = append(old, value)
			continue
		}
		values = append(values, value)
		h[last] = values[len(values)-1 : len(values) : len(values)]
	}
	return h
}

// hop says whether a header belongs to one connection only. Those that frame a
// message are of that kind for us: whoever writes it frames it anew.
func hop(key string) bool {
	switch key {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length":
		return true
	}
	return false
}

// forward leaves in h what of the client's headers goes upstream.
func forward(h http.Header) {
	connection := h["Connection"]
	for key := range h {
		// The answer to Expect is given already, and Host is the upstream's.
		if hop(key) || key == "Host" || key == "Expect" || strings.HasPrefix(key, own) {
			delete(h, key)
		}
	}
	dropNamed(h, connection)
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http adds its own
	}
}

// dropNamed removes what Connection's values name.
func dropNamed(h http.Header, connection []string) {
	for _, value := range connection {
		for name := range strings.SplitSeq(value, ",") {
			if name = textproto.TrimString(name); name != "" {
				delete(h, textproto.CanonicalMIMEHeaderKey(name))
			}
		}
	}
}

// hasToken says whether a comma-separated header holds a token.
func hasToken(values []string, token string) bool {
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(textproto.TrimString(part), token) {
				return true
			}
		}
	}
	return false
}

// signed says whether the client vouches for the body's bytes, so that none may
// change.
func signed(h http.Header) bool {
	for _, key := range []string{"Content-Digest", "Digest", "Repr-Digest", "Content-Md5", "Signature", "Signature-Input"} {
		if len(h[key]) > 0 {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Authorization"), "AWS4-")
}

// withKey replaces the caller's key by the upstream's, where the caller had it.
func withKey(h http.Header, key string) {
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key"} {
		if _, ok := h[name]; !ok {
			continue
		}
		if name == "Authorization" {
			h[name] = []string{"Bearer " + key}
		} else {
			h[name] = []string{key}
		}
	}
}
