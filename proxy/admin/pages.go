package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Links makes links that let a browser into the console, each once. address is
// the whole link as this machine reaches it, path the part behind the host.
type Links interface {
	Link() (address, path string, until time.Time)
}

// Pages guards pages for browsers that share the admin port: the same Host and
// Origin as the API's, while who may see them is theirs to say.
func (a *API) Pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := a.guard.place(r); p != nil {
			p.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *API) links(api huma.API) {
	route(api, "console-link", http.MethodPost, base+"/console/links", "Make a link that logs a browser into the console, once", a.makeLink,
		created)
}

type linkMadeOutput struct {
	Body ConsoleLink
}

// ConsoleLink logs one browser in.
type ConsoleLink struct {
	URL     string    `json:"url" doc:"As this machine reaches it."`
	Path    string    `json:"path" doc:"The part behind the host, for who reaches the admin port by another name."`
	Expires time.Time `json:"expires_at"`
}

func (a *API) makeLink(context.Context, *struct{}) (*linkMadeOutput, error) {
	if a.cfg.Links == nil {
		return nil, problem(http.StatusNotImplemented, "Start `hindsight serve`, and ask for the link again.", "this process serves no console")
	}
	out := &linkMadeOutput{}
	out.Body.URL, out.Body.Path, out.Body.Expires = a.cfg.Links.Link()
	return out, nil
}
