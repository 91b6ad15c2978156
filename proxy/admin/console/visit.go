package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hindsight/proxy/admin"
	"hindsight/proxy/admin/explain"
)

const maxForm = 64 << 10 // bytes of a form

// visit is one request of a browser that is logged in.
type visit struct {
	c    *Console
	w    http.ResponseWriter
	r    *http.Request
	who  visitor
	lang explain.Lang
}

// enterVisit finds out who asks; where nobody may, it has shown how to log in.
func (c *Console) enterVisit(w http.ResponseWriter, r *http.Request) (*visit, bool) {
	v := &visit{c: c, w: w, r: r, lang: languageOf(r)}
	if cookie, err := r.Cookie(cookieID); err == nil {
		if who, ok := c.cfg.Door.known(cookie.Value); ok {
			v.who = who
			return v, true
		}
	}
	v.outside("login.ask", http.StatusUnauthorized)
	return nil, false
}

// shown serves a page.
func (c *Console) shown(show func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.enterVisit(w, r)
		if !ok {
			return
		}
		if err := show(v); err != nil {
			v.failed(err)
		}
	})
}

// done serves a form: it has something done and goes on to a page. The browser
// must say that the form stood on a page of ours, and the form must be the
// visitor's own.
func (c *Console) done(do func(*visit) (to string, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.enterVisit(w, r)
		if !ok {
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil || !ownPage(r) || !v.who.meant(r.PostForm.Get("csrf")) {
			v.page("problem", "problem.title", http.StatusForbidden, trouble{Headline: v.t("problem.form")})
			return
		}
		to, err := do(v)
		if err != nil {
			v.failed(err)
			return
		}
		c.counts.changed()
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
}

// ownPage says whether the browser names this server as the origin of a form;
// the admin port's guard has held a named origin against the Host.
func ownPage(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// trouble is a page about what went wrong.
type trouble struct {
	Headline string
	Detail   string
	Next     string
}

// failed shows what went wrong, in the API's words where it is the API's.
func (v *visit) failed(err error) {
	var no *refusal
	if !errors.As(err, &no) {
		v.page("problem", "problem.title", http.StatusInternalServerError, trouble{Headline: v.t("problem.inside")})
		return
	}
	t := trouble{Detail: no.problem.Detail, Next: no.problem.Next}
	switch no.status {
	case http.StatusNotFound:
		t.Headline = v.t("problem.missing")
	case http.StatusServiceUnavailable:
		t.Headline = v.t("problem.off")
	case http.StatusConflict:
		t.Headline = v.t("problem.conflict")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		t.Headline = v.t("problem.input")
	default:
		t.Headline = v.t("problem.title")
	}
	v.page("problem", "problem.title", no.status, t)
}

func (c *Console) nothing(v *visit) error {
	v.page("problem", "problem.title", http.StatusNotFound, trouble{Headline: v.t("problem.missing")})
	return nil
}

// login lets a browser in that follows a link. The answer is a page that goes on
// by itself: a cookie of SameSite=Strict doesn't go with a redirect where the
// link stood on another site, in a chat for example.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	v := &visit{c: c, w: w, r: r, lang: languageOf(r)}
	code := r.URL.Query().Get("code")
	if code == "" {
		v.outside("login.ask", http.StatusUnauthorized)
		return
	}
	peer := admin.PeerOf(r)
	if c.fails.Wait(peer) > 0 {
		v.outside("login.slow", http.StatusTooManyRequests)
		return
	}
	cookie, ok := c.cfg.Door.enter(code)
	if !ok {
		c.fails.Failed(peer)
		v.outside("login.used", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieID, Value: cookie, Path: home, MaxAge: int(visitLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secureOf(r),
	})
	v.page("enter", "login.title", http.StatusOK, nil)
}

func (c *Console) logout(v *visit) (string, error) {
	c.cfg.Door.leave(v.who)
	http.SetCookie(v.w, &http.Cookie{Name: cookieID, Path: home, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return loginPath, nil
}

// outside is a page for who isn't logged in.
func (v *visit) outside(say string, status int) {
	v.page("login", "login.title", status, v.t(say))
}

// language remembers the language that was chosen and goes back.
func (c *Console) language(w http.ResponseWriter, r *http.Request) {
	to := explain.English
	if r.URL.Query().Get("to") == string(explain.Chinese) {
		to = explain.Chinese
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieTo, Value: string(to), Path: home, MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secureOf(r),
	})
	http.Redirect(w, r, inside(r.URL.Query().Get("back")), http.StatusSeeOther)
}

// inside is a path of the console, whatever was asked for.
func inside(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, home) || strings.HasPrefix(u.Path, loginPath) {
		return home
	}
	return u.RequestURI()
}

func languageOf(r *http.Request) explain.Lang {
	if cookie, err := r.Cookie(cookieTo); err == nil {
		if l := explain.Lang(cookie.Value); l == explain.English || l == explain.Chinese {
			return l
		}
	}
	return explain.Preferred(r.Header.Get("Accept-Language"))
}

// secureOf says whether the browser came by TLS, to us or to a proxy before us.
func secureOf(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (c *Console) chooseTenant(v *visit) (string, error) {
	c.cfg.Door.choose(v.who, v.r.PostForm.Get("tenant"))
	return home, nil
}
