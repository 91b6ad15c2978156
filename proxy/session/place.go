package session

import (
	"net/url"
	"regexp"
	"strings"
)

// plain is the form of paths and versions that are kept.
var plain = regexp.MustCompile(`^[\w./~-]{1,256}$`)

// placeOf is where work on a session is to be asked, if its dialect's usual path
// isn't the place: Azure's, which names a deployment or a prefix, and the
// api-version. Nothing else of a query is kept, for it may hold a key.
func placeOf(path, query string) string {
	version := ""
	if strings.Contains(query, "api-version=") {
		if q, err := url.ParseQuery(query[1:]); err == nil && plain.MatchString(q.Get("api-version")) {
			version = "?api-version=" + q.Get("api-version")
		}
	}
	own := version != "" || strings.Contains(path, "/deployments/") || strings.Contains(path, "/openai/v1/")
	if !own || !plain.MatchString(path) || strings.Contains(path, "..") {
		return ""
	}
	return path + version
}
