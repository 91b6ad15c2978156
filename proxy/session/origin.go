package session

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// elsewhere says whether a web page that isn't of this machine, nor of a host that may,
// sends the request. A browser lets any page call a port of its own machine, in words
// that a person could have said and, where the page has its name resolve here, with the
// answer to read; an upstream that wants no key answers it. Programs send no Origin, and
// extensions and desktop applications one of a scheme of theirs, which no page has.
func (k *Tracker) elsewhere(h http.Header) bool {
	const header = "Origin"
	if len(h[header]) == 0 || k.cfg.AuthMode == Keys { // a page that shows a key was given it
		return false
	}
	origin := h[header][0]
	if len(h[header]) == 1 && k.mayRemember(origin) {
		return false
	}
	k.refuse("origin")
	k.warnedOfPage.Do(func() {
		k.log.Warn("a web page of elsewhere gets no memory; name its host in identity.origins if it may have one", "origin", origin[:min(len(origin), 200)])
	})
	return true
}

func (k *Tracker) mayRemember(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" { // "null": any page can make itself one
		return false
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return true
	case host == "localhost", strings.HasSuffix(host, ".localhost"):
		return true
	case slices.Contains(k.cfg.Origins, host), slices.Contains(k.cfg.Origins, strings.ToLower(u.Host)):
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
