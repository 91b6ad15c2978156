package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"hindsight/proxy/admin"
)

const (
	linkLife    = 10 * time.Minute // of a link that nobody has followed
	visitLife   = 8 * time.Hour    // of a visit, however busy
	visitIdle   = time.Hour        // of a visit without a request
	maxLinks    = 16               // links that wait at a time; the oldest goes
	maxVisitors = 64               // browsers that are let in at a time
)

// Door lets browsers in. A link opens it once; the cookie that a browser gets
// for it holds until it is idle, too old or has logged out. Nothing of it is
// written down: a restart asks everybody to log in again, and what is kept in
// memory are hashes.
type Door struct {
	address func() string
	now     func() time.Time

	mu       sync.Mutex
	links    map[secret]time.Time // until when each is good
	visitors map[secret]*visitor
}

var _ admin.Links = (*Door)(nil)

// secret is the hash of a link's code or of a cookie.
type secret [sha256.Size]byte

// visitor is one browser that is logged in.
type visitor struct {
	key    secret
	csrf   string
	since  time.Time
	seen   time.Time
	tenant string // the one that is looked at; empty: the usual one
}

// NewDoor makes a closed door. address is the admin port's own, such as
// http://127.0.0.1:8081; now may be nil.
func NewDoor(address func() string, now func() time.Time) *Door {
	if now == nil {
		now = time.Now
	}
	return &Door{address: address, now: now, links: map[secret]time.Time{}, visitors: map[secret]*visitor{}}
}

// Link makes a link that lets one browser in.
func (d *Door) Link() (address, path string, until time.Time) {
	code := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for k, end := range d.links {
		if !now.Before(end) {
			delete(d.links, k)
		}
	}
	if len(d.links) >= maxLinks {
		delete(d.links, oldest(d.links, func(t time.Time) time.Time { return t }))
	}
	until = now.Add(linkLife)
	d.links[sha256.Sum256([]byte(code))] = until
	path = loginPath + "?code=" + code
	return d.address() + path, path, until
}

// enter takes a link's code and returns the cookie of a new visit; false: the
// code is wrong, used or too old.
func (d *Door) enter(code string) (cookie string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, key := d.now(), secret(sha256.Sum256([]byte(code)))
	until, known := d.links[key]
	delete(d.links, key)
	if !known || !now.Before(until) {
		return "", false
	}
	for k, v := range d.visitors {
		if v.over(now) {
			delete(d.visitors, k)
		}
	}
	if len(d.visitors) >= maxVisitors {
		delete(d.visitors, oldest(d.visitors, func(v *visitor) time.Time { return v.seen }))
	}
	cookie = rand.Text() + rand.Text()
	key = sha256.Sum256([]byte(cookie))
	d.visitors[key] = &visitor{key: key, csrf: rand.Text(), since: now, seen: now}
	return cookie, true
}

// known returns the visitor of a cookie, as a copy.
func (d *Door) known(cookie string) (visitor, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.visitors[sha256.Sum256([]byte(cookie))]
	if v == nil || v.over(d.now()) {
		return visitor{}, false
	}
	v.seen = d.now()
	return *v, true
}

// choose has a visitor look at another tenant.
func (d *Door) choose(who visitor, tenant string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := d.visitors[who.key]; v != nil {
		v.tenant = tenant
	}
}

// leave ends a visit.
func (d *Door) leave(who visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.visitors, who.key)
}

func (v *visitor) over(now time.Time) bool {
	return now.Sub(v.since) >= visitLife || now.Sub(v.seen) >= visitIdle
}

// meant says whether a form was made for this visitor.
func (v *visitor) meant(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(v.csrf), []byte(csrf)) == 1
}

func oldest[V any](m map[secret]V, at func(V) time.Time) secret {
	var first secret
	var when time.Time
	for k, v := range m {
		if t := at(v); when.IsZero() || t.Before(when) {
			first, when = k, t
		}
	}
	return first
}
